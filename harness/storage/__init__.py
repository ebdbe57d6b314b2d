"""Runs on disk. What is read here may have been sent by anybody: it is data, and never code."""
