"""A question's text into what it states: graph, what is asked, numbers. Nothing but the words is looked at."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import permutations

from harness.tasks.cladder.graphs import GRAPHS, Graph, Table, X, Y
from harness.tasks.cladder.queries import Ask, Query, TableKey
from harness.tasks.cladder.stated import XY, Stated
from harness.tasks.cladder.stories import WRONG_SIDE, points_up
from harness.tasks.cladder.wording import ASKED, BY_NAME, BY_VALUE, Meaning, Vocabulary, known_name, vocabulary
from harness.tasks.text_models import UnreadableText

_UNOBSERVED = re.compile(r"(?:^|\. +)([^.:]+?) is unobserved\.")
_CHANCE = re.compile(r"For ([^.]+?), the probability of ([^.]+?) is (\d+)%\.")
_OVERALL = re.compile(r"The overall probability of ([^.]+?) is (\d+)%\.")
_BOTH = re.compile(r"The probability of ([^.]+?) is (\d+)%\.")
_METHODS = re.compile(r"Method 1: (.+?)\. Method 2: (.+?)\.")
_CASES = re.compile(r"case by case according to (.+)")
_RULES = re.compile(r"We know that (.+?)(?: We observed (.+?)\.)? Would ")


def _pattern(template: str) -> re.Pattern[str]:
    """Return what finds the words that a question's template has places for."""
    return re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>.+?)", re.escape(template)))


_QUESTIONS = tuple(
    (query, place == 0, _pattern(template))
    for query, templates in (*ASKED.items(), *BY_VALUE.items())
    for place, template in enumerate(templates)
)
"""Kind, whether it asks for more, and the words of each form of question."""


def read_question(text: str) -> Stated:
    """Return what a text states. Raises UnreadableText where it departs from CLadder's words, or these are ambiguous.

    Of several worked questions in one text it is the last that counts.
    """
    return read_named(text)[0]


def kind_of(text: str) -> tuple[Query, bool]:
    """Return the kind of a single question, and whether it asks for more. Raises UnreadableText."""
    return _query_in(" ".join(text.split()))[:2]


@lru_cache(maxsize=2048)  # a page of runs by three label sets takes the same questions three times
def read_named(text: str) -> tuple[Stated, Mapping[str, str]]:
    """Return what a text states, and the node of each variable by its name. Raises UnreadableText."""
    text = " ".join(text[max(0, text.rfind("Imagine ")) :].split())
    text = text[: text.find("?") + 1]  # what a prompt adds may ask things as well
    query, upward, parts = _query_in(text)
    names, edges, unobserved = _background(text)
    told = vocabulary(names)
    ask, x, y = _ask(query, upward, parts, told, text)
    graph, nodes = _graph(names, edges, unobserved, x, y)
    ask, printed, mechanisms = _details(ask, text, told, graph, nodes)
    return Stated(graph, ask, printed, mechanisms, _unclear(query, parts)), nodes


def _unclear(query: Query, parts: Mapping[str, str]) -> str:
    """Return why names do not tell what is asked; "" where they do."""
    asked = [parts[part] for part in ("x_name", "y_name") if query in BY_NAME and part in parts]
    names = [name for name in asked if not points_up(name)]
    joined = " and ".join(map(repr, names))
    return f"{joined} {'do' if len(names) > 1 else 'does'} not tell which value is more" if names else ""


def _query_in(text: str) -> tuple[Query, bool, Mapping[str, str]]:
    """Return the kind of question that a text ends with, whether it asks for more, and its words by their places."""
    question = text[text.rfind(". ") + 2 :] if ". " in text else text
    for query, upward, pattern in _QUESTIONS:
        if match := pattern.fullmatch(question):
            return query, upward, match.groupdict()
    raise UnreadableText("it asks no question of CLadder's")


