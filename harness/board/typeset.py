"""Tables as LaTeX (booktabs) and HTML: the best of a column in bold, the second underlined."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from harness.board.table import Cell, Table

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "…": r"\ldots{}",
    "±": r"$\pm$",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "[": "{[}",
    **{sign: f"\\{sign}" for sign in "&%$#_"},
}
_STYLE = (
    "table{border-collapse:collapse}th,td{padding:.2em .6em;text-align:left}.number{text-align:right}"
    "thead th{border-bottom:1px solid}"
)


def tex(text: str) -> str:
    """Text as LaTeX sets it: every character that means something to it is escaped; [ too, as it may follow a break."""
    return "".join(_LATEX.get(sign, sign) for sign in text)


def latex(found: Sequence[Table]) -> str:
    """A table environment each; the booktabs package sets it."""
    return "\n\n".join(["% needs \\usepackage{booktabs}", *map(_latex, found)])


def _latex(table: Table) -> str:
    said = " ".join([table.task + (f", {table.heading}" if table.heading else "") + ".", table.above, *table.notes])
    caption = f"\\caption{{{tex(' '.join(said.split()))}}}"
    if not table.lines:
        return f"% {' '.join(said.split())}"
    places = [table.places(column) for column in range(len(table.columns))]
    body: list[str] = []
    for number, (name, lines) in enumerate(table.grouped()):
        body += [r"\midrule"] if number else []
        body += [f"\\multicolumn{{{len(table.columns)}}}{{l}}{{\\textit{{{tex(name)}}}}} \\\\"] if name else []
        for line in lines:
            cells = (_tex_cell(cell, place.get(cell.text)) for cell, place in zip(line.cells, places, strict=True))
            body.append(f"{' & '.join(cells)} \\\\")
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            caption,
            f"\\begin{{tabular}}{{{''.join('l' if column.kind == 'text' else 'r' for column in table.columns)}}}",
            r"\toprule",
            f"{' & '.join(tex(column.title) for column in table.columns)} \\\\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
        ]
    )


def _tex_cell(cell: Cell, place: int | None) -> str:
    text = tex(cell.text)
    text = text if place is None else f"\\{('textbf', 'underline')[place]}{{{text}}}"
    return f"{text} {tex(cell.range)}" if cell.range else text


def html(found: Sequence[Table]) -> str:
    """A page that needs no other file."""
    parts = [
        "<!DOCTYPE html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>Leaderboard</title><style>{_STYLE}</style></head><body>',
        "<h1>Leaderboard</h1>",
    ]
    for number, table in enumerate(found):
        if not number or found[number - 1].task != table.task:
            parts.append(f"<h2>{escape(table.task)}</h2>")
        parts += [f"<h3>{escape(table.heading)}</h3>"] if table.heading else []
        parts += [f"<p>{escape(table.above)}</p>"] if table.above else []
        parts += [_html(table)] if table.lines else []
        parts += [f"<p>{escape(note)}</p>" for note in table.notes]
    return "\n".join([*parts, "</body></html>"])


def _html(table: Table) -> str:
    kinds = ["" if column.kind == "text" else ' class="number"' for column in table.columns]
    places = [table.places(column) for column in range(len(table.columns))]
    head = "".join(f"<th{kind}>{escape(c.title)}</th>" for kind, c in zip(kinds, table.columns, strict=True))
    rows = []
    for name, lines in table.grouped():
        rows += [f'<tr><th colspan="{len(kinds)}">{escape(name)}</th></tr>'] if name else []
        for line in lines:
            cells = (
                f"<td{kind}>{_html_cell(cell, place.get(cell.text))}</td>"
                for kind, cell, place in zip(kinds, line.cells, places, strict=True)
            )
            rows.append(f"<tr>{''.join(cells)}</tr>")
    return "\n".join(["<table>", f"<thead><tr>{head}</tr></thead>", "<tbody>", *rows, "</tbody>", "</table>"])


def _html_cell(cell: Cell, place: int | None) -> str:
    text = escape(cell.text)
    text = text if place is None else f"<{'bu'[place]}>{text}</{'bu'[place]}>"
    return f"{text} {escape(cell.range)}" if cell.range else text
