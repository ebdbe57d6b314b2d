"""A run's answers on a terminal: `harness show`."""
