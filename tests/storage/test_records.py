"""records.jsonl: what is written is what is read."""

import gzip
import io
import json

import pytest
from support.made_records import made

from harness.codec import text_digest
from harness.errors import DataError, StoreError
from harness.storage.records import Writer, read
from harness.types import (
    Answer,
    ChatRequest,
    ChoiceRequest,
    Failure,
    Message,
    PairRequest,
    Record,
    Response,
    Usage,
    replace,
)

CHAT = ChatRequest((Message("system", "Be brief."), Message("user", "A → B?")), max_tokens=16, stop=("\n",), sample=3)
CHOICE = ChoiceRequest((Message("user", "A → B?"),), choices=("Yes", "No"))
PAIR = PairRequest("A correlates with B.", "A causes B.")
FULL = Response(
    "Yes, “indeed” 🙂\nmore\u2028still",
    logprobs={"Yes": -0.25, "No": -1.5},
    usage=Usage(input=12, output=0, cached_input=3, reasoning=7),
    finish_reason="length",
    served_model="gpt-4-0613",
    seconds=1.5,
    cached=True,
)


def record(request, outcome, answer=None, *, item="1", gold=1, labels=None, groups=None):
    return made(
        item=item,
        cluster="premise-1",
        groups={"relation": "parent", "nodes": "3"} if groups is None else groups,
        labels=labels or {"published": gold, "audited": 0},
        request=request,
        outcome=outcome,
        answer=answer,
        sample=getattr(request, "sample", 0),
    )


def write_records(path, *records, headline="published"):
    with path.open("w", encoding="utf-8") as file:
        writer = Writer(file, headline)
        for each in records:
            writer.write(each)
    return path


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


@pytest.mark.parametrize("request_", [CHAT, CHOICE, PAIR, None], ids=["chat", "choice", "pair", "none"])
@pytest.mark.parametrize(
    ("outcome", "answer"),
    [
        (FULL, Answer(1, 0.75, "yes")),
        (Response("Answer: No"), Answer(0, span="no", stated_confidence=0.85)),
        (Response(""), Answer(None)),
        (Response("No", logprobs={"Yes": -3.0, "No": float("-inf")}), Answer(0, 0.0, "No")),
        (Failure("timeout", "after 60 s – five times"), None),
    ],
    ids=["full", "confident", "empty", "infinite", "failure"],
)
def test_round_trip(tmp_path, request_, outcome, answer):
    before = record(request_, outcome, answer)
    (after,) = read(write_records(tmp_path / "r.jsonl", before))
    assert all(getattr(after, name) == getattr(before, name) for name in Record.__struct_fields__)


def test_a_unit_stands_in_a_line_where_there_is_one(tmp_path):
    without = record(None, FULL, Answer(1))
    file = write_records(tmp_path / "r.jsonl", without, replace(without, unit="A -> B"))
    assert [answer_record.unit for answer_record in read(file)] == ["", "A -> B"]
    plain, having = lines(file)
    assert list(plain)[:3] == ["item", "cluster", "groups"] and "unit" not in plain
    assert list(having)[:4] == ["item", "cluster", "unit", "groups"] and having["unit"] == "A -> B"


def test_a_lone_surrogate_in_a_reply_is_kept(tmp_path):
    # A server that cuts an emoji in half sends "\ud83d" in its JSON; the run must not end with it.
    before = record(CHAT, Response("Yes \ud83d"), Answer(1))
    (after,) = read(write_records(tmp_path / "r.jsonl", before))
    assert after.answer == Answer(1)


def test_the_words_stand_in_full_once_and_by_digest_after_that(tmp_path):
    other = ChatRequest((Message("system", "Be brief."), Message("user", "B → A?")), max_tokens=16)
    path = write_records(tmp_path / "r.jsonl", *[record(request, FULL, Answer(1)) for request in (CHAT, other, CHAT)])
    texts = [[message.get("text") for message in line["request"]["messages"]] for line in lines(path)]
    assert texts == [["Be brief.", "A → B?"], [None, "B → A?"], [None, None]]
    digests = [line["request"]["messages"][0]["sha256"] for line in lines(path)]
    assert digests == [text_digest("Be brief.")] * 3
    pair = PairRequest(PAIR.premise, "B causes A.")
    path = write_records(path, *[record(request, FULL, Answer(1)) for request in (PAIR, pair)])
    first, second = (line["request"] for line in lines(path))
    assert first["premise"]["text"] == PAIR.premise and second["hypothesis"]["text"] == "B causes A."
    assert second["premise"] == {"sha256": text_digest(PAIR.premise)}


def test_gold_and_correct_go_by_the_headline(tmp_path):
    for headline, gold in (("published", 1), ("audited", 0)):
        told_of = [record(CHAT, FULL, Answer(label)) for label in (1, 0, None)]
        told = lines(write_records(tmp_path / "r.jsonl", *told_of, headline=headline))
        assert [(line["gold"], line["correct"]) for line in told] == [
            (gold, gold == 1),
            (gold, gold == 0),
            (gold, None),
        ]


def test_a_full_disk_is_one_sentence_whenever_it_shows(tmp_path):
    writer = Writer(open("/dev/full", "w", encoding="utf-8"), "published")  # noqa: SIM115, PTH123
    writer.write(record(CHAT, FULL, Answer(1)))
    with pytest.raises(StoreError, match=r"No space left on device.*make room"):
        writer.close()


def test_one_write_call_a_record():
    calls = []

    class Counting(io.StringIO):
        def write(self, text):
            calls.append(text)
            return super().write(text)

    Writer(Counting(), "published").write(record(CHAT, FULL, Answer(1)))
    assert len(calls) == 1


def a_few(path, answer=1):
    return write_records(path, *[record(CHAT, FULL, Answer(answer), item=str(k)) for k in range(3)])


def compress(plain, target):
    target.write_bytes(gzip.compress(plain.read_bytes()))


def test_compressed_records_are_the_same_records(tmp_path):
    plain = a_few(tmp_path / "r.jsonl")
    compress(plain, tmp_path / "r.jsonl.gz")
    assert list(read(tmp_path / "r.jsonl.gz")) == list(read(plain))


def test_records_that_end_in_the_middle_are_a_data_error(tmp_path):
    compress(a_few(tmp_path / "r.jsonl"), path := tmp_path / "r.jsonl.gz")
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DataError, match=r"r\.jsonl\.gz cannot be read"):
        list(read(path))
