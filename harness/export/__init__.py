"""Runs for other programs: a table, a data set, an Inspect log, results of lm-evaluation-harness."""
