"""Tables as LaTeX (booktabs): the best of a column in bold, the second underlined."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate

from harness.tables.table import Cell, Table, task_title

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "…": r"\ldots{}",
    "±": r"$\pm$",
    "−": "$-$",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "[": "{[}",
    **{sign: f"\\{sign}" for sign in "&%$#_"},
}
WIDE = 60
"""Characters in a row above which a LaTeX table takes both columns of a page."""


def tex(text: str) -> str:
    """Escape every character that means something to LaTeX; [ too, as it may follow a break.

    What cannot be printed is a space: LaTeX refuses some of it, and two line breaks would end a paragraph in a cell.
    """
    return "".join(_LATEX.get(sign, sign if sign.isprintable() else " ") for sign in text)


def latex(tables: Sequence[Table]) -> str:
    """Return a floating table for each table that has rows; they need booktabs and graphicx."""
    labels: Counter[str] = Counter()
    parts = ["% needs \\usepackage{booktabs,graphicx}"]
    for table in tables:
        labels[label := _label(table)] += 1
        label += f"-{labels[label]}" if labels[label] > 1 else ""
        parts.append(_float(table.for_readers(), task_title(table.task), label))
    return "\n\n".join(parts)


def _label(table: Table) -> str:
    """Return what a paper refers to a table by: tab:corr2cause-a-sample-of-100."""
    words = f"{table.task} {table.heading}".lower()
    return f"tab:{re.sub(r'[^a-z0-9]+', '-', words).strip('-')}"


def _float(table: Table, title: str, label: str) -> str:
    caption = " ".join(f"{title}{f'. {table.heading}' if table.heading else ''}. {table.above}".split())
    if not table.lines:
        return "\n".join(_comments([caption, *table.notes, *table.others]))
    name = "table*" if _width(table) > WIDE else "table"
    lines = [
        f"\\begin{{{name}}}",
        # For whoever looks for the runs, and nothing to publish.
        *_comments([table.settings, *table.others]),
        r"\centering\footnotesize",
        r"\setlength{\belowcaptionskip}{6pt}",
        f"\\caption{{{tex(caption)}}}",
        f"\\label{{{label}}}",
        r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
        f"\\begin{{tabular}}{{{''.join('l' if column.kind == 'text' else 'r' for column in table.columns)}}}",
        r"\toprule",
        *_tex_head(table),
        *_tex_body(table),
        r"\bottomrule",
        r"\end{tabular}}",
    ]
    if table.notes:
        notes = [f"{tex(note)}\\par" for note in table.notes]
        lines += [r"\par\medskip", r"\begin{minipage}{\linewidth}\scriptsize\raggedright", *notes, r"\end{minipage}"]
    return "\n".join([*lines, f"\\end{{{name}}}"])


def _comments(texts: Sequence[str]) -> list[str]:
    return [f"% {' '.join(text.split())}" for text in texts if text]


def _width(table: Table) -> int:
    columns = zip(table.columns, *(line.cells for line in table.lines), strict=True)
    return sum(2 + max(len(head.title), *(len(cell.full_text) for cell in cells)) for head, *cells in columns)


def _tex_head(table: Table) -> Iterator[str]:
    """Yield the titles, and above them the headings that neighbours share."""
    if headings := table.headings():
        overs = (f"\\multicolumn{{{n}}}{{c}}{{{tex(over)}}}" for over, n in headings)
        yield f"{' & '.join(overs)} \\\\"
        ends = list(accumulate(n for _, n in headings))
        rules = [(end - n + 1, end) for (over, n), end in zip(headings, ends, strict=True) if over]
        yield "".join(f"\\cmidrule(lr){{{start}-{end}}}" for start, end in rules)
    yield f"{' & '.join(tex(column.title) for column in table.columns)} \\\\"


def _tex_body(table: Table) -> Iterator[str]:
    width = len(table.columns)
    places = [table.places(column) for column in range(width)]
    for name, lines in table.groups():
        yield r"\midrule"
        if name:
            yield f"\\multicolumn{{{width}}}{{l}}{{\\textit{{{tex(name)}}}}} \\\\"
        for line in lines:
            cells = (_tex_cell(cell, line.place(cell, at)) for cell, at in zip(line.cells, places, strict=True))
            yield f"{' & '.join(cells)} \\\\"


def _tex_cell(cell: Cell, place: int | None) -> str:
    text = tex(cell.text)
    text = text if place is None else f"\\{('textbf', 'underline')[place]}{{{text}}}"
    return f"{text} {tex(cell.range)}".rstrip()
