"""Two runs or more on the same items, compared in pairs: differences, intervals, tests."""