def _background(text: str) -> tuple[tuple[str, ...], set[tuple[str, str]], set[str]]:
    """Return the names of the variables, (cause, effect) of each edge, and what is unobserved."""
    told = [(cause, effects.split(" and ")) for cause, effects in _sentences(text)]
    if not told:
        raise UnreadableText("no variable has a direct effect on another")
    effects = list(dict.fromkeys(effect for _, several in told for effect in several))
    edges = {(known_name(cause, effects, text), effect) for cause, several in told for effect in several}
    names = tuple(sorted({name for edge in edges for name in edge}))
    hidden = {known_name(name, names, text) for name in _UNOBSERVED.findall(text)}
    return names, edges, hidden


def _sentences(text: str) -> list[tuple[str, str]]:
    """Return cause and effects of each sentence about a direct effect."""
    found = []
    for sentence in re.split(r"(?<=\.) |: ", text):
        if match := re.fullmatch(r"(.+?) has a direct effect on (.+)\.", sentence):
            found.append((match[1], match[2]))
    return found


def _ask(query: Query, upward: bool, parts: Mapping[str, str], told: Vocabulary, text: str) -> tuple[Ask, str, str]:
    """Return what is asked, and the names of treatment and outcome."""
    if "x_name" in parts:
        return Ask(query, upward), parts["x_name"], parts["y_name"]
    if query == "det-counterfactual":
        y, value = told.sentences.one(parts["y_sentence"])
        x, action = told.nouns.one(parts["x_action"])
        return Ask(query, bool(value), action=action), x, y
    y = told.nouns.one(parts["y"])[0]
    if query == "ett":
        x = told.conditions.one(parts["x_where"])[0]
        if x in WRONG_SIDE:
            raise UnreadableText(f"of {x!r} it asks what would be if it were as it is")
        return Ask(query, upward), x, y
    if query == "marginal":
        overall = _OVERALL.search(text)
        return Ask(query, upward), told.nouns.one(overall[1])[0] if overall else "", y
    return Ask(query, upward), told.nouns.one(parts["x"])[0], y


def _graph(
    names: tuple[str, ...], edges: set[tuple[str, str]], unobserved: set[str], x: str, y: str
) -> tuple[Graph, Mapping[str, str]]:
    """Return the graph that the edges make, and the node that each name is called in it."""
    for graph in GRAPHS.values():
        if len(graph.nodes) != len(names) or len(graph.edges) != len(edges):
            continue
        if bool(unobserved) != bool(graph.unobserved):
            continue
        for order in permutations(names):
            nodes = dict(zip(order, graph.nodes, strict=True))
            if nodes.get(x, X) != X or nodes.get(y) != Y or {nodes[name] for name in unobserved} - {graph.unobserved}:
                continue
            if {(nodes[cause], nodes[effect]) for cause, effect in edges} == set(graph.edges):
                return graph, nodes
    raise UnreadableText("its graph is none of CLadder's")


def _details(
    ask: Ask, text: str, told: Vocabulary, graph: Graph, nodes: Mapping[str, str]
) -> tuple[Ask, dict[TableKey, list[int]], dict[str, Table]]:
    """Return the question with what belongs to its kind, its numbers and its mechanisms."""
    if ask.query == "backadj":
        match = _METHODS.search(text)
        if match is None:
            raise UnreadableText("it does not say what the two methods are")
        first, second = (_method(method, nodes) for method in match.groups())
        return replace(ask, methods=(first, second)), {}, {}
    if ask.query == "det-counterfactual":
        observed, mechanisms = _mechanisms(text, told, graph, nodes)
        return replace(ask, observed=observed), {}, mechanisms
    if ask.query == "collider_bias":
        return ask, {}, {}
    return ask, _numbers(ask, text, told, nodes), {}


def _method(told: str, nodes: Mapping[str, str]) -> tuple[str, ...]:
    """Return what a method looks at case by case."""
    match = _CASES.search(told)
    if match is None:
        return ()
    try:
        return tuple(nodes[name] for name in match[1].split(" and "))
    except KeyError as missing:
        raise UnreadableText(f"{missing.args[0]!r} is no variable of its") from None


