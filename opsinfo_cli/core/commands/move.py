"""`opsinfo move`: put op types on a list, by the flag in a library or by marks in a mixlist."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

import click

from ...errors import Refused, UsageFault, quoted
from ...opening import near_file
from ..cann.mixlist import MixlistFile
from ..cann.policy import Policy
from ..cann.target import Target
from ..cann.targets.found import TargetOptions
from ..change.move import Movable, move_operators
from ..terminal.answer import CommandAnswer
from ..terminal.config import Targeted, given_or_configured, too_many_configured
from ..terminal.console import Console
from ..terminal.open import open_against, open_target_or_mixlist, require_against
from ..terminal.params import (
    GLOB,
    LIST,
    OP,
    TARGET,
    WriteOptions,
    create_option,
    given_names,
    option,
    prints,
    reason_option,
    store_option,
    target_options,
    write_options,
)
from ..terminal.write import answer_of_target, report_change, settings_of
from ..text.source import Source, read_standard_input


@click.command("move", cls=Targeted)
@click.argument("target", type=TARGET)
@click.argument("ops", nargs=-1, type=OP)
@option("--to", type=LIST, help="The list to put the operators on.")
@option("--match", "globs", type=GLOB, multiple=True, help="Also the operators whose name matches GLOB; repeatable.")
@option(
    "--against",
    type=TARGET,
    multiple=True,
    help="For a mixlist: a target with the names and policies; repeatable: a mark is written if any of them needs it.",
)
@option("--pin", is_flag=True, help="For a mixlist: write the mark even if the target already agrees.")
@option("--ignore-unknown", is_flag=True, help="Leave out operators that the target lacks, with a warning.")
@create_option
@store_option
@target_options
@write_options(reason_option)
@prints()
def command(
    target: str,
    ops: tuple[str, ...],
    to: str | None,
    globs: tuple[str, ...],
    against: tuple[str, ...],
    pin: bool,
    ignore_unknown: bool,
    create: bool,
    store: str | None,
    options: TargetOptions,
    writing: WriteOptions,
    console: Console,
) -> CommandAnswer:
    """Put operators on a list.

    In a library, the precision_reduce flag is set, added or removed; no other byte changes.
    In a mixlist, the operators get the marks they need; with --against, only marks that change the target.

    An OP `-` reads standard input: lines with an operator, or with a list and an operator (`black SoftmaxV2`). Blank
    lines and lines that begin with # are left out.

    \b
    Examples:
      opsinfo move ops_info.json SoftmaxV2 --to black --against ascend910b --create
      opsinfo move ascend910b SwiGlu --to black --dry-run
      opsinfo move ops_info.json MatMulV2 SoftmaxV2 --to gray --against ascend910b
      opsinfo move ops_info.json Add --to white --against ascend910 --against ascend910b
      opsinfo move ops_info.json --match 'Softmax*' --to black --against ascend910b
    """
    if pin and not against:
        raise UsageFault("--pin requires a mixlist and --against")
    if not ops and not globs:
        raise UsageFault("no operator is given", hint="name operators, or use --match GLOB, or - for standard input")
    if to is None and (globs or any(name != "-" for name in ops)):
        raise _no_list()
    result = move_operators(
        open_movable(target, against, create, options, console),
        _asked(given_names(ops), to),
        to,
        globs,
        pin=pin,
        store=store,
        ignore_unknown=ignore_unknown,
        say=console.warn,
        settings=settings_of(writing),
    )
    already = "already so" if to is None else f"already {to}"
    notes = [f"{already}: {', '.join(result.stayed)}"] if result.stayed else []
    return answer_of_target(report_change(result, writing, console), target, writing, console, notes=notes)


def _asked(names: Sequence[str], to: str | None) -> dict[str, Policy]:
    """Return the operators of the line and of standard input, each with its list.

    :raises UsageFault: if a list is missing, an operator has two, or a line is wrong
    :raises Damaged: if standard input is not UTF-8
    """
    asked: dict[str, Policy] = {}
    for name in names:
        given: Iterable[tuple[str, Policy, int | None]] = (
            _lines(Source(read_standard_input(), "-").text, to) if name == "-" else [(name, _list_of(to), None)]
        )
        for op, policy, number in given:
            if asked.setdefault(op, policy) is not policy:
                raise UsageFault(f"`{op}` has two lists", name="bad-line", path="-", line=number)
    return asked


def _lines(text: str, to: str | None) -> Iterator[tuple[str, Policy, int]]:
    """Yield the operator, the list and the number of lines `NAME` or `LIST NAME`.

    :raises UsageFault: at the first line that is neither
    """
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        policy = _list_of(to) if len(words) == 1 else next((each for each in Policy if each.value == words[0]), None)
        if policy is None or len(words) > 2:
            hint = "a line is an operator, or a list and an operator: `black SoftmaxV2`"
            raise UsageFault(f"`{line.strip()}` is no such line", name="bad-line", path="-", line=number, hint=hint)
        yield words[-1], policy, number


def _list_of(to: str | None) -> Policy:
    if to is None:
        raise _no_list()
    return Policy(to)


def _no_list() -> UsageFault:
    return UsageFault("--to is required for operators without a list", hint="add --to white, black or gray")


def open_movable(text: str, against: Sequence[str], create: bool, options: TargetOptions, console: Console) -> Movable:
    """Open a TARGET whose operators are moved, and report doubts about it.

    :param create: whether a file that does not exist is a new mixlist
    :raises UsageFault: if an option does not fit its kind
    """
    target = text if create and not os.path.lexists(text) else _opened(text, options, console)
    if isinstance(target, str) or target.kind == "mixlist":
        if not against:
            require_against(options)
            if note := too_many_configured("against"):
                console.note(note)
    else:
        against = given_or_configured("against", against, False) or ()
    return Movable.of(target, [open_against(each, console, options) for each in against], create, console.warn)


def _opened(text: str, options: TargetOptions, console: Console) -> Target | MixlistFile:
    try:
        return open_target_or_mixlist(text, console, options)
    except Refused as refused:
        if not os.path.lexists(text):
            made = f"`opsinfo move {quoted(text)} OP --to LIST --create` makes a new mixlist"
            refused.hint = " ".join(filter(None, (near_file(text), made)))
        raise
