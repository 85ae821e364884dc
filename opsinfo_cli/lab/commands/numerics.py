"""`opsinfo numerics`: show floating-point formats, and the losses of tensors in them."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass

import click

from ...core.cann.library import Operators
from ...core.cann.policy import Policy
from ...core.cann.targets.found import TargetOptions
from ...core.document import Count, headed
from ...core.terminal.answer import Cell, Column, CommandAnswer, PathCell, Table
from ...core.terminal.config import Targeted, given_or_configured
from ...core.terminal.console import Console
from ...core.terminal.open import open_given, require_against
from ...core.terminal.params import TARGET, Choice, Word, install_options, option, prints
from ...errors import UsageFault, counted
from ..numbers.calls import CallLosses, TensorLosses, by_name, op_types_of, read_calls, spelled_as_types
from ..numbers.float_formats import FORMATS, HIF8
from ..numbers.single_values import SingleValue, single_value
from ..numbers.tensors import (
    DumpedTensor,
    FormatLosses,
    OperatorLosses,
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
class DumpedType:
    """The dumped tensors of one op type."""

    name: str
    """The op type."""
    policy: Policy | None
    """white: may be reduced. black: not reduced. gray: follows its producer. null: unknown."""
    files: int
    """Number of tensors."""
    values: Count
    """Number of values."""
    losses: FormatLosses
    """Number of affected values in the format of --low."""
    worst: str
    """The file with the largest losses."""
    candidate: bool
    """Whether values overflow or become zero and the op type is not on the black list."""


@dataclass(frozen=True)
class DumpedTensors:
    """The tensors in files."""

    low: str
    """The format that operators are ranked by."""
    tensors: list[TensorRow]
    """The tensors, one for each file."""
    operators: list[DumpedType]
    """Op types of the files that are named like Ascend dumps, worst first."""


@dataclass(frozen=True)
class DumpedOperator:
    """The calls of one operator, by the statistics of their floating-point tensors."""

    name: str
    """The operator: torch's name, or MindSpore's."""
    op_type: str | None
    """The op type that it runs, in the target if one is given; null: unknown."""
    policy: Policy | None
    """white: may be reduced. black: not reduced. gray: follows its producer. null: unknown."""
    calls: Count
    """Number of calls."""
    tensors: Count
    """Number of tensors that they read and yield."""
    losses: TensorLosses
    """Number of affected tensors in the format of --low."""
    largest: float | None
    """The largest absolute value; null: infinite or NaN."""
    worst: str
    """The call that loses most."""
    candidate: bool
    """Whether a tensor overflows or becomes zero and the op type is not on the black list."""


@dataclass(frozen=True)
class DumpedCalls:
    """The calls in files of msprobe."""

    low: str
    """The format that operators are ranked by."""
    calls: list[DumpedOperator]
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
        calls = by_name((call for path in dumps for call in read_calls(path)), FORMATS[_LOW[low]])
        return calls_answer(calls, operators, _LOW[low])
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
    by_type = by_operator(tensors, _LOW[low])
    others = len(tensors) - sum(operator.files for operator in by_type)
    if by_type and others:
        subject = "1 file is" if others == 1 else f"{others} files are"
        console.warn(f"{subject} not named as a dump, so the operator is unknown")
    return tensors_answer(tensors, by_type, operators, _LOW[low])


_LIMITS = {**{name: known.limits for name, known in FORMATS.items()}, "hif8": HIF8}


def formats_answer() -> CommandAnswer:
    titles = ("bits", "largest", "least normal", "least subnormal", "epsilon")
    columns = [Column("format"), *(Column(title, number=True) for title in titles)]
    table = Table(columns, _format_rows(5), lambda: _format_rows(17))
    document = Formats([FormatRow(name, *limits) for name, limits in _LIMITS.items()])
    note = "hif8: limits of its published encoding; its precision falls from 3 bits near 1 to 1 bit"
    return CommandAnswer(lambda: headed("numerics", document), lambda: [table], notes=[note])


def values_answer(values: Sequence[SingleValue]) -> CommandAnswer:
    titles = ("bits", "nearest", "relative error", "becomes", "loss scale")
    columns = [Column("number"), Column("format"), *(Column(title, number=title != "becomes") for title in titles)]

    def rows(digits: int) -> list[list[str]]:
        return [
            [
                value.text,
                known.name,
                known.bits,
                "-" if known.nearest is None else _number(known.nearest, digits),
                "-" if known.relative_error is None else f"{known.relative_error:.3g}",
                known.outcome,
                f"2^{int(math.log2(known.loss_scale))}" if known.loss_scale else "-",
            ]
            for value in values
            for known in value.formats
        ]

    table = Table(columns, rows(9), lambda: rows(17))
    return CommandAnswer(lambda: headed("numerics", SingleValues(values)), lambda: [table])


def _format_rows(digits: int) -> list[list[str]]:
    return [
        [name, str(limits.bits), *(_number(value, digits) for value in limits[1:])] for name, limits in _LIMITS.items()
    ]


def _number(value: float, digits: int) -> str:
    """Return a small integer in full; else at most so many significant digits."""
    if value.is_integer() and abs(value) < 10**9:
        return str(int(value))
    return repr(value) if digits >= 17 else min(repr(value), f"{value:.{digits}g}", key=len)


def tensors_answer(
    tensors: Sequence[DumpedTensor], by_type: Sequence[OperatorLosses], operators: Operators | None, low: str
) -> CommandAnswer:
    """:param by_type: the losses of files that are named after an operator; without any, a row for each file"""
    policies: dict[str, Policy | None] = {
        operator.type: operators[operator.type].entry.policy if operators and operator.type in operators else None
        for operator in by_type
    }
    candidates = [
        operator for operator in by_type if operator.is_candidate and policies[operator.type] is not Policy.BLACK
    ]
    table = _operator_table(by_type, policies) if by_type else _tensor_table(tensors)

    def document() -> DumpedTensors:
        types = [
            DumpedType(
                operator.type,
                policies[operator.type],
                operator.files,
                operator.values,
                operator.losses,
                operator.worst,
                operator in candidates,
            )
            for operator in by_type
        ]
        return DumpedTensors(low, [tensor.row for tensor in tensors], types)

    notes = _candidates([operator.type for operator in candidates], low)
    return CommandAnswer(lambda: headed("numerics", document()), lambda: [table], notes=notes)


def _candidates(names: Iterable[str], low: str) -> list[str]:
    """Return a line with distinct names, if there are any."""
    known = ", ".join(dict.fromkeys(names))
    return [f"candidates for the black list in {low}: {known}"] if known else []


def calls_answer(calls: Sequence[CallLosses], operators: Operators | None, low: str) -> CommandAnswer:
    """:param calls: the losses of each operator, from the statistics of its calls"""
    types: dict[str, str | None] = {}
    for operator in calls:  # the first type that the target has, else the first known one
        known = op_types_of(operator.name)
        here = (op for op in (*known, *spelled_as_types(operator.name)) if operators and op in operators)
        types[operator.name] = next(iter((*here, *known)), None)
    policies = {
        name: operators[op].entry.policy if operators and op and op in operators else None for name, op in types.items()
    }
    candidates = [row for row in calls if row.is_candidate and policies[row.name] is not Policy.BLACK]
    titles = ("largest", "overflow", "zero", "subnormal", "tensors")
    columns = [Column("operator"), Column("op type"), Column("policy", policy=True)]
    columns += [Column(title, number=True, spare=title == "tensors") for title in titles]
    rows: list[list[Cell]] = [
        [
            operator.name,
            types[operator.name] or "-",
            str(policies[operator.name] or "-"),
            f"{operator.largest:.4g}",
            *map(str, astuple(operator.losses)),
            str(operator.tensors),
            PathCell(operator.worst),
        ]
        for operator in calls
    ]
    table = Table([*columns, Column("worst call", spare=True)], rows, title=f"Tensors that overflow or vanish in {low}")

    def document() -> DumpedCalls:
        operators = [
            DumpedOperator(
                row.name,
                types[row.name],
                policies[row.name],
                row.calls,
                row.tensors,
                row.losses,
                row.largest,
                row.worst,
                row in candidates,
            )
            for row in calls
        ]
        return DumpedCalls(low, operators)

    notes = _candidates([op for operator in candidates if (op := types[operator.name])], low)
    return CommandAnswer(lambda: headed("numerics", document()), lambda: [table], notes=notes)


def _operator_table(by_type: Sequence[OperatorLosses], policies: dict[str, Policy | None]) -> Table:
    columns = [Column("operator"), Column("policy", policy=True), Column("overflow", number=True)]
    columns += [
        Column("zero", number=True),
        Column("subnormal", number=True),
        Column("coarse", number=True, spare=True),
    ]
    columns += [Column("files", number=True, spare=True), Column("worst file", spare=True)]
    rows: list[list[Cell]] = []
    fields = []
    for operator in by_type:
        counts = _shares(operator.losses, operator.values, "overflow", "zero", "subnormal", "coarse")
        front = [operator.type, str(policies[operator.type] or "-"), *counts, str(operator.files)]
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
