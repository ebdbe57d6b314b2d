"""Work on a file of the user's is bounded: linear in its size, and none at all on what may have no end."""

from __future__ import annotations

import os
import signal
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from question_files import questions

from harness import config_files
from harness.codec import content_digest
from harness.config_files import settings_in
from harness.errors import HarnessError
from harness.prompting import schema


@contextmanager
def seconds(most: int) -> Iterator[None]:
    """Fail where the block takes longer: a FIFO would wait for ever."""

    def late(*_: object) -> None:
        raise TimeoutError(f"not done after {most} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(most)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _socket(place: Path) -> None:
    here = Path.cwd()
    os.chdir(place.parent)  # the name of a socket is of bounded length
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(place.name)
    finally:
        os.chdir(here)


def _link_to_a_fifo(place: Path) -> None:
    os.mkfifo(place.with_name("pipe"))
    place.symlink_to("pipe")


SPECIAL: dict[str, Callable[[Path], object]] = {
    "fifo": lambda place: os.mkfifo(place),
    "link to a fifo": _link_to_a_fifo,
    "zeros": lambda place: place.symlink_to("/dev/zero"),
    "random": lambda place: place.symlink_to("/dev/urandom"),
    "terminal": lambda place: place.symlink_to("/dev/ptmx"),
    "socket": _socket,
    "folder": lambda place: place.mkdir(),
    "link to nowhere": lambda place: place.symlink_to("nowhere"),
    "link to itself": lambda place: place.symlink_to(place.name),
}


READERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "questions": (".csv .tsv .jsonl .json .parquet", lambda place: list(questions(place).items())),
    "digest": (".csv .yaml", content_digest),
    "prompt": (".yaml", schema.read),
    "config": (".yaml", settings_in),
    "help": (".yaml", config_files.text_of),
}
"""What reads a file that a user names, and the endings such a file has."""


@settings(max_examples=150)
@given(st.sampled_from([*READERS]), st.sampled_from([*SPECIAL]), st.data())
def test_what_is_no_ordinary_file_is_refused_unread(reader, kind, data):
    endings, read = READERS[reader]
    with tempfile.TemporaryDirectory() as folder, seconds(20):
        place = Path(folder, f"mine{data.draw(st.sampled_from(endings.split()))}")
        SPECIAL[kind](place)
        if reader == "digest" and kind == "folder":  # that of its files
            return
        with pytest.raises((HarnessError, OSError)) as refused:
            read(place)
    assert not isinstance(refused.value, TimeoutError)
    assert len(str(refused.value)) < 400
