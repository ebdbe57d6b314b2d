"""The benchmarks: each gives items and scores records."""
