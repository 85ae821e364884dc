"""Change the counting modules one place at a time and see which changes CI's tests notice.

    python tests/long/mutate_counting.py [MODULE...]

Each comparison, operator, `and`/`or`, small integer and `not` is changed in a copy of the package, and
`tests/runs/test_runs_counting.py` is run against it. Prints the changes that no test notices, and the share that one
does. Annotations are left alone: `|` occurs in nothing else.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODULES = ("count", "counters", "flags", "occurrences")
SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


def mutants(source: str) -> Iterator[tuple[int, str, str]]:
    """(line, what was changed, the changed source) of every place."""
    places = sum(1 for _ in _places(ast.parse(source)))
    for number in range(places):
        tree = ast.parse(source)
        node, change = list(_places(tree))[number]
        line, what = getattr(node, "lineno", 0), change(node)
        yield line, what, ast.unparse(ast.fix_missing_locations(tree))


def _places(tree: ast.AST):  # type: ignore[no-untyped-def]
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
            yield node, _swap_comparison
        elif isinstance(node, (ast.BinOp, ast.BoolOp, ast.AugAssign)) and type(node.op) in SWAPS:
            yield node, _swap_operator
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield node, _drop_not
        elif isinstance(node, ast.Constant) and type(node.value) is int and node.value < 100:
            yield node, _add_one
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
            yield node, _negate


def _swap_comparison(node: ast.Compare) -> str:
    before, node.ops[0] = type(node.ops[0]), SWAPS[type(node.ops[0])]()  # type: ignore[assignment]
    return f"{before.__name__} -> {type(node.ops[0]).__name__}"


def _swap_operator(node: ast.BinOp | ast.BoolOp | ast.AugAssign) -> str:
    before, node.op = type(node.op), SWAPS[type(node.op)]()  # type: ignore[assignment]
    return f"{before.__name__} -> {type(node.op).__name__}"


def _drop_not(node: ast.UnaryOp) -> str:
    node.op = ast.UAdd()
    node.operand = ast.Call(ast.Name("bool", ast.Load()), [node.operand], [])
    return "not dropped"


def _add_one(node: ast.Constant) -> str:
    node.value = int(node.value) + 1  # type: ignore[arg-type]
    return f"{node.value - 1} -> {node.value}"


def _negate(node: ast.Constant) -> str:
    node.value = not node.value
    return f"{not node.value} -> {node.value}"


def main(modules: list[str]) -> int:
    killed = total = 0
    with tempfile.TemporaryDirectory() as place:
        shutil.copytree(ROOT / "opsinfo_cli", Path(place, "opsinfo_cli"))
        shutil.copy(ROOT / "tests/runs/test_runs_counting.py", place)
        environment = {**os.environ, "PYTHONPATH": place, "PYTHONDONTWRITEBYTECODE": "1"}
        words = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider", place]
        for module in modules:
            file = Path(place, "opsinfo_cli", "runs", f"{module}.py")
            source = file.read_text("utf-8")
            for line, what, changed in mutants(source):
                file.write_text(changed, "utf-8")
                total += 1
                try:
                    noticed = subprocess.run(
                        words, env=environment, cwd=place, capture_output=True, timeout=60
                    ).returncode
                except subprocess.TimeoutExpired:
                    noticed = 1
                killed += noticed != 0
                if not noticed:
                    print(f"lives: {module}.py:{line} {what}", flush=True)
            file.write_text(source, "utf-8")
    print(f"{killed} of {total} changes noticed ({killed / max(1, total):.0%})")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or list(MODULES)))
