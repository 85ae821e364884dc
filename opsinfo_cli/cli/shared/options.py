"""Options that several commands share, and what they become."""

from __future__ import annotations

import os
from collections.abc import Callable

from ...errors import UsageFault
from ...model.opp import CORES
from ...model.policy import Policy, policy_meant
from ...model.target import Options, Target, resolve
from ...report.terminal.output import Output
from ...text.source import read_standard_input
from ...typed import TYPE_CHECKING
from ..line import declare
from ..line.version import version_option

if TYPE_CHECKING:
    from typing import Any, TypeVar

    F = TypeVar("F", bound=Callable[..., Any])

__all__ = [
    "LIST",
    "against_option",
    "as_option",
    "core_option",
    "customs_option",
    "entry_options",
    "format_option",
    "given_names",
    "install_options",
    "lock_options",
    "match_option",
    "matches",
    "mixlist_option",
    "open_against",
    "open_target",
    "open_targets",
    "out_option",
    "output_of",
    "stacked",
    "talk_options",
    "target_options",
    "wait_option",
    "write_options",
]


def stacked(*decorators: Callable[[Any], Any]) -> Callable[[F], F]:
    """Several options as one decorator, shown in this order."""

    def decorate(function: F) -> F:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


LIST = declare.Choice([str(policy) for policy in Policy], meant=policy_meant)
"""White, black or gray."""


def talk_options(function: F) -> F:
    return stacked(
        version_option,
        declare.option(
            "--color", type=declare.Choice(["auto", "always", "never"]), default="auto", help="Use colours."
        ),
        declare.option("-q", "--quiet", is_flag=True, help="Say only what is wrong."),
        declare.option("-v", "--verbose", count=True, help="Say more."),
    )(function)


def format_option(*more: str) -> Callable[[F], F]:
    choice = declare.Choice(["text", "json", *more])
    return stacked(
        declare.option("--format", "format_", type=choice, default="text", show_default=True, help="Output format."),
        talk_options,
    )


against_option: Callable[[Any], Any] = declare.option(
    "--against", multiple=True, metavar="TARGET", help="A target the mixlist is for; repeatable."
)
as_option: Callable[[Any], Any] = declare.option(
    "--as",
    "kind",
    type=declare.Choice(["library", "mixlist"]),
    help="What a file is, where its text and name do not tell.",
)
out_option: Callable[[Any], Any] = declare.option(
    "-o", "--output", "out", metavar="FILE", help="Write to FILE instead of standard output."
)
match_option: Callable[[Any], Any] = declare.option(
    "--match", "globs", multiple=True, metavar="GLOB", help="Only names like this; repeatable."
)
mixlist_option: Callable[[Any], Any] = declare.option(
    "--mixlist", metavar="FILE", help="Show policies as this mixlist changes them."
)
core_option: Callable[[Any], Any] = declare.option(
    "--core",
    type=declare.Choice(CORES),
    default="ai",
    show_default=True,
    help="Operators of which engine: AI Core, vector core or DSA.",
)
customs_option: Callable[[Any], Any] = declare.option(
    "--custom",
    "customs",
    metavar="PATH",
    multiple=True,
    help="A custom operator package, as in ASCEND_CUSTOM_OPP_PATH; repeatable.",
)


def target_options(function: F) -> F:
    return stacked(as_option, install_options)(function)


def install_options(function: F) -> F:
    return stacked(
        declare.option("--soc", metavar="SOC", help="Which chip of an install."),
        core_option,
        customs_option,
    )(function)


def write_options(function: F) -> F:
    return stacked(
        declare.option("-n", "--dry-run", is_flag=True, help="Show what would change; write nothing."),
        declare.option("--check", is_flag=True, help="Write nothing; exit 1 where something would change."),
        lock_options,
    )(function)


def lock_options(function: F) -> F:
    return stacked(
        wait_option,
        declare.option(
            "--trust-folder",
            is_flag=True,
            help="As root, write also where another user may replace the file.",
        ),
        declare.option("--in-place", is_flag=True, help="Overwrite where a replace is impossible; not atomic."),
        backup_option,
    )(function)


def entry_options(function: F) -> F:
    return stacked(
        declare.option(
            "--store", metavar="NAME", help="Only this store of an install: built-in, vendor:<name> or env:<path>."
        ),
        declare.option("--force", is_flag=True, help="Edit a library's entry even where another file overrides it."),
    )(function)


wait_option: Callable[[Any], Any] = declare.option(
    "--wait",
    metavar="SECONDS",
    type=declare.FloatRange(min=0),
    default=30.0,
    show_default=True,
    help="How long to wait for a lock.",
)
backup_option: Callable[[Any], Any] = declare.option("--backup-dir", metavar="DIR", help="Where backups are kept.")


def given_names(words: tuple[str, ...]) -> tuple[str, ...]:
    """Op types from the command line, each once. They are UTF-8 whatever the locale is."""
    return tuple(dict.fromkeys(os.fsencode(word).decode("utf-8", "replace") for word in words))


def matches(name: str, globs: tuple[str, ...]) -> bool:
    """Whether a name is one that ``--match`` asks for; without it every one is."""
    if not globs:
        return True
    from fnmatch import fnmatchcase

    return any(fnmatchcase(name, glob) for glob in globs)


def output_of(command: str, talk: dict[str, Any], format_: str = "text") -> Output:
    return Output(command, format_, talk["color"], talk["quiet"], talk["verbose"], talk.get("out"))


def open_against(text: str, output: Output, options: dict[str, Any]) -> Target:
    """The target a mixlist is held against: --soc and the like are said of it.

    :raises UsageFault: where it is a mixlist itself
    """
    target = open_target(text, output, {**options, "kind": None})
    if target.kind == "mixlist":
        raise UsageFault("--against needs libraries, this is a mixlist", name="wrong-kind", path=text)
    return target


def open_targets(texts: tuple[str, ...], output: Output, options: dict[str, Any]) -> list[Target]:
    """The targets of a repeatable --against, with what a person should know before believing them."""
    from .mixlist_input import say_doubts

    targets = [open_against(text, output, options) for text in texts]
    for target in targets:
        say_doubts(target, output)
    return targets


def open_target(text: str, output: Output, options: dict[str, Any], stdin: bool = False) -> Target:
    """Resolve a TARGET and say how it was found."""
    data = read_standard_input() if text == "-" and stdin else None
    chosen = Options(
        kind=options.get("kind"),
        soc=options.get("soc"),
        core=options.get("core") or "ai",
        customs=tuple(options.get("customs") or ()),
        stdin=data,
    )
    if text == "-" and not stdin:
        raise UsageFault(
            "standard input can be read by list, show, validate and fmt only",
            hint=f"`opsinfo {output.command} --help` shows how it is used",
        )
    try:
        target = resolve(text, chosen, os.environ)
    except UsageFault as fault:
        if fault.hint and "soc_option" in options:
            fault.hint = fault.hint.replace("--soc", options["soc_option"])
        raise
    for note in target.notes:
        output.say(note)
    if target.install:
        output.detail(f"{text}: CANN {target.install.version or 'of unknown version'}, {target.soc}, in {target.path}")
        for site in target.install.sites():
            output.detail(
                f"  {site.label}: {site.directory}" + ("" if os.path.isdir(site.directory) else " (not there)")
            )
    else:
        output.detail(f"{text}: a {target.kind}")
    return target
