"""Answers that others have recorded, as runs: `harness import`."""
