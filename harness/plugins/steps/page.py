"""The claims of replies on the page: each with its verdict and what shows it, a path, a set or a graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise

from harness.causal.dag import DAG, bits, mask_of
from harness.causal.every_graph import satisfied
from harness.causal.separation import open_path
from harness.causal.statements import GraphClass, Kind, Statement, class_of
from harness.plugins.steps.chains import CHAINS, JudgedChain, Links, judge_chain
from harness.plugins.steps.chains import PLACES as CHAIN_PLACES
from harness.plugins.steps.judging import JudgedStep, JudgedTrace, judge
from harness.plugins.steps.scores import PLACES, breaks_at
from harness.plugins.steps.traces import Step
from harness.plugins.steps.wording import in_words
from harness.report.sections import Judged, Picture, Section, Verdict
from harness.storage.record_lines import turns
from harness.storage.runs import Run
from harness.tasks.corr2cause.text import Premise, listed, read_dag, read_question
from harness.tasks.text_reasoner import UnreadableText

TRACE = "trace"
"""The prompt whose replies are judged for the page."""
MOST_VARIABLES = 7
"""The premise is read from the records, which may come from anybody: a class over more variables takes minutes."""
FILTER = "first_error"
TITLE = "The chain, claim by claim"


def sections(run: Run) -> Iterator[tuple[str, int, Section]]:
    """Yield the chain of each reply to prompt=trace, judged as `harness steps` does."""
    if run.prompt != TRACE:
        return
    for line in run.lines():
        asked = [turn["content"] for turn in turns(line) if turn["role"] == "user"]
        if "response" not in line or not asked:
            continue
        reply, right = line["response"]["text"], bool(run.right(line))
        if run.task == CHAINS:
            yield line["item"], line["sample"], chain_section(judge_chain(reply, asked[-1], right=right))
            continue
        with suppress(UnreadableText):
            premise, _ = read_question(asked[-1])
            if len(premise.names) <= MOST_VARIABLES:
                yield line["item"], line["sample"], section(judge(reply, premise), premise, right=right)


def section(judged: JudgedTrace, premise: Premise, *, right: bool) -> Section:
    """Return the chain of a reply, and where it breaks first as a filter."""
    place = breaks_at(judged, right=right)
    first = PLACES[place] if place else "no claim that could be read"
    note = f"Breaks first: {first}."
    if unread := judged.trace.unread:
        note += f" Of {judged.trace.numbered} lines with a number or brackets {unread} could not be read."
    graphs = class_of(read_dag(premise))
    lines = tuple(_line(step, graphs, premise.names) for step in judged.steps)
    return Section(TITLE, note, lines, filters=((FILTER, first),))


def chain_section(judged: JudgedChain) -> Section:
    """Return the claims of a reply to one of CausalBench's chains, and where it breaks first as a filter."""
    first = CHAIN_PLACES[judged.place] if judged.place else "no claim that could be read"
    lines = tuple(_chain_line(step, judged.links) for step in judged.claims)
    return Section(TITLE, f"Breaks first: {first}.", lines, filters=((FILTER, first),))


def _chain_line(step: Step, links: Links) -> Judged:
    number, fault = "" if step.number is None else f"{step.number}. ", links.fault(step.statement)
    verdict = Verdict("right" if fault is None else CHAIN_PLACES[fault], fault is None)
    a, b = (links.names[node] for node in step.statement.nodes)
    why = f"The links {'lead' if (a, b) in links.ways else 'do not lead'} from {a} to {b}."
    return Judged(f"{number}{in_words(step.statement, links.names)}", (verdict,), (why,))


_GOOD = {"entailed": True, "refuted": False, "open": None, "follows": True, "leap": False, "contradiction": False}


