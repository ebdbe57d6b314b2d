"""Tables as LaTeX (booktabs) and HTML: the best of a column in bold, the second underlined."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape

from harness.tables.table import Cell, Line, Part, Table

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
    "span span{display:inline-block;text-align:left;font-weight:normal}.whole{white-space:nowrap}"
    "tbody+tbody,tbody+tbody tr:first-child{border-top:1px solid}.group{font-weight:normal;font-style:italic}"
)
WIDE = 60
"""Characters in a row above which a LaTeX table takes both columns of a page."""
LONG = 46
"""Rows, headings among them, and lines of notes that a page holds at \\footnotesize: half of them stand in normal size,
more in several tables."""
DENSE = 54
"""The same at \\scriptsize, for a table with notes that is a little too long."""
_NOTE = {False: 65, True: 95}
"""Characters in a line of notes below a narrow and a wide table, no more than a standard article has room for."""
_FLOATS = 10
"""LaTeX queues at most 18 floating tables, so a \\clearpage is due before the queue is full."""


def tex(text: str) -> str:
    """Escape every character that means something to LaTeX; [ too, as it may follow a break.

    What cannot be printed is a space: LaTeX refuses some of it, and two line breaks would end a paragraph in a cell.
    """
    return "".join(_LATEX.get(sign, sign if sign.isprintable() else " ") for sign in text)


def latex(tables: Sequence[Table], titles: Mapping[str, str] | None = None) -> str:
    """Return a table environment for each table, or several where it is long; they need booktabs and graphicx.

    `titles` has what captions call a task, where that is not its name.
    """
    parts, floats = ["% needs \\usepackage{booktabs,graphicx}"], 0
    labels: list[str] = []
    for table in tables:
        label = _label(table)
        labels.append(label)
        label += f"-{labels.count(label)}" if labels.count(label) > 1 else ""
        for part in _latex(table, (titles or {}).get(table.task, table.task), label):
            if not part.startswith("%"):
                parts += [r"\clearpage"] if floats and floats % _FLOATS == 0 else []
                floats += 1
            parts.append(part)
    return "\n\n".join(parts)


def _label(table: Table) -> str:
    """Return what a paper refers to a table by: tab:corr2cause-a-sample-of-100."""
    words = f"{table.task} {table.heading}".lower()
    return f"tab:{re.sub(r'[^a-z0-9]+', '-', words).strip('-')}"


def _latex(table: Table, title: str, label: str) -> list[str]:
    """Return the floats of a table.

    The notes stand in the last float, so that they are on the page of their table.
    """
    table = table.for_readers()
    name = title + (f". {table.heading}" if table.heading else "")
    caption = f"{name}. {table.above}"
    if not table.lines:
        return [f"% {' '.join(' '.join([caption, *table.notes]).split())}"]
    wide = _width(table) > WIDE
    below = sum(-(-len(note) // _NOTE[wide]) for note in table.notes)
    total = _height(table.lines) + below
    size = r"\scriptsize" if LONG < total <= DENSE else r"\footnotesize" if wide or total > LONG // 2 else ""
    parts = [list(table.lines)]
    if total > DENSE:
        parts = list(_parts(table.lines, LONG))
        parts[-1:] = _parts(parts[-1], max(LONG - below, LONG // 4))
    last = len(parts) - 1
    return [
        _float(
            table,
            part,
            caption if not number else f"{name}, continued.",
            label if not number else "",
            size,
            table.notes if number == last else (),
        )
        for number, part in enumerate(parts)
    ]


def _parts(lines: Sequence[Line], room: int) -> Iterator[list[Line]]:
    """Yield the lines in parts of at most `room` rows, broken where a group or a first cell begins."""
    groups: list[list[Line]] = [[]]
    for line in lines:
        above = groups[-1][-1] if groups[-1] else line
        if line.group != above.group or line.cells[0].text:
            groups.append([])
        groups[-1].append(line)
    part: list[Line] = []
    for together in groups:
        if part and _height([*part, *together]) > room:
            yield part
            part = []
        part += together
    yield part


def _height(lines: Sequence[Line]) -> int:
    """Return the rows that some lines take, with those of their groups' names."""
    return len(lines) + len({line.group for line in lines if line.group}) + 1


def _width(table: Table) -> int:
    columns = zip(table.columns, *(line.cells for line in table.lines), strict=True)
    return sum(2 + max(len(head.title), *(len(cell.full_text) for cell in cells)) for head, *cells in columns)


def _float(table: Table, lines: Sequence[Line], caption: str, label: str, size: str, notes: Sequence[str]) -> str:
    part = Table(table.task, table.columns, lines)
    wide = _width(table) > WIDE
    name = "table*" if wide else "table"
    # As folders and manifests have it: for whoever looks for the runs, and nothing to publish.
    runs = [f"% {' '.join(table.settings.split())}"] if table.settings else []
    return "\n".join(
        [
            f"\\begin{{{name}}}",
            *runs,
            r"\centering",
            r"\setlength{\belowcaptionskip}{6pt}",
            f"\\caption{{{tex(' '.join(caption.split()))}}}",
            *([f"\\label{{{label}}}"] if label else []),
            *([size] if size else []),
            r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
            f"\\begin{{tabular}}{{{''.join('l' if column.kind == 'text' else 'r' for column in table.columns)}}}",
            r"\toprule",
            *_tex_head(table, _widest(part)),
            r"\midrule",
            *_tex_body(part, table),
            r"\bottomrule",
            r"\end{tabular}}",
            *([r"\par\medskip", r"\begin{minipage}{\linewidth}\scriptsize\raggedright"] if notes else []),
            *(f"{tex(note)}\\par" for note in notes),
            *([r"\end{minipage}"] if notes else []),
            f"\\end{{{name}}}",
        ]
    )


def _tex_head(table: Table, ranges: Sequence[str]) -> list[str]:
    """Return the titles, and above them the headings that neighbours share."""
    overs, rules, place = [], [], 1
    for over, columns in table.headings():
        overs.append(f"\\multicolumn{{{columns}}}{{c}}{{{tex(over)}}}")
        rules += [f"\\cmidrule(lr){{{place}-{place + columns - 1}}}"] if over else []
        place += columns
    column_ranges = zip(table.columns, ranges, strict=True)
    titles = f"{' & '.join(_tex_cell(Cell(column.title), None, room) for column, room in column_ranges)} \\\\"
    return [f"{' & '.join(overs)} \\\\", "".join(rules), titles] if overs else [titles]


def _tex_body(part: Table, table: Table) -> Iterator[str]:
    width, ranges = len(table.columns), _widest(part)
    for number, (name, lines) in enumerate(part.groups()):
        if number:
            yield r"\midrule"
        if name:
            yield f"\\multicolumn{{{width}}}{{l}}{{\\textit{{{tex(name)}}}}} \\\\"
        places = [table.places(column) for column in range(width)]
        for line in lines:
            cell_parts = zip(line.cells, places, ranges, strict=True)
            yield f"{' & '.join(_tex_cell(cell, line.place(cell, p), room) for cell, p, room in cell_parts)} \\\\"


def _tex_cell(cell: Cell, place: int | None, widest: str) -> str:
    """Return a value and its interval, or as much room as the column's widest interval takes.

    So values stand below values.
    """
    text = tex(cell.text)
    text = text if place is None else f"\\{('textbf', 'underline')[place]}{{{text}}}"
    if not cell.range:
        return f"{text}\\phantom{{ {tex(widest)}}}" if widest else text
    missing = len(widest) - len(cell.range)
    return f"{text} {tex(cell.range)}" + (f"\\phantom{{{'0' * missing}}}" if missing else "")


def _widest(table: Table) -> list[str]:
    """Return the longest interval of each column."""
    return [
        max((cell.range for cell in cells), key=len)
        for cells in zip(*(line.cells for line in table.lines), strict=True)
    ]


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
    over = "".join(f'<th class="over" colspan="{n}">{escape(text)}</th>' for text, n in table.headings())
    rows, ranges = ["<tbody>"], _widest(table)
    head = "".join(
        f"<th{kind}>{_above_or_below(escape(column.title), '', len(room))}</th>"
        for kind, column, room in zip(kinds, table.columns, ranges, strict=True)
    )
    for name, lines in table.groups():
        rows += [f'<tr><th class="group" colspan="{len(kinds)}">{escape(name)}</th></tr>'] if name else []
        places = [table.places(column) for column in range(len(kinds))]
        for line in lines:
            cells = (
                f"<td{kind}>{_html_cell(cell, line.place(cell, place), len(room))}</td>"
                for kind, cell, place, room in zip(kinds, line.cells, places, ranges, strict=True)
            )
            rows.append(f"<tr>{''.join(cells)}</tr>")
    above = [f"<tr>{over}</tr>"] if over else []
    return "\n".join(["<table>", "<thead>", *above, f"<tr>{head}</tr></thead>", *rows, "</tbody>", "</table>"])


def _html_cell(cell: Cell, place: int | None, widest: int) -> str:
    text = escape(cell.text)
    text = text if place is None else f"<{'bu'[place]}>{text}</{'bu'[place]}>"
    return _above_or_below(text, cell.range, widest)


def _above_or_below(text: str, range: str, widest: int) -> str:
    """Return a value and its interval, or as much room, so that values and the heading are aligned."""
    room = f'<span style="min-width:{widest}ch">{escape(range)}</span>'
    return f'<span class="whole">{text} {room}</span>' if widest else text
