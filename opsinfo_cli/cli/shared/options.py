"""Options that several commands share, and their frozen values."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from ...model.install import CORES
from ...model.policy import Policy, policy_meant
from ...model.target import TargetOptions
from ..line import declare
from .common_options import OUTPUT, WRITE, Option, dry_run_option, wait_option

if TYPE_CHECKING:
    from .common_options import Option


class EntryOptions(NamedTuple):
    """The choice of entries to change.

    :param store: the label of a store; None for all
    :param force: whether to edit an entry that another file overrides
    """

    store: str | None = None
    force: bool = False


LIST = declare.Choice([str(policy) for policy in Policy], meant=policy_meant)
"""White, black or gray."""

TARGET = declare.Group("options", TargetOptions)
_ENTRY = declare.Group("entries", EntryOptions)

against_option: Option = declare.option(
    "--against", multiple=True, metavar="TARGET", help="A target the mixlist is for; repeatable."
)
as_option: Option = declare.option(
    "--as",
    "kind",
    type=declare.Choice(["library", "mixlist"]),
    help="Force the file kind if it cannot be detected.",
    group=TARGET,
)
out_option: Option = declare.option(
    "-o", "--output", "out", metavar="FILE", help="Write to FILE instead of standard output.", group=OUTPUT, writes=()
)
match_option: Option = declare.option(
    "--match", "globs", multiple=True, metavar="GLOB", help="Only operators whose name matches GLOB; repeatable."
)
mixlist_option: Option = declare.option("--mixlist", metavar="FILE", help="Show policies after applying this mixlist.")
soc_option: Option = declare.option(
    "--soc", metavar="SOC", help="Chip to use, if the install has several.", group=TARGET
)
against_soc_option: Option = declare.option(
    "--soc", metavar="SOC", help="Chip to use, if the install given with --against has several.", group=TARGET
)
core_option: Option = declare.option(
    "--core",
    type=declare.Choice(CORES),
    default="ai",
    show_default=True,
    help="Engine: AI Core, vector core or DSA.",
    group=TARGET,
)
customs_option: Option = declare.option(
    "--custom",
    "customs",
    metavar="PATH",
    multiple=True,
    help="A custom operator package, as in ASCEND_CUSTOM_OPP_PATH; repeatable.",
    group=TARGET,
)
pager_option: Option = declare.option(
    "--no-pager", is_flag=True, help="Do not page output that is longer than the terminal.", group=OUTPUT
)
install_options: Option = declare.stacked(soc_option, core_option, customs_option)
target_options: Option = declare.stacked(as_option, install_options)

backup_option: Option = declare.option(
    "--backup-dir", metavar="DIR", help="Directory for backups.", group=WRITE, advanced=True
)
lock_options: Option = declare.stacked(
    wait_option,
    declare.option(
        "--in-place",
        is_flag=True,
        help="Overwrite the file if it cannot be replaced atomically.",
        advanced=True,
        group=WRITE,
    ),
    declare.option(
        "--trust-folder",
        is_flag=True,
        help="As root, also write files that another user may replace.",
        group=WRITE,
        advanced=True,
    ),
    backup_option,
)
write_options: Option = declare.stacked(
    dry_run_option,
    declare.option("--check", is_flag=True, help="Write nothing; exit 1 if anything would change.", group=WRITE),
    lock_options,
)
entry_options: Option = declare.stacked(
    declare.option(
        "--store",
        metavar="NAME",
        help="Only this store of an install: built-in, vendor:<name> or env:<path>.",
        group=_ENTRY,
    ),
    declare.option("--force", is_flag=True, help="Edit the entry even if another file overrides it.", group=_ENTRY),
)


def given_names(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return distinct op types from the command line, decoded as UTF-8 in any locale."""
    return tuple(dict.fromkeys(os.fsencode(word).decode("utf-8", "replace") for word in words))


def matches(name: str, globs: tuple[str, ...]) -> bool:
    """Return whether a name matches a pattern of ``--match``; without patterns every name matches.

    A pattern without a capital letter matches capitals too.
    """
    if not globs:
        return True
    from fnmatch import fnmatchcase

    return any(fnmatchcase(name if _has_capital(glob) else name.lower(), glob) for glob in globs)


def _has_capital(glob: str) -> bool:
    """Return whether a pattern is case-sensitive, as in ripgrep's smart case."""
    return glob != glob.lower()
