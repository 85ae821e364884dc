"""TensorRT's precisions of layers: `trtexec --layerPrecisions`, and `layer.precision = trt.float32` in Python.

NVIDIA/TensorRT a892d222: samples/common/sampleOptions.cpp (the options), tools/Polygraphy/examples (network scripts).
Its ONNX parser names layers as the nodes, so that they are lines of keep_dtype.
"""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from ...core.text.source import Source
from ...errors import UsageFault
from ..list_text import chosen_line, shell_lines
from ..python_script import calls_of
from ..python_text import is_python, unread_losses
from ..python_values import Call, CalledLibrary, Test, Unread, Value, shown
from ..system import System
from ..vocabulary import ListEntry, Loss, OperatorClass, OperatorLists, Pattern, ReadLists, Unlisted, loss_of

_LOW, _HIGH = OperatorClass.LOW, OperatorClass.HIGH
_PRECISIONS = {"fp32": _HIGH, "fp16": _LOW, "bf16": _LOW, "float32": _HIGH, "float16": _LOW, "bfloat16": _LOW}
_PRECISIONS |= {"FLOAT": _HIGH, "HALF": _LOW, "BF16": _LOW}
_OPTION = "--layerPrecisions"
_LIBRARY = CalledLibrary({"precision": ()}, has_symbols=True)
_TYPES = {
    "SOFTMAX": ("Softmax",),
    "NORMALIZATION": ("LayerNormalization", "InstanceNormalization", "GroupNormalization"),
    "CONVOLUTION": ("Conv",),
    "DECONVOLUTION": ("ConvTranspose",),
    "MATRIX_MULTIPLY": ("MatMul", "Gemm"),
}
"""The ONNX operators that become a layer of the type; of the other types it is not one operator or another."""
_OF_ENGINE = re.compile(r"PWN\(|\{ForeignNode\[|\(Unnamed Layer\*|ONNXTRT_")


class _Spec(NamedTuple):
    """:param text: None if a script computes it"""

    line: int
    text: str | None
    command: str


def read(system: System, sources: list[Source]) -> ReadLists:
    """Read the precisions of a command line, or those that a script sets.

    :raises UsageFault: if there are none, or several commands
    """
    (source,) = sources
    specs = _specs(source)
    line = chosen_line(source)
    chosen = {spec.text: spec for spec in specs if line in (None, spec.line)}
    if len(chosen) > 1:
        lines = ", ".join(str(spec.line) for spec in specs)
        message = f"{len(chosen)} lists of {_OPTION}, in lines {lines}"
        raise UsageFault(message, path=source.path, hint="give one as FILE:LINE")
    if chosen:
        ((text, spec),) = chosen.items()
        if text is None:
            message = f"line {spec.line} computes {_OPTION}"
            raise UsageFault(message, path=source.path, hint="write the names out in a file of their own")
        return _of_spec(text, spec.command)
    if is_python(source):
        return _of_script(source)
    raise UsageFault(f"the file has no {_OPTION}", path=source.path)


def _lists(entries: Iterable[ListEntry], default: OperatorClass, low: str | None) -> OperatorLists:
    unlisted: Unlisted = "high" if default is _HIGH else "low"
    return OperatorLists(system="tensorrt", names="onnx", unlisted=unlisted, low=low, entries=tuple(entries))


def _specs(source: Source) -> list[_Spec]:
    """Return the values of the option: in a shell script by line, in Python in its literal strings."""
    if is_python(source):
        return _in_python(source)
    return [spec for line in shell_lines(source) for spec in _in_line(line.number, line.text)]


