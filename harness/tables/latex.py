"""Tables as LaTeX (booktabs): the best of a column in bold, the second underlined."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

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
        words = re.sub(r"[^a-z0-9]+", "-", f"{table.task} {table.heading}".lower()).strip("-")
        labels[label := f"tab:{words}"] += 1  # what a paper refers to it by: tab:corr2cause-a-sample-of-100
        parts.append("\n".join(_float(table.for_readers(), label + f"-{labels[label]}" * (labels[label] > 1))))
    return "\n\n".join(parts)


def _float(table: Table, label: str) -> Iterator[str]:
    heading = f". {table.heading}" if table.heading else ""
    caption = " ".join(f"{task_title(table.task)}{heading}. {table.above}".split())
    if not table.lines:
        yield from _comments([caption, *table.notes, *table.others])
        return
    columns = zip(table.columns, *(line.cells for line in table.lines), strict=True)
    width = sum(2 + max(len(head.title), *(len(cell.full_text) for cell in cells)) for head, *cells in columns)
    name = "table*" if width > WIDE else "table"
    yield f"\\begin{{{name}}}"
    yield from _comments([table.settings, *table.others])  # for whoever looks for the runs, and nothing to publish
    yield r"\centering\footnotesize"
    yield r"\setlength{\belowcaptionskip}{6pt}"
    yield f"\\caption{{{tex(caption)}}}"
    yield f"\\label{{{label}}}"
    yield r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
    yield f"\\begin{{tabular}}{{{''.join('l' if column.kind == 'text' else 'r' for column in table.columns)}}}"
    yield r"\toprule"
    yield from _rows(table)
    yield r"\bottomrule"
    yield r"\end{tabular}}"
    if table.notes:
        yield r"\par\medskip"
        yield r"\begin{minipage}{\linewidth}\scriptsize\raggedright"
        yield from (f"{tex(note)}\\par" for note in table.notes)
        yield r"\end{minipage}"
    yield f"\\end{{{name}}}"


def _comments(texts: Sequence[str]) -> list[str]:
    return [f"% {' '.join(text.split())}" for text in texts if text]


def _rows(table: Table) -> Iterator[str]:
    """Yield the titles, above them the headings that neighbours share, and the lines."""
    end = 0
    if headings := table.headings():
        yield " & ".join(f"\\multicolumn{{{n}}}{{c}}{{{tex(over)}}}" for over, n in headings) + r" \\"
        rules = ""
        for over, n in headings:
            rules += f"\\cmidrule(lr){{{end + 1}-{end + n}}}" if over else ""
            end += n
        yield rules
    yield f"{' & '.join(tex(column.title) for column in table.columns)} \\\\"
    places = table.places()
    yield r"\midrule"
    for line in table.lines:
        of_line = places if line.ranked else [{}] * len(places)
        yield f"{' & '.join(map(_cell, line.cells, of_line))} \\\\"


def _cell(cell: Cell, places: dict[str, int]) -> str:
    place = places.get(cell.text)
    text = tex(cell.text) if place is None else f"\\{('textbf', 'underline')[place]}{{{tex(cell.text)}}}"
    return f"{text} {tex(cell.range)}".rstrip()
