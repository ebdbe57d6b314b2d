"""A folder of parts: nothing that was stored is lost, whenever a process is killed, and a dict would say the same."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from contextlib import closing, suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from support.cache_help import HERE, ask, command, count, fill, says
from support.outcomes import each
from support.scripted import Scripted

from harness.cache import CachedModel, Store, open_store
from harness.errors import StoreError
from harness.plugins.answers import parts, parts_store
from harness.types import Response

KEYS = [f"{k * 0x9E3779B97F4A7C15 % 2**64:016x}{k:048x}" for k in range(40)]
MODEL = {"name": "m"}


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "answers.parts"


@pytest.fixture(autouse=True, scope="module")
def small():
    """Make parts of a few answers."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("MOVED", 6), ("FANOUT", 3), ("LARGEST", 54), ("AT_ONCE", 16)):
            patch.setattr(parts_store, name, value)
        patch.setattr(parts, "_sync", lambda path: None)
        yield


def put(store: Store, keys: list[int], text: str, *, replace: bool = False) -> None:
    store.put(MODEL, [(KEYS[k], ask(f"{k}?"), Response(text)) for k in keys], name="m", task=text, replace=replace)


def held(path: Path) -> dict[str, str]:
    with closing(open_store(path)) as store:
        found = {key: answer.text for key in KEYS if (answer := store.get(key))}
        assert store.count() == len(found) == sum(1 for _ in store.select("SELECT key FROM answers"))
        return found


def killed_while(path: Path, keys: list[list[int]], text: str, moments: int) -> int:
    """Put in a process that ends without a word after so many steps of moving; return how many puts it had done."""
    read, write = os.pipe()
    if not (child := os.fork()):
        left = iter(range(moments))

        def step(do):
            def then(*arguments, **named):
                if next(left, None) is None:
                    os._exit(9)
                return do(*arguments, **named)

            return then

        parts._sync = step(parts._sync)
        parts.Part.remove = step(parts.Part.remove)
        parts.NewPart.__exit__ = step(parts.NewPart.__exit__)
        parts_store.PartsStore._enter = staticmethod(step(parts_store.PartsStore._enter))
        with suppress(BaseException):
            store = open_store(path)
            for some in keys:
                put(store, some, text)
                os.write(write, b".")
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        done = len(pipe.read())
    os.waitpid(child, 0)
    return done


SOME = st.lists(st.integers(0, len(KEYS) - 1), min_size=1, max_size=12, unique=True)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), SOME),
        st.tuples(st.just("replace"), SOME),
        st.tuples(st.just("flush"), st.none()),
        st.tuples(st.just("kill"), st.tuples(st.lists(SOME, min_size=1, max_size=4), st.integers(0, 25))),
    ),
    max_size=8,
)


def the_same_as_a_dict(kind: str, steps) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path, known = Path(folder) / f"answers.{kind}", {}
        for number, (what, data) in enumerate(steps):
            text = f"text {number}"
            if what == "kill":
                done = killed_while(path, data[0], text, data[1])
                for some in data[0][:done]:
                    known = {KEYS[k]: text for k in some} | known
                found = held(path)
                # The last put was perhaps stored and not told of; all of it or nothing.
                assert {key: found.get(key) for key in known} == known
                more = {key for key in found if key not in known}
                assert not more or more == {KEYS[k] for k in data[0][done]} - known.keys()
                known = found
                continue
            with closing(open_store(path)) as store:
                if what == "flush" and kind == "parts":
                    store.flush()
                elif what != "flush":
                    put(store, data, text, replace=what == "replace")
                    new = {KEYS[k]: text for k in data}
                    known = known | new if what == "replace" else new | known
            assert held(path) == known, (number, what)
        if steps:
            assert not [*Path(folder).rglob("*.new*")]


@pytest.mark.parametrize("kind", ["sqlite", "parts"])
@settings(max_examples=8, deadline=None, derandomize=True)
@given(steps=STEPS)
def test_whatever_happens_it_holds_what_a_dict_would(kind, steps):
    the_same_as_a_dict(kind, steps)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(steps=STEPS)
def test_whatever_happens_it_holds_what_a_dict_would_often(steps):
    the_same_as_a_dict("parts", steps)


def test_parts_are_few_and_each_answer_and_text_stands_in_them_once(path):
    fill(path, 100)
    with closing(open_store(path)) as store:
        assert sum(part.rows for part in store._parts["answers"]) > 90 and 1 < len(store._parts["answers"]) < 8
        assert store.count() == 100 and store.count_texts() == 101  # with the system's
        assert sum(part.rows for part in store._parts["texts"]) <= 101
    files = {file.name.removesuffix(".heads") for file in path.iterdir()} - {"open.sqlite", "merging.lock"}
    assert files == {part.path.name for kind in ("answers", "texts") for part in store._parts[kind]}