def _line(step: JudgedStep, graphs: GraphClass, names: Sequence[str]) -> Judged:
    statement, counterexample = step.step.statement, step.counterexample
    number = "" if step.step.number is None else f"{step.step.number}. "
    support = {"leap": "a leap", "of a class": "not judged"}.get(step.support, step.support)
    pictures = [] if counterexample in graphs.graphs else list(_pictures(statement, graphs, names))
    if counterexample is not None:
        pictures.append(_picture("All that it names, and not the claim", counterexample, names, statement))
    return Judged(
        f"{number}{in_words(statement, names)}",
        (Verdict(step.verdict, _GOOD[step.verdict]), Verdict(support, _GOOD.get(step.support))),
        tuple(filter(None, (_why(statement, graphs, names), _SUPPORT.get(step.support)))),
        tuple(pictures),
    )


_SUPPORT = {
    "leap": "It does not follow from what it names: some graph has all of that, and not the claim.",
    "contradiction": "No graph has all that it names.",
    "names nothing": "It does not say what it rests on.",
    "circular": "It rests on itself.",
    "names what is not there": "It rests on a line that is not there, or could not be read.",
    "too large": "Whether it follows would take a look at all graphs over seven variables.",
}


def _why(statement: Statement, graphs: GraphClass, names: Sequence[str]) -> str:
    """Return the sentence that shows what the premise says of a statement."""
    if statement.kind is Kind.ADJACENT:
        return _of_edge(statement, graphs, names)
    if statement.kind is Kind.INDEPENDENT:
        return _of_path(statement, graphs, names)
    holds = _where(statement.plain, graphs)
    total, holding = len(holds), sum(holds)
    if total == 1:
        said = replace(statement.plain, denied=not holding)
        return f"In the only graph that fits the premise {in_words(said, names)}."
    number = {0: "none", total: "all"}.get(holding, f"{holding:,}")
    return f"{in_words(statement.plain, names)} in {number} of the {total:,} graphs that fit the premise."


def _pictures(statement: Statement, graphs: GraphClass, names: Sequence[str]) -> Iterator[Picture]:
    """Yield the graphs that fit the premise and show that a statement is not entailed; two of one said to be open."""
    if statement.kind in (Kind.ADJACENT, Kind.INDEPENDENT):  # the same in all of them
        return
    holds = _where(replace(statement, open=False), graphs)
    if statement.open and any(holds) and not all(holds):
        yield _picture("In this graph it is so", graphs.graphs[holds.index(True)], names, statement)
    if not all(holds):
        yield _picture("In this graph it is not so", graphs.graphs[holds.index(False)], names, statement)


def _where(statement: Statement, graphs: GraphClass) -> list[bool]:
    """Return in which members of the class a statement is true."""
    import numpy as np

    return [bool(holds) for holds in satisfied(np.array(graphs.graphs, np.uint16), statement)]


def _of_edge(statement: Statement, graphs: GraphClass, names: Sequence[str]) -> str:
    i, j = statement.nodes
    sets = [condition for a, b, condition in graphs.separations if (a, b) == (i, j)]
    pair = f"{names[i]} and {names[j]}"
    if not sets:
        return f"Nothing makes {pair} independent, so an edge joins them."
    smallest = min(sets, key=lambda condition: (len(condition), condition))
    given = f" given {listed([names[k] for k in smallest])}" if smallest else ""
    return f"{pair} are independent{given}, so no edge joins them."


def _of_path(statement: Statement, graphs: GraphClass, names: Sequence[str]) -> str:
    i, j = statement.nodes
    given = f" given {listed([names[k] for k in statement.condition])}" if statement.condition else ""
    path = open_path(graphs.graphs[0], i, j, mask_of(statement.condition))
    if path is None:
        return f"Every path between {names[i]} and {names[j]} is blocked{given}."
    ways = (f" {'→' if graphs.graphs[0][b] >> a & 1 else '←'} {names[b]}" for a, b in pairwise(path))
    where = ", in one graph that fits the premise" if len(graphs.graphs) > 1 else ""
    return f"The path {names[i]}{''.join(ways)} is open{given}{where}."


def _picture(caption: str, dag: DAG, names: Sequence[str], statement: Statement) -> Picture:
    arrows = tuple((u, v) for v, above in enumerate(dag) for u in bits(above))
    marked = tuple(edge for edge in arrows if set(edge) <= set(statement.nodes))
    return Picture(caption, tuple(names), arrows, marked=marked)
