"""How many faults the tests see: `python tools/mutate.py SEED PLACES harness/scoring …`.

A place is drawn with the seed; a comparison, sign, number or truth value is turned there, or a value left out, in a
copy of what is committed. The tests of its room and those of whole runs are to see it.
"""

from __future__ import annotations

import ast
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

HOME = Path(__file__).resolve().parents[1]
PYTEST = [sys.executable, "-m", "pytest", "-qx", "-n2", "-m", "not slow and not browser and not servers"]
PAIRS = [(ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.In, ast.NotIn), (ast.Is, ast.IsNot),
         (ast.Add, ast.Sub), (ast.Mult, ast.Div), (ast.And, ast.Or)]  # fmt: skip
TURNED = {**dict(PAIRS), **{other: one for one, other in PAIRS}}


def turn(node: ast.AST) -> bool:
    """Make a fault of a node, in place; return whether it is one that can be turned."""
    if isinstance(node, ast.Compare):
        node.ops[0] = TURNED[type(node.ops[0])]()
    elif isinstance(node, ast.BinOp | ast.BoolOp | ast.AugAssign) and type(node.op) in TURNED:
        node.op = TURNED[type(node.op)]()
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int):
        node.value = not node.value if isinstance(node.value, bool) else node.value + 1
    elif isinstance(node, ast.Return | ast.Assign) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
        node.value = ast.Constant(None)
    else:
        return False
    return True


def main() -> None:
    draw, count, seen = random.Random(int(sys.argv[1])), int(sys.argv[2]), 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        os.environ["PYTHONPATH"] = str(copy)
        subprocess.run(["git", "clone", "-q", str(HOME), str(copy)], check=True)
        modules = sorted(file for place in sys.argv[3:] for file in (copy / place).rglob("*.py"))
        sizes = [len(file.read_text(encoding="utf-8")) for file in modules]
        while count:
            file = draw.choices(modules, sizes)[0]
            tree = ast.parse(text := file.read_text(encoding="utf-8"))
            functions = [part for part in ast.walk(tree) if isinstance(part, ast.FunctionDef)]
            node = draw.choice([node for part in functions for node in ast.walk(part)] or [tree])
            before = ast.unparse(node)
            if not turn(node):
                continue
            place, count = file.relative_to(copy), count - 1
            file.write_text(ast.unparse(tree), encoding="utf-8")
            own = [name for name in (f"tests/{place.parts[1]}", "tests/run") if (copy / name).is_dir()]
            code = subprocess.run([*PYTEST, *own], cwd=copy, capture_output=True).returncode
            file.write_text(text, encoding="utf-8")
            seen += code not in (0, 5)
            found = "NOT SEEN" if code in (0, 5) else "seen"
            print(f"{place}:{getattr(node, 'lineno', 0)}: {before} → {ast.unparse(node)}: {found}", flush=True)
    print(f"{seen} of {sys.argv[2]} seen")


if __name__ == "__main__":
    main()
