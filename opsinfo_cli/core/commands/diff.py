"""`opsinfo diff`: compare two or more targets, or two mixlists."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from ...errors import UsageFault, quoted
from ..cann.policy import Policy
from ..cann.target import Target, TargetOptions
from ..compare import (
    Difference,
    Policies,
    diff,
    difference,
    mixlist_for,
    policies_by_name,
    policies_of,
    section_differences,
    unread_in,
)
from ..terminal.answer import Answer
from ..terminal.console import Console
from ..terminal.open import accepted_mixlist, open_chips, report_doubts, report_no_match, report_unknown
from ..terminal.params import (
    FILE,
    LIST,
    SOC,
    TARGET,
    Command,
    bundle,
    core_option,
    custom_option,
    match_option,
    matches,
    option,
    prints,
)
from .differences_view import difference_answer, matrix_answer

if TYPE_CHECKING:
    from ..cann.mixlist import Mixlist
    from ..compare import SectionDifference


@click.command("diff", cls=Command)
@click.argument("targets", nargs=-1, required=True, type=TARGET, metavar="A [B]...")
@option("--mixlist-a", type=FILE, help="Compare A after applying this mixlist.")
@option("--mixlist-b", type=FILE, help="Compare B after applying this mixlist.")
@option("--mixlist", type=FILE, help="Compare all targets after applying this mixlist.")
@option("--sections", is_flag=True, help="Of two targets: also compare fields inside each entry.")
@option("--only-in", type=FILE, help="Only operators that this mixlist names.")
@option("--on", "lists", multiple=True, type=LIST, help="Only operators on this list in any target; repeatable.")
@match_option
@option("--differing", is_flag=True, help="Of more than two targets: leave out operators that agree.")
@option("--soc", "socs", type=SOC, multiple=True, help="Only this chip of each install; repeatable; as TARGET@SOC.")
@bundle("options", TargetOptions, core_option, custom_option)
@prints("mixlist", "html", out=True)
def command(
    targets: tuple[str, ...],
    mixlist_a: str | None,
    mixlist_b: str | None,
    mixlist: str | None,
    sections: bool,
    only_in: str | None,
    lists: tuple[str, ...],
    globs: tuple[str, ...],
    differing: bool,
    socs: tuple[str, ...],
    options: TargetOptions,
    console: Console,
) -> Answer:
    """Compare the policies of targets, or the marks of two mixlists. Exit status 1 if they differ.

    Of two targets, a terminal shows the changes grouped by kind, the worst first; --format mixlist prints the mixlist
    that gives the operators of A the policies they have in B. Of more targets, or of an install with several chips, it
    shows a table of operators by target.

    \b
    Examples:
      opsinfo diff ascend910 ascend910b
      opsinfo diff $ASCEND_OPP_PATH --differing
      opsinfo diff old/opp@ascend910 ascend910 --only-in ops_info.json
      opsinfo diff ascend910b ascend910 --format mixlist
    """
    _require_targets(targets)
    opened = [target for text in targets for target in open_chips(text, console, options, socs)]
    if socs and not any(target.install or target.definitions for target in opened):
        raise UsageFault("--soc requires an install", hint="leave out --soc")
    is_matrix = len(opened) > 2 or len(targets) == 1
    _require_alike(opened)
    _require_fitting(opened, is_matrix, console, mixlist_a or mixlist_b, mixlist, sections)
    only = accepted_mixlist(only_in, console) if only_in else None
    if opened[0].kind == "mixlist":
        a, b = opened
        marks = diff(a.mixlist, b.mixlist, named=_names(None, only, lists, globs))
        return difference_answer(a, b, marks, None)
    for target in opened:
        report_doubts(target, console)
    everywhere = accepted_mixlist(mixlist, console) if mixlist else None
    if is_matrix:
        policies = policies_by_name([policies_of(target.operators, everywhere) for target in opened])
        names = _names(policies, only, lists, globs)
        shown = {name: each for name, each in policies.items() if names is None or name in names}
        if policies and not shown:
            report_no_match(console, len(policies), {"--on": lists, "--match": globs, "--only-in": only_in})
        return matrix_answer(opened, shown, len(policies), mixlist, differing)
    a, b = opened
    applied = [_applied(path, target, console) or everywhere for path, target in ((mixlist_a, a), (mixlist_b, b))]
    both = [policies_of(target.operators, each) for target, each in zip(opened, applied, strict=True)]
    named = _names(policies_by_name(both), only, lists, globs)
    if only:
        _report_in_neither(only, a, b, console)
    if console.format == "mixlist":  # it generates, so its exit status is not that of a comparison
        return _port(policies_of(a.operators), both[1], named, unread_in(a, b), console)
    inside = _inside(a, b, named) if sections else None
    return difference_answer(a, b, difference(both[0], both[1], named, unread_in(a, b)), inside)


def _require_targets(targets: Sequence[str]) -> None:
    """:raises UsageFault: if a target is another system"""
    for text in targets:
        if not os.path.lexists(text):  # the table of systems is imported only if it is needed
            from ...systems.registry import names_system

            if names_system(text):
                hint = f"`opsinfo systems diff {quoted(*targets)}` compares them"
                raise UsageFault(f"{text} is another system", hint=hint)


def _require_alike(targets: Sequence[Target]) -> None:
    """:raises UsageFault: if there is nothing to compare, or something other than two mixlists or no mixlist"""
    if len(targets) == 1:
        hint = f"`opsinfo list {quoted(targets[0].text)}` shows its operators"
        raise UsageFault("one target has nothing to be compared with", hint=hint)
    mixlists = [target for target in targets if target.kind == "mixlist"]
    if not mixlists or len(mixlists) == len(targets) == 2:
        return
    if len(targets) == 2:
        a, b = targets
        other = next(target for target in targets if target.kind != "mixlist")
        twice = quoted(other.text, other.text)
        hint = f"`opsinfo diff {twice} --mixlist-b {quoted(mixlists[0].text)}` shows what the mixlist changes"
        raise UsageFault(f"A is {a.phrase}, B is {b.phrase}; they cannot be compared", name="wrong-kind", hint=hint)
    raise UsageFault(
        "a mixlist has marks, not policies",
        name="wrong-kind",
        path=mixlists[0].path,
        hint="--mixlist FILE applies it to the targets",
    )


def _require_fitting(
    targets: Sequence[Target],
    is_matrix: bool,
    console: Console,
    one_mixlist: str | None,
    mixlist: str | None,
    sections: bool,
) -> None:
    """:raises UsageFault: if an option is for other targets"""
    is_port = console.format == "mixlist"
    if targets[0].kind == "mixlist" and (sections or one_mixlist or mixlist or is_port):
        raise UsageFault("--sections, --mixlist-a, --mixlist-b and --format mixlist compare libraries, not mixlists")
    if is_matrix and (sections or one_mixlist or is_port):
        words = "--sections, --mixlist-a, --mixlist-b and --format mixlist"
        raise UsageFault(f"{words} compare two targets, A and B", hint="choose chips as A@SOC B@SOC")


def _names(
    policies: dict[str, Policies] | None, only: Mixlist | None, lists: Sequence[str], globs: Sequence[str]
) -> frozenset[str] | None:
    """Return the op types that the options leave; None for all."""
    if only is None and not lists and not globs:
        return None
    names = frozenset(only.marks) if only is not None else None
    if policies is None:
        return names
    return frozenset(
        name
        for name, each in policies.items()
        if (names is None or name in names)
        and (not lists or any(policy is not None and str(policy) in lists for policy in each))
        and matches(name, globs)
    )


def _applied(path: str | None, target: Target, console: Console) -> Mixlist | None:
    mixlist = accepted_mixlist(path, console) if path else None
    if mixlist is not None:
        report_unknown(mixlist, target.operators, console)
    return mixlist


def _inside(a: Target, b: Target, named: frozenset[str] | None) -> list[SectionDifference]:
    """:raises UsageFault: if a target is a snapshot"""
    for target in (a, b):
        if target.snapshot:
            message, hint = "a snapshot does not have all sections", "compare the installs themselves"
            raise UsageFault(message, name="wrong-kind", path=target.path, hint=hint)
    return [each for each in section_differences(a.operators, b.operators) if named is None or each.name in named]


def _report_in_neither(only: Mixlist, a: Target, b: Target, console: Console) -> None:
    missing = sorted(name for name in only.marks if name not in a.operators and name not in b.operators)
    if missing:
        console.warn(f"{len(missing)} op types of the mixlist are in neither target: {', '.join(missing)}")


def _port(
    library: dict[str, Policy],
    wanted: dict[str, Policy],
    named: frozenset[str] | None,
    unread: frozenset[str],
    console: Console,
) -> Answer:
    if named is not None:
        wanted = {name: policy for name, policy in wanted.items() if name in named}
    missing: Difference[Any] = difference(library, wanted, named, unread)
    for names, side, other in ((missing.only_in_b, "B", "A"), (missing.only_in_a, "A", "B")):
        if names:
            effect = "cannot be ported" if side == "B" else "keep their policy"
            console.warn(f"{len(names)} op types of {side} are not in {other} and {effect}; -v names them")
            console.detail(f"in {side} only: {', '.join(names)}")
    text = json.dumps(mixlist_for(library, wanted), indent=2, ensure_ascii=False) + "\n"
    return Answer(dict, texts={"mixlist": lambda: text})
