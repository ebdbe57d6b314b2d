"""The one table of what models and servers take: every row is read, and the first that matches counts."""

from __future__ import annotations

import re

from harness.models.api.families import Family, Provider, families, family_of, provider_of, providers


def test_what_no_row_says():
    assert family_of("some-model") == Family()
    assert provider_of("https://api.example.com/v1") == Provider()


def test_every_row_is_reached_and_says_where_it_is_from():
    assert all(row.source.startswith("https://") for row in (*families(), *providers()))
    for number, family in enumerate(families()):
        reached = [glob for glob in family.match if family_of(_example(glob)) is family]
        assert reached == list(family.match), f"families, row {number + 1}: an earlier row takes what it is for"
    for number, provider in enumerate(providers()):
        addresses = ["http://localhost" if glob == "local" else f"https://{_example(glob)}" for glob in provider.match]
        reached = [address for address in addresses if provider_of(address) is provider]
        assert reached == addresses, f"providers, row {number + 1}: an earlier row takes what it is for"
    assert all(family_of(row.thinks_like).reasoning for row in providers() if row.thinks_like)


def _example(glob: str) -> str:
    """Return a name that a glob matches."""
    return re.sub(r"\[(.).*?\]", r"\1", glob).replace("*.", "a.").replace("*", "").replace("?", "x")
