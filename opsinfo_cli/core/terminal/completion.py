"""What completion offers for the values of parameters."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import click
from click.shell_completion import CompletionItem

from ...errors import OpsinfoError
from ..cann.chips import known_folders
from ..cann.file_kind import FileKind
from ..cann.install import select_root, socs_of
from ..cann.mixlist import MixlistFile
from ..cann.target import Target, look_up, resolve, target_or_mixlist
from ..cann.targets.found import Found, TargetOptions


def starting_with(candidates: Callable[[], Iterable[str | CompletionItem]], begun: str) -> list[CompletionItem]:
    """Return candidates with this prefix; if there are none, those in another case, if all agree in the case."""
    try:
        items = [each if isinstance(each, CompletionItem) else CompletionItem(each) for each in candidates()]
    except Exception:  # a traceback must not appear in a line being typed
        return []
    # names of files that do something in a shell are left out
    items = [item for item in items if re.fullmatch(r"(?!-)[\w.:/-]*", item.value)]
    exact = [item for item in items if item.value.startswith(begun)]
    if exact:
        return exact
    others = [item for item in items if item.value.lower().startswith(begun.lower())]
    return others if len({item.value[: len(begun)] for item in others}) == 1 else []


def targets(_: click.Context, __: click.Parameter) -> Iterator[CompletionItem]:
    """Yield the chips of the environment's install; the parameter's type offers files."""
    yield from _socs_under(None)


_TARGETS = ("against", "target", "targets")


def socs(ctx: click.Context, _: click.Parameter) -> Iterator[CompletionItem]:
    """Yield the chips of the targets on the line; those that are known for a command without one."""
    if not any(param.name in _TARGETS for param in ctx.command.params):
        yield from (CompletionItem(soc, help="chip") for soc in known_folders())
        return
    values = [ctx.params.get(name) for name in _TARGETS]
    texts = [text for value in values if value for text in ([value] if isinstance(value, str) else value)]
    for text in texts or [None]:
        yield from _socs_under(text)


def _socs_under(target: str | None) -> Iterator[CompletionItem]:
    try:
        if target is not None and os.path.lexists(target):
            found, _ = look_up(target, TargetOptions(), os.environ)
            socs = found.list_socs() if isinstance(found, Found) and found.has_chips else []
        else:
            socs = socs_of(select_root(os.environ, "a chip").path)
    except OpsinfoError:  # files can be offered without CANN
        return
    yield from (CompletionItem(soc, help="chip") for soc in socs)


def operators(ctx: click.Context, _: click.Parameter) -> list[str]:
    """Return op types of the target on the line; for a mixlist those of ``--against``, else its own and those of the
    environment's CANN.
    """
    given: dict[str, Any] = ctx.params
    against = given.get("against")
    against = against[0] if isinstance(against, tuple) and against else against
    target = _open(given, against or given.get("target") or "", kind=None if against else given.get("kind"))
    names = set(target.mixlist.marks if isinstance(target, MixlistFile) else target.operators.names)
    if isinstance(target, MixlistFile):
        names.update(_of_environment())
    return sorted(names - set(given.get("ops") or ()))


def _open(given: dict[str, Any], text: str, kind: FileKind | None) -> Target | MixlistFile:
    customs = tuple(given.get("customs") or ())
    return target_or_mixlist(
        text, TargetOptions(kind, given.get("soc"), given.get("core") or "ai", customs), os.environ
    )


def _of_environment() -> Iterator[str]:
    try:
        root = select_root(os.environ, "a chip").path
        for soc in socs_of(root):
            yield from resolve(root, TargetOptions(soc=soc), os.environ).operators.names
    except OpsinfoError:
        return


def stores(ctx: click.Context, _: click.Parameter) -> list[str]:
    target = _open(ctx.params, ctx.params["target"], ctx.params.get("kind"))
    return [site.label for site in target.install.sites()] if isinstance(target, Target) and target.install else []


def precision_modes(_: click.Context, __: click.Parameter) -> Iterable[str]:
    from ..cann.precision_mode import MODES

    return MODES


def findings(_: click.Context, __: click.Parameter) -> Iterator[CompletionItem]:
    from ..check.rules import RULES
    from ..check.wording import wording

    for rule in RULES.values():
        yield CompletionItem(rule.name, help=rule.code)
        yield CompletionItem(rule.code, help=rule.name)
    yield from (CompletionItem(name, help="topic") for name in wording("en").topics)


def snippets(_: click.Context, __: click.Parameter) -> list[str]:
    from ..cann.snippet import snippet_names

    return snippet_names()


def changes(ctx: click.Context, _: click.Parameter) -> Iterator[CompletionItem]:
    """Yield the changes in the vault, newest first; with a target on the line those of its files."""
    from ..change.scope import scope_of
    from ..change.vault import Vault
    from ..change.vault_place import vault_path

    scope = scope_of(ctx.params.get("target"))
    for record in reversed(Vault(vault_path(ctx.params.get("backup_dir"), os.environ)).history().records):
        if not record.pruned and any(scope(file.path) for file in record.files):
            yield CompletionItem(record.id, help=f"{record.time} {record.kind}")


def backup_ids(ctx: click.Context, param: click.Parameter) -> Iterator[CompletionItem]:
    yield CompletionItem("pristine", help="the first content seen")
    yield from changes(ctx, param)