def _in_python(source: Source) -> list[_Spec]:
    """Return the values in strings that are literal, or sums of such; of the others the value is None."""
    specs: list[_Spec] = []
    with suppress(SyntaxError, ValueError, RecursionError):
        todo: list[ast.AST] = [ast.parse(source.text)]
        for node in todo:
            text = _literal(node) if isinstance(node, ast.expr) else None
            if text is not None:
                specs += _in_line(node.lineno, text)  # type: ignore[attr-defined]
            elif isinstance(node, ast.BinOp | ast.JoinedStr) and f"{_OPTION}=" in ast.unparse(node):
                specs.append(_Spec(node.lineno, None, ""))
            else:
                todo += ast.iter_child_nodes(node)
    return specs


def _literal(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _literal(node.left), _literal(node.right)
        return left + right if left is not None and right is not None else None
    return None


def _in_line(number: int, text: str) -> list[_Spec]:
    words = text.split()
    with suppress(ValueError):
        words = shlex.split(text, comments=True)
    return [_Spec(number, w.partition("=")[2], text) for w in words if w.startswith(f"{_OPTION}=")]


def _of_spec(text: str, command: str) -> ReadLists:
    """Read pairs from left to right; a later one wins, so it comes first, and `*` in a name stands for anything."""
    names: dict[str, OperatorClass] = {}
    default = _LOW
    losses: list[Loss] = []
    others: list[str] = []
    engine: list[str] = []
    for pair in (pair for pair in text.split(",") if pair.strip()):
        name, _, precision = pair.strip().rpartition(":")
        name = name.strip("'\"")
        cls = _PRECISIONS.get(precision)
        if cls is None:
            others.append(pair.strip())
        elif _OF_ENGINE.match(name):
            engine.append(name)
        elif name == "*":
            default, names = cls, {}
        else:
            names.pop(name, None)
            names[name] = cls
    message = "these are of no matter for float16, or no precision"
    losses += loss_of("ignored", message, others, drops=True)
    message = "names that TensorRT made itself; no node of the model has them"
    losses += loss_of("not-a-name", message, engine, drops=True)
    is_whole = "--onnx" in command
    if is_whole and not re.search(r"--precisionConstraints=['\"]?(?:obey|prefer)", command):
        message = "without --precisionConstraints=obey or prefer trtexec does not look at these precisions"
        losses.append(Loss("ignored", message))
    entries = [
        ListEntry(name, scope="node", cls=cls, origin=_OPTION, pattern="glob" if "*" in name else None)
        for name, cls in names.items()
    ]
    low = "bfloat16" if "--bf16" in command and "--fp16" not in command else "float16"
    return ReadLists(_lists(entries[::-1], default, low), losses)


def _of_script(source: Source) -> ReadLists:
    entries: dict[tuple[str, str | None], ListEntry] = {}
    twice: set[tuple[str, str | None]] = set()
    unread: list[tuple[str, Unread]] = []
    losses: list[Loss] = []
    for call in calls_of(source, _LIBRARY):
        value = call.arguments["value"]
        dtype = shown(value).rpartition(".")[2]
        cls = _PRECISIONS.get(dtype)
        if cls is None and re.fullmatch(r"(?:u?int|fp)\d+|INT\d+|UINT8|BOOL|bool", dtype):
            continue  # of no matter for float16
        limit = call.arguments["limit"]
        found = None if limit else _layers(call)
        if found is None or cls is None:
            unread.append(("layer.precision", limit or Unread(call.line, call.column, _conditions(call))))
            continue
        for entry in found:
            known = entries.setdefault((entry.name, entry.pattern), replace(entry, cls=cls))
            if known.cls is not cls:
                text = f"{entry.name} is set to both precisions"
                unread.append(("layer.precision", Unread(call.line, call.column, text)))
                twice.add((entry.name, entry.pattern))
    if not entries and not unread:
        raise UsageFault("no layer.precision is set to float32 or float16", path=source.path)
    entries = {key: entry for key, entry in entries.items() if key not in twice}
    losses += unread_losses(source, unread)
    if not entries:
        message = "layer.precision depends on what only the running script knows"
        raise UsageFault(message, path=source.path, hint=losses[0].details[0])
    return ReadLists(_lists(entries.values(), _LOW, "float16"), losses)


def _conditions(call: Call) -> str:
    tests = [f"{'' if test.holds else 'not '}{ast.unparse(test.test)}" for test in call.tests]
    return " and ".join(tests) or "of every layer"


def _layers(call: Call) -> list[ListEntry] | None:
    """Return the layers of an assignment by its tests; None if they do not name them."""
    layer = call.arguments["owner"]
    rules = []
    for test in call.tests:
        if re.search(rf"\b{re.escape(layer)}\b", ast.unparse(test.test)):
            rule = _rule(test, test.test, layer, test.holds)
            if rule is None:
                return None
            rules.append(rule)
    chosen = [rule for rule in rules if rule]
    return chosen[0] if len(chosen) == 1 else None


def _rule(test: Test, node: ast.expr, layer: str, holds: bool) -> list[ListEntry] | None:
    """Return the layers that a test means, nothing if it asks for a dtype alone; None for any other test."""
    name, text = f"{layer}.name", ast.unparse(node)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return _rule(test, node.operand, layer, not holds)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        left, right = ast.unparse(node.left), ast.unparse(node.comparators[0])
        if left in (f"{layer}.precision", f"{layer}.dtype"):
            return []
        is_positive = isinstance(node.ops[0], ast.In | ast.Eq) == holds
        if not is_positive or not isinstance(node.ops[0], ast.In | ast.NotIn | ast.Eq | ast.NotEq):
            return None
        if left == f"{layer}.type":
            types = re.findall(r"LayerType\.(\w+)", right)
            names = [operator for each in types for operator in _TYPES.get(each, ("",))]
            return (
                [ListEntry(each, cls=_HIGH, origin="layer.precision") for each in names]
                if names and all(names)
                else None
            )
        if left == name:
            return _entries(_values(test.known.get(right)), "{}")
        if right == name and isinstance(node.ops[0], ast.In):
            return _entries(_values(test.known.get(left)), "*{}*")
        return None
    if not holds:
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
            return [] if all(_rule(test, each, layer, True) == [] for each in node.values) else None
        return None
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
        parts = [_rule(test, each, layer, holds) for each in node.values]
        return None if None in parts or [] in parts else [entry for part in parts for entry in part or ()]
    if isinstance(node, ast.Call) and text.startswith((f"{name}.startswith(", f"{name}.endswith(")) and node.args:
        values = _values(test.known.get(ast.unparse(node.args[0])))
        return _entries(values, "{}*" if ".startswith(" in text else "*{}")
    if isinstance(node, ast.Call) and text.startswith("any(") and isinstance(node.args[0], ast.GeneratorExp):
        return _any(test, node.args[0], layer)
    return None


def _any(test: Test, node: ast.GeneratorExp, layer: str) -> list[ListEntry] | None:
    loop = node.generators[0]
    values = _values(test.known.get(ast.unparse(loop.iter)))
    if values is None or len(node.generators) > 1 or loop.ifs:
        return None
    found: list[ListEntry] = []
    for value in values:
        rule = _rule(test._replace(known={**test.known, ast.unparse(loop.target): value}), node.elt, layer, True)
        if not rule:
            return None
        found += rule
    return found


def _values(value: Value) -> list[str] | None:
    values = list(value) if isinstance(value, tuple) else [value]
    return values if values and all(isinstance(each, str) for each in values) else None


def _entries(names: list[str] | None, form: str) -> list[ListEntry] | None:
    pattern: Pattern | None = "glob" if "*" in form else None
    if names is None:
        return None
    return [
        ListEntry(form.format(name), scope="node", cls=_HIGH, origin="layer.precision", pattern=pattern)
        for name in names
    ]


SYSTEMS = (
    System(
        "tensorrt", "TensorRT layer precisions", "onnx", "a command or script", read=read,
        instead="pass --layerPrecisions=NODE:fp32,... with --precisionConstraints=obey to trtexec",
    ),
)  # fmt: skip