def _numbers(ask: Ask, text: str, told: Vocabulary, nodes: Mapping[str, str]) -> dict[TableKey, list[int]]:
    """Return the probability tables that a text gives. Raises UnreadableText where one has a gap or a number twice."""
    cells: dict[TableKey, dict[int, int]] = {}

    def put(noun: str, conditions: list[Meaning], percent: str) -> None:
        name, value = told.nouns.one(noun)
        if value != 1:
            raise UnreadableText(f"it gives the probability of {noun!r}, which is the variable's value 0")
        place = 0
        for _, known in conditions:
            place = 2 * place + known
        table = cells.setdefault((nodes[name], tuple(nodes[cause] for cause, _ in conditions)), {})
        if table.setdefault(place, int(percent)) != int(percent):
            raise UnreadableText(f"it gives {noun!r} two probabilities")

    for conditions, noun, percent in _CHANCE.findall(text):
        meanings, _ = told.conditions.several(conditions)
        if not meanings:
            raise UnreadableText(f"{conditions!r} is no value of its variables")
        put(noun, meanings, percent)
    for noun, percent in _OVERALL.findall(text):
        put(noun, [], percent)
    if ask.query == "correlation":
        cells[XY, ()] = dict(_both(text, told, nodes))
    tables = {}
    for key, table in cells.items():
        size = 2 if key == (XY, ()) else 2 ** len(key[1])
        if sorted(table) != list(range(size)):
            raise UnreadableText("a probability is missing")
        tables[key] = [table[place] for place in range(size)]
    return tables


def _both(text: str, told: Vocabulary, nodes: Mapping[str, str]) -> list[tuple[int, int]]:
    """Return the value of X and the percents of P(X, Y = 1) for each sentence about both."""
    found = []
    for nouns, percent in _BOTH.findall(text):
        values = {nodes[name]: value for name, value in told.nouns.several(nouns)[0]}
        if values.get(Y) != 1 or X not in values:
            raise UnreadableText(f"{nouns!r} is no value of treatment and outcome")
        found.append((values[X], int(percent)))
    return found


def _mechanisms(
    text: str, told: Vocabulary, graph: Graph, nodes: Mapping[str, str]
) -> tuple[tuple[tuple[str, int], ...], dict[str, Table]]:
    """Return what is observed, and the table of each variable that others cause."""
    match = _RULES.search(text)
    if match is None:
        raise UnreadableText("it does not say what causes what")
    tables: dict[str, Table] = {}
    for rule in re.split(r"\. |, and we know that ", match[1].removesuffix(".")):
        causes, _, effects = rule.partition(" causes ")
        above, joiner = told.nouns.several(causes)
        below, _ = told.nouns.several(effects)
        if not above or not below:
            raise UnreadableText(f"{rule!r} does not say what causes what")
        values = {nodes[name]: value for name, value in above}
        for name, value in below:
            tables[nodes[name]] = _table(graph.parents[nodes[name]], values, joiner, value)
    if missing := [node for node, causes in graph.parents.items() if causes and node not in tables and node != X]:
        raise UnreadableText(f"it does not say what causes {missing[0]}")
    observed, _ = told.sentences.several(match[2]) if match[2] else ([], "")
    known = {nodes[name]: value for name, value in observed}
    if missing := [node for node, causes in graph.parents.items() if not causes and node not in known and node != X]:
        raise UnreadableText(f"it does not say what was observed of {missing[0]}")
    return tuple(known.items()), tables


def _table(causes: tuple[str, ...], values: Mapping[str, int], joiner: str, effect: int) -> Table:
    """Return the table of a variable that takes the value `effect` where one ("or") or all ("and") causes are so."""
    if set(causes) != set(values):
        raise UnreadableText("its causes are not those of the graph")
    table = []
    for place in range(2 ** len(causes)):
        held = [(place >> (len(causes) - 1 - k) & 1) == values[cause] for k, cause in enumerate(causes)]
        happens = all(held) if joiner == "and" else any(held)
        table.append(float(effect if happens else 1 - effect))
    return tuple(table)
