"""`opsinfo numerics`: show floating-point formats, and the losses of tensors in them."""

from __future__ import annotations

import os

import click

from ...core.cann.target import TargetOptions
from ...core.terminal.answer import Answer
from ...core.terminal.console import Console
from ...core.terminal.open import open_given, require_against
from ...core.terminal.params import TARGET, Choice, Command, Word, install_options, option, prints
from ...errors import UsageFault, counted
from ..numbers.calls import by_name, read_calls
from ..numbers.float_formats import FORMATS
from ..numbers.tensors import DumpedTensor, by_operator, dump_files, load_numpy, read_tensor
from .numerics_view import calls_answer, formats_answer, tensors_answer

_LOW = {"float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64"}
_LOW |= {name: name for name in FORMATS if name.startswith("fp8")}
"""Word of the option -> format."""
_MEANT = {name: word for word, name in _LOW.items()}
_TENSORS = Word("FILE.npy|DIR|dump.json", reads=True)


@click.command("numerics", cls=Command)
@click.argument("paths", nargs=-1, type=_TENSORS)
@option(
    "--low", type=Choice(_LOW, _MEANT.get), default="float16", show_default=True, help="Format to rank operators by."
)
@option("--against", type=TARGET, help="Show the policy of the dumped operators in this target.")
@install_options
@prints()
def command(paths: tuple[str, ...], low: str, against: str | None, options: TargetOptions, console: Console) -> Answer:
    """Show number formats: bits, largest value, smallest normal and subnormal value, epsilon.

    For a FILE.npy: the share of values that overflow, become subnormal, become zero or are rounded by more than 2^-11,
    and the loss scale that avoids it. Files named as Ascend dumps (OpType.opname.taskid.timestamp.output.N.npy) are
    grouped by op type, the worst first: the candidates for the black list. These files require numpy.

    For a dump.json of msprobe: the tensors of each operator that overflow or vanish, by their largest magnitude.

    \b
    Examples:
      opsinfo numerics
      opsinfo numerics dump/*.npy
      opsinfo numerics dump --against ascend910b --low bfloat16
      opsinfo numerics dump.json --against ascend910b
    """
    if not paths:
        if against:
            raise UsageFault("--against requires dumped tensors", hint="give .npy files, or a directory of them")
        require_against(options)
        return formats_answer()
    dumps = [path for path in paths if path.endswith(".json")]
    if dumps and len(dumps) < len(paths):
        raise UsageFault("dump.json and .npy files cannot be combined")
    target = open_given(against, console, options)
    operators = target.operators if target else None
    if dumps:
        calls = by_name((call for path in dumps for call in read_calls(path)), FORMATS[_LOW[low]])
        return calls_answer(calls, operators, _LOW[low])
    load_numpy()
    files = [file for path in paths for file in _files(path)]
    tensors = [tensor for path in files if (tensor := _read(path, console))]
    by_type = by_operator(tensors, _LOW[low])
    others = len(tensors) - sum(operator.files for operator in by_type)
    if by_type and others:
        subject = "1 file is" if others == 1 else f"{others} files are"
        console.warn(f"{subject} not named as a dump, so the operator is unknown")
    return tensors_answer(tensors, by_type, operators, _LOW[low])


def _files(path: str) -> list[str]:
    """:raises UsageFault: if the path names no file, or a folder without tensors"""
    if os.path.isdir(path):
        files = dump_files(path)
        if not files:
            raise UsageFault("the folder has no .npy files", name="no-files", path=path)
        return files
    if not os.path.lexists(path) and not path.endswith(".npy") and "/" not in path:
        hint = "give a .npy file or a folder of them; single numbers are no longer taken"
        raise UsageFault(f"`{path[:80]}` is not a file", name="not-a-file", hint=hint)
    return [path]


def _read(path: str, console: Console) -> DumpedTensor | None:
    tensor = read_tensor(path)
    if tensor is None:
        console.note(f"{path} has no floating-point values")
    elif tensor.not_finite:
        console.warn(f"{path}: already infinite or NaN: {counted(tensor.not_finite, 'value')}")
    return tensor
