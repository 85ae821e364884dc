"""`opsinfo numerics`: show floating-point formats, and the losses of tensors in them."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, replace

import click

from ...core.cann.library import Operators
from ...core.cann.policy import Policy
from ...core.cann.targets.found import TargetOptions
from ...core.document import headed
from ...core.terminal.answer import Cell, Column, CommandAnswer, PathCell, Table
from ...core.terminal.config import Targeted, given_or_configured
from ...core.terminal.console import Console
from ...core.terminal.open import open_given, require_against
from ...core.terminal.params import TARGET, Choice, Word, install_options, option, prints
from ...errors import UsageFault, counted
from ..numbers.calls import DumpedOperator, by_name, read_calls
from ..numbers.float_formats import FORMATS, HIF8
from ..numbers.single_values import SingleValue, single_value
from ..numbers.tensors import (
    DumpedTensor,
    DumpedType,
    FormatLosses,
    TensorRow,
    by_operator,
    dump_files,
    load_numpy,
    read_tensor,
)

_LOW = {"float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64"}
_LOW |= {name: name for name in FORMATS if name.startswith("fp8")}
"""Word of the option -> format."""
_MEANT = {name: word for word, name in _LOW.items()}
_TENSORS = Word("VALUE|FILE.npy|DIR|dump.json", reads=True)


@dataclass(frozen=True)
class FormatRow:
    """One format, derived from its bit layout."""

    name: str
    """The name of the format."""
    bits: int
    """The width in bits."""
    largest: float
    """The largest finite value."""
    smallest_normal: float
    """The smallest normal value."""
    smallest_subnormal: float
    """The smallest value above 0."""
    epsilon: float
    """The difference between 1 and the next larger value."""


@dataclass(frozen=True)
class Formats:
    """Number formats; or the tensors in files: `formats`, or `tensors` with `operators`; or the calls in files of
    msprobe: `calls`; or single numbers: `values`. Later versions may add keys.
    """

    formats: list[FormatRow]
    """The formats."""


@dataclass(frozen=True)
class DumpedTensors:
    """The tensors in files."""

    low: str
    """The format that operators are ranked by."""
    tensors: list[TensorRow]
    """The tensors, one for each file."""
    operators: Sequence[DumpedType]
    """Op types of the files that are named like Ascend dumps, worst first."""


@dataclass(frozen=True)
class DumpedCalls:
    """The calls in files of msprobe."""

    low: str
    """The format that operators are ranked by."""
    calls: Sequence[DumpedOperator]
    """Operators of a dump.json of msprobe, those that lose most first."""


@dataclass(frozen=True)
class SingleValues:
    """Single numbers."""

    values: Sequence[SingleValue]
    """Single numbers, in each format."""


@click.command("numerics", cls=Targeted)
@click.argument("paths", nargs=-1, type=_TENSORS)
@option(
    "--low", type=Choice(_LOW, _MEANT.get), default="float16", show_default=True, help="Format to rank operators by."
)
@option("--against", type=TARGET, help="Show the policy of the dumped operators in this target.")
@install_options
@prints()
def command(
    paths: tuple[str, ...], low: str, against: str | None, options: TargetOptions, console: Console
) -> CommandAnswer:
    """Show number formats: bits, largest value, smallest normal and subnormal value, epsilon.

    For a VALUE: its bits, the nearest value in each format, the relative error, what becomes of it, and the smallest
    power of two as loss scale that makes it normal. `--` stands before a negative one.

    For a FILE.npy: the share of values that overflow, become subnormal, become zero or are rounded by more than 2^-11,
    and the loss scale that avoids it. Files named as Ascend dumps (OpType.opname.taskid.timestamp.output.N.npy) are
    grouped by op type, the worst first: the candidates for the black list. These files require numpy.

    For a dump.json of msprobe: the tensors of each operator that overflow or vanish, by their largest magnitude.

    \b
    Examples:
      opsinfo numerics
      opsinfo numerics 0.00006666666 65520
      opsinfo numerics dump/*.npy
      opsinfo numerics dump --against ascend910b --low bfloat16
      opsinfo numerics dump.json --against ascend910b
    """
    if not paths:
        if given_or_configured("against", against, False):
            raise UsageFault("--against requires dumped tensors", hint="give .npy files, or a directory of them")
        require_against(options)
        return formats_answer()
    values = [value for path in paths if not os.path.lexists(path) and (value := single_value(path))]
    if values:
        if len(values) < len(paths):
            raise UsageFault("numbers and files cannot be combined", hint="give them to two commands")
        if given_or_configured("against", against, False):
            raise UsageFault("--against requires dumped tensors", hint="a number has no operator")
        require_against(options)
        return values_answer(values)
    dumps = [path for path in paths if path.endswith(".json")]
    if dumps and len(dumps) < len(paths):
        raise UsageFault("dump.json and .npy files cannot be combined")
    target = open_given(against, console, options)
    operators = target.operators if target else None
    if dumps:
        calls = by_name((call for path in dumps for call in read_calls(path)), FORMATS[_LOW[low]], operators)
        return calls_answer(calls, _LOW[low])
    load_numpy()
    tensors = []
    for path in paths:
        files = dump_files(path) if os.path.isdir(path) else [path]
        if not files:
            raise UsageFault("the folder has no .npy files", name="no-files", path=path)
        if not os.path.lexists(path) and not path.endswith(".npy") and "/" not in path:
            hint = "give a .npy file, a folder of them, or a number such as 6.1e-5"
            raise UsageFault(f"`{path[:80]}` is not a file", name="not-a-file", hint=hint)
        for file in files:
            tensor = read_tensor(file)
            if tensor is None:
                console.note(f"{file} has no floating-point values")
                continue
            tensors.append(tensor)
            if tensor.not_finite:
                console.warn(f"{file}: already infinite or NaN: {counted(tensor.not_finite, 'value')}")
    by_type = [_with_policy(row, operators) for row in by_operator(tensors, _LOW[low])]
    others = len(tensors) - sum(operator.files for operator in by_type)
    if by_type and others:
        subject = "1 file is" if others == 1 else f"{others} files are"
        console.warn(f"{subject} not named as a dump, so the operator is unknown")
    return tensors_answer(tensors, by_type, _LOW[low])


_LIMITS = {**{name: known.limits for name, known in FORMATS.items()}, "hif8": HIF8}


def formats_answer() -> CommandAnswer:
    titles = ("bits", "largest", "least normal", "least subnormal", "epsilon")
    columns = [Column("format"), *(Column(title, number=True) for title in titles)]
    table = Table(columns, _format_rows(5), lambda: _format_rows(17))
    document = Formats([FormatRow(name, *limits) for name, limits in _LIMITS.items()])
    note = "hif8: limits of its published encoding; its precision falls from 3 bits near 1 to 1 bit"
    return CommandAnswer(lambda: headed("numerics", document), lambda: [table], notes=[note])


def values_answer(values: Sequence[SingleValue]) -> CommandAnswer:
    titles = ("bits", "nearest", "rel. error", "becomes", "loss scale")
    columns = [Column("format"), *(Column(title, number=title != "becomes") for title in titles)]

    def rows(value: SingleValue, digits: int, *first: str) -> list[list[str]]:
        return [
            [
                *first,
                known.name,
                known.bits,
                "-" if known.nearest is None else _number(known.nearest, digits),
                "-" if known.relative_error is None else f"{known.relative_error:.3g}",
                known.outcome,
                f"2^{int(math.log2(known.loss_scale))}" if known.loss_scale else "-",
            ]
            for known in value.formats
        ]

    def table(value: SingleValue) -> Table:
        return Table(columns, rows(value, 9), lambda: rows(value, 17, value.text), title=value.text)

    return CommandAnswer(lambda: headed("numerics", SingleValues(values)), lambda: map(table, values))


def _format_rows(digits: int) -> list[list[str]]:
    return [
        [name, str(limits.bits), *(_number(value, digits) for value in limits[1:])] for name, limits in _LIMITS.items()
    ]


def _number(value: float, digits: int) -> str:
    """Return a small integer in full; else at most so many significant digits."""
    if value.is_integer() and abs(value) < 10**9:
        return str(int(value))
    return repr(value) if digits >= 17 else min(repr(value), f"{value:.{digits}g}", key=len)


def _with_policy(row: DumpedType, operators: Operators | None) -> DumpedType:
    policy = operators[row.name].entry.policy if operators and row.name in operators else None
    return replace(row, policy=policy, candidate=row.candidate and policy is not Policy.BLACK)


def tensors_answer(tensors: Sequence[DumpedTensor], by_type: Sequence[DumpedType], low: str) -> CommandAnswer:
    """:param by_type: the losses of files that are named after an operator; without any, a row for each file"""
    table = _operator_table(by_type) if by_type else _tensor_table(tensors)
    return CommandAnswer(
        lambda: headed("numerics", DumpedTensors(low, [tensor.row for tensor in tensors], by_type)),
        lambda: [table],
        notes=_candidates([row.name for row in by_type if row.candidate], low),
    )


def _candidates(names: Iterable[str], low: str) -> list[str]:
    """Return a line with distinct names, if there are any."""
    known = ", ".join(dict.fromkeys(names))
    return [f"candidates for the black list in {low}: {known}"] if known else []


def calls_answer(calls: Sequence[DumpedOperator], low: str) -> CommandAnswer:
    titles = ("largest", "overflow", "zero", "subnormal", "tensors")
    columns = [Column("operator"), Column("op type"), Column("policy", policy=True)]
    columns += [Column(title, number=True, spare=title == "tensors") for title in titles]
    rows: list[list[Cell]] = [
        [
            row.name,
            row.op_type or "-",
            str(row.policy or "-"),
            f"{row.largest:.4g}",
            *map(str, astuple(row.losses)),
            str(row.tensors),
            PathCell(row.worst),
        ]
        for row in calls
    ]
    table = Table([*columns, Column("worst call", spare=True)], rows, title=f"Tensors that overflow or vanish in {low}")
    notes = _candidates([row.op_type for row in calls if row.candidate and row.op_type], low)
    return CommandAnswer(lambda: headed("numerics", DumpedCalls(low, calls)), lambda: [table], notes=notes)


def _operator_table(by_type: Sequence[DumpedType]) -> Table:
    titles = ("overflow", "zero", "subnormal", "coarse", "files")
    columns = [Column("operator"), Column("policy", policy=True)]
    columns += [Column(title, number=True, spare=title in ("coarse", "files")) for title in titles]
    columns.append(Column("worst file", spare=True))
    rows: list[list[Cell]] = []
    fields = []
    for operator in by_type:
        counts = _shares(operator.losses, operator.values, "overflow", "zero", "subnormal", "coarse")
        front = [operator.name, str(operator.policy or "-"), *counts, str(operator.files)]
        rows.append([*front, PathCell(os.path.basename(operator.worst))])
        fields.append([*front, operator.worst])
    return Table(columns, rows, lambda: fields)


def _tensor_table(tensors: Sequence[DumpedTensor]) -> Table:
    titles = ("overflow", "subnormal", "zero", "coarse", "loss scale")
    columns = [Column("file"), Column("format"), *(Column(title, number=True) for title in titles)]
    rows: list[list[Cell]] = []
    fields = []
    for tensor in tensors:
        for name, losses in tensor.losses.items():
            scale, _ = tensor.loss_scale(FORMATS[name])
            shares = _shares(losses, tensor.values, "overflow", "subnormal", "zero", "coarse")
            cells = [name, *shares, f"2^{int(math.log2(scale))}" if scale else "-"]
            rows.append([PathCell(os.path.basename(tensor.path)), *cells])
            fields.append([tensor.path, *cells])
    return Table(columns, rows, lambda: fields)


def _shares(losses: FormatLosses, values: int, *outcomes: str) -> list[str]:
    """Return shares in percent; `0 %` only if the count is zero."""
    counts = [getattr(losses, outcome) for outcome in outcomes]
    return ["0 %" if not count else f"{count / values * 100:.3g} %" for count in counts]
