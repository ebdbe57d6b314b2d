"""A run of more answers than one file is made for says so, once, while there is no cache yet."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from harness import plugin, prepare


@pytest.fixture
def said(tmp_path, monkeypatch):
    """Return what a run of so many items, of three samples each, says before its cache is opened."""
    monkeypatch.setattr(plugin, "stores", lambda: {".parts": "somewhere:Store"})

    def of(items: int, name: str = "new.sqlite", *, new: bool = True, there: bool = False) -> list[str]:
        sentences: list[str] = []
        path = tmp_path / name
        if there:
            path.touch()
        cache = SimpleNamespace(path=str(path), mode="use", shared=None)
        run = SimpleNamespace(
            stored=True,
            settings=SimpleNamespace(cache=cache, samples=3, dry_run=False),
            task=SimpleNamespace(items=lambda: range(items)),
            progress=SimpleNamespace(say=sentences.append),
        )
        monkeypatch.setattr(prepare, "open_store", lambda *_, **__: SimpleNamespace(close=lambda: None))
        with prepare.opened_store(run, new=new):
            return sentences

    return of


def test_a_new_cache_for_more_answers_than_a_file_is_made_for_is_named(said, tmp_path):
    (sentence,) = said(4_000_000)
    assert "12,000,000 answers" in sentence and f"cache.path={tmp_path / 'new.parts'}" in sentence


def test_nothing_is_said_of_fewer_answers_of_parts_and_of_a_cache_that_is_there(said):
    assert not said(3_000_000) and not said(4_000_000, "new.parts") and not said(4_000_000, there=True)
    assert not said(4_000_000, "other.sqlite", new=False)
