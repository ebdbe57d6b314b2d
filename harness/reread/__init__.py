"""Stored replies read again by today's rules, without asking the model."""
