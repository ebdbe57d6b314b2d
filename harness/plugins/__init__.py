"""What the core can live without, a package each, found by entry point as anybody else's are."""
