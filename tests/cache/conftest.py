"""What the tests of a cache share."""

import pytest


@pytest.fixture
def kind() -> str:
    return "sqlite"
