"""Op types that are defined for several chips in one place: one of them is chosen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ....errors import UsageFault
from ...text.source import Source
from ..chips import folder_of, likeliest_chip, unknown_chip
from ..ini import is_ini
from ..library import Operators
from ..opdef.find import SUFFIXES, NotRead, is_source
from .found import FACTS, Found, OneChip, TargetKind, TargetOptions

if TYPE_CHECKING:
    from ...document import Unreadable


def what_defines(source: Source) -> str | None:
    """Return in words that a file is an OpDef source or an ini of opbuild; None if it is neither."""
    if source.path.endswith(SUFFIXES):
        return "an OpDef source" if is_source(source.data) else None
    return FACTS["ini"].phrase if is_ini(source.path, source.text) else None


def defined(
    kind: TargetKind,
    what: str,
    path: str,
    socs: Sequence[str],
    load: Callable[[str], Operators],
    options: TargetOptions,
    unreadable: Sequence[Unreadable] = (),
    not_declared: str | None = None,
    not_read: Sequence[NotRead] = (),
    stores: Callable[[str], Sequence[str]] = lambda _: (),
) -> Found:
    """
    :param what: that something there is, in words: "the folder has inis"; several chips follow
    :param load: returns the op types of one chip
    :param not_declared: what a hint says if no chip is declared, or not this one
    :param not_read: files that were passed over
    :param stores: returns the folders of libraries of one chip
    """

    def chip(soc: str | None) -> OneChip:
        """
        :raises UsageFault: if the chip is unknown, or not given and there are several
        """
        if options.core != "ai":
            raise UsageFault(f"it has no op types of the {options.core} core", name="wrong-kind", path=path)
        if not socs:
            message = f"no chip is declared: no AddConfig in {path}"
            raise UsageFault(message, name="no-chip", path=path, hint=not_declared)
        if soc is None and len(socs) > 1:
            message = f"{what} of {len(socs)} chips: {', '.join(socs)}"
            hint = f"name one, as in {path}@{likeliest_chip(socs)}"
            raise UsageFault(message, name="ambiguous-target", path=path, hint=hint)
        chosen = socs[0] if soc is None else folder_of(soc, list(socs))
        if chosen is None:
            error = unknown_chip(str(soc), socs, None, path)
            error.hint = "; ".join(filter(None, [error.hint, not_declared])) or None
            raise error
        unread = [each for each in unreadable if each.chip in (None, chosen)]
        folders = stores(chosen)
        return OneChip(lambda: load(chosen), chosen or None, unreadable=unread, not_read=not_read, folders=folders)

    return Found(kind, path, lambda: socs, chip)
