"""The page people look at: one HTML file that opens from disk, from a number to the answers behind it.

Python computes every number and every label (tables, charts, explanations); JavaScript shows, sorts and filters.
"""
