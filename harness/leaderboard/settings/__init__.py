"""Runs that differ in one setting, side by side: its values as columns, or all of them in one row."""