@pytest.mark.slow
def test_without_its_list_the_parts_are_listed_again(path):
    fill(path, 100)
    with closing(open_store(path)) as store:
        store.flush()
        last = store.last_row()
    (path / "open.sqlite").unlink()
    for file in path.glob("*.heads"):
        file.unlink()
    with pytest.raises(StoreError, match=r"lacks its open\.sqlite"):
        count(path)
    fill(path, 101)
    assert count(path) == 101 and command("verify", f"cache={path}").returncode == 0
    with closing(open_store(path)) as store:
        assert store.last_row() == last + 1


def test_a_folder_that_is_moved_away_under_a_running_process_comes_back_whole(path):
    fill(path, 100)
    with closing(open_store(path)) as store:
        path.rename(path.with_name("moved.parts"))
        list(each(CachedModel(Scripted(says), store).respond([ask("new")])))
    for place, number in ((path, 101), (path.with_name("moved.parts"), 100)):
        assert count(place) == number and command("verify", f"cache={place}").returncode == 0


def test_an_answer_that_another_process_has_moved_is_neither_missed_nor_asked_again(path):
    with closing(open_store(path)) as one:
        model = CachedModel(Scripted(says), one)
        fill(path, 40)
        assert [*model.store.claims.take([model.key(ask(f"{k}?")) for k in range(41)]).own] == [model.key(ask("40?"))]
        assert all(one.get(model.key(ask(f"{k}?"))) for k in range(40))


def test_what_a_plug_in_refers_to_stays_beside_its_table(path):
    with closing(open_store(path)) as store:
        with store.transaction() as db:
            db.execute("CREATE TABLE batched (key TEXT PRIMARY KEY, request TEXT NOT NULL) WITHOUT ROWID")
            db.execute("INSERT INTO batched VALUES (?, '{}')", (KEYS[3],))
        put(store, list(range(20)), "x")
        store.flush()
        assert [key for (key,) in store.query("SELECT key FROM answers WHERE key <> ''")] == [KEYS[3]]
        with store.transaction() as db:
            db.execute("DELETE FROM batched")
        store.flush()
        assert not store.in_parts([KEYS[3]])[KEYS[3]].cached or store.count() == 20


@pytest.mark.parametrize("spoil", ["flip", "cut", "remove"])
def test_a_part_that_is_damaged_or_gone_is_a_sentence(path, spoil):
    fill(path, 100)
    with closing(open_store(path)) as store:
        store.flush()
        part = max(store._parts["answers"], key=lambda part: part.rows).path
    column = parquet.ParquetFile(part).metadata.row_group(0).column(3)
    assert column.path_in_schema == "response"
    content = bytearray(part.read_bytes())
    content[column.data_page_offset + column.total_compressed_size // 2] ^= 8
    part.unlink()
    if spoil != "remove":
        part.write_bytes(content if spoil == "flip" else content[: len(content) // 2])
    with (
        pytest.raises(StoreError, match=f"{part.name}.*(put it back|put a copy)"),
        closing(open_store(path)) as store,
    ):
        list(each(CachedModel(Scripted(says), store).respond(ask(f"{k}?") for k in range(100))))
    done = command("verify", f"cache={path}")
    assert done.returncode == 1 and part.name in done.stdout + done.stderr and "Traceback" not in done.stderr


WRITER = """
import sys
from pathlib import Path
sys.path[:0] = sys.argv[3:]
from support.cache_help import ask, says
from support.outcomes import each
from support.scripted import Scripted
from harness.cache import CachedModel, open_store
from harness.plugins.answers import parts_store
parts_store.MOVED, parts_store.FANOUT, parts_store.AT_ONCE = 20, 3, 16
model = CachedModel(Scripted(says), open_store(Path(sys.argv[1])))
for request, _ in each(model.respond(ask(f"{k}?") for k in range(int(sys.argv[2]), int(sys.argv[2]) + 200))):
    print(request.messages[-1].content, flush=True)
"""


@pytest.mark.slow
def test_processes_that_write_at_once_and_are_killed_lose_nothing(path):
    told = set()
    for round_ in range(3):
        jobs = [
            subprocess.Popen(
                [sys.executable, "-c", WRITER, str(path), str(first), *HERE], stdout=subprocess.PIPE, text=True
            )
            for first in (0, 100, 300)
        ]
        for job, until in zip(jobs, (60 + round_, 110, 10**9), strict=True):
            for number, line in enumerate(job.stdout):
                told.add(line.strip())
                if number == until:
                    job.send_signal(signal.SIGKILL)
            job.wait()
    with closing(open_store(path)) as store:
        key = CachedModel(Scripted(says), store).key
        assert told and all(store.get(key(ask(text))) for text in told)
    assert command("verify", f"cache={path}").returncode == 0
