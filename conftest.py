"""What all tests share, those in tests/ and those beside the packages."""

pytest_plugins = ["support.fixtures"]
