"""What runs left in the forms of other programs: logs of Inspect."""
