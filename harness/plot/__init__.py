"""Figures for papers: `harness plot`."""
