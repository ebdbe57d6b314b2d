"""Tables as LaTeX (booktabs) and HTML: the best of a column in bold, the second underlined."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import accumulate

from harness.tables.table import Cell, Part, Table

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
_STYLE = (
    "body{font-family:system-ui,sans-serif;margin:1.5em}p{max-width:65em}div{overflow-x:auto}"
    "table{border-collapse:collapse;border-top:2px solid;border-bottom:2px solid;font-variant-numeric:tabular-nums}"
    "th,td{padding:.2em .6em;text-align:left;vertical-align:bottom;white-space:nowrap}.number{text-align:right}"
    "thead th{border-bottom:1px solid;white-space:normal}thead .over{text-align:center}"
    "tbody+tbody,tbody+tbody tr:first-child{border-top:1px solid}.group{font-weight:normal;font-style:italic}"
)
WIDE = 60
"""Characters in a row above which a LaTeX table takes both columns of a page."""


def tex(text: str) -> str:
    """Escape every character that means something to LaTeX; [ too, as it may follow a break.

    What cannot be printed is a space: LaTeX refuses some of it, and two line breaks would end a paragraph in a cell.
    """
    return "".join(_LATEX.get(sign, sign if sign.isprintable() else " ") for sign in text)


def latex(tables: Sequence[Table], titles: Mapping[str, str] | None = None) -> str:
    """Return a floating table for each table that has rows; they need booktabs and graphicx.

    `titles` has what captions call a task, where that is not its name.
    """
    labels: Counter[str] = Counter()
    parts = ["% needs \\usepackage{booktabs,graphicx}"]
    for table in tables:
        labels[label := _label(table)] += 1
        label += f"-{labels[label]}" if labels[label] > 1 else ""
        parts.append(_float(table.for_readers(), (titles or {}).get(table.task, table.task), label))
    return "\n\n".join(parts)


def _label(table: Table) -> str:
    """Return what a paper refers to a table by: tab:corr2cause-a-sample-of-100."""
    words = f"{table.task} {table.heading}".lower()
    return f"tab:{re.sub(r'[^a-z0-9]+', '-', words).strip('-')}"


def _float(table: Table, title: str, label: str) -> str:
    caption = " ".join(f"{title}{f'. {table.heading}' if table.heading else ''}. {table.above}".split())
    if not table.lines:
        return f"% {' '.join([caption, *' '.join(table.notes).split()])}"
    name = "table*" if _width(table) > WIDE else "table"
    lines = [
        f"\\begin{{{name}}}",
        # As folders and manifests have it: for whoever looks for the runs, and nothing to publish.
        *([f"% {' '.join(table.settings.split())}"] if table.settings else []),
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


def html(tables: Sequence[Table]) -> str:
    """Return a page that needs no other file."""
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
        f"<title>Leaderboard</title><style>{_STYLE}</style></head><body>",
        "<h1>Leaderboard</h1>",
    ]
    return "\n".join([*parts, *html_parts(tables), "</body></html>"])


def html_parts(parts: Sequence[Part]) -> Iterator[str]:
    """Yield headings, paragraphs and tables, a heading above the first table of each task."""
    task = ""
    for part in parts:
        if isinstance(part, str):
            yield f"<p>{escape(part)}</p>"
            continue
        if part.task != task:
            yield f"<h2>{escape(task := part.task)}</h2>"
        if part.heading:
            yield f"<h3>{escape(part.heading)}</h3>"
        if part.above:
            yield f"<p>{escape(part.above)}</p>"
        if part.settings:
            yield f"<p><small>{escape(part.settings)}</small></p>"
        if part.lines:
            yield f"<div>{_html(part.for_readers())}</div>"
        yield from (f"<p>{escape(note)}</p>" for note in part.notes)


def _html(table: Table) -> str:
    kinds = ["" if column.kind == "text" else ' class="number"' for column in table.columns]
    places = [table.places(column) for column in range(len(kinds))]
    over = "".join(f'<th class="over" colspan="{n}">{escape(text)}</th>' for text, n in table.headings())
    titles = [escape(column.title) for column in table.columns]
    head = "".join(f"<th{kind}>{title}</th>" for kind, title in zip(kinds, titles, strict=True))
    rows = [f"<tr>{over}</tr>"] if over else []
    rows += [f"<tr>{head}</tr></thead>", "<tbody>"]
    for name, lines in table.groups():
        rows += [f'<tr><th class="group" colspan="{len(kinds)}">{escape(name)}</th></tr>'] if name else []
        for line in lines:
            texts = (_html_cell(cell, line.place(cell, at)) for cell, at in zip(line.cells, places, strict=True))
            cells = (f"<td{kind}>{text}</td>" for kind, text in zip(kinds, texts, strict=True))
            rows.append(f"<tr>{''.join(cells)}</tr>")
    return "\n".join(["<table>", "<thead>", *rows, "</tbody>", "</table>"])


def _html_cell(cell: Cell, place: int | None) -> str:
    text = escape(cell.text)
    text = text if place is None else f"<{'bu'[place]}>{text}</{'bu'[place]}>"
    return f"{text} {escape(cell.range)}".rstrip()
