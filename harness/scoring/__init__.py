"""Metrics: pure functions of counts, and the tables that a task makes of its records."""
