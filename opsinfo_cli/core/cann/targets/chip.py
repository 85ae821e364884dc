"""The name of a chip, in the install that the environment selects."""

from __future__ import annotations

from ..chips import note_of
from ..install import Install, environment_customs, select_root
from .found import Found, Named, OneChip, TargetOptions, require_no_soc
from .install import of_install


def may_be_chip(text: str) -> bool:
    """Return whether text that is no path may name a chip: no chip has a slash or the ending of a file."""
    return "/" not in text and "." not in text


def recognise(named: Named, options: TargetOptions) -> Found | None:
    """Text that names no file or folder."""
    text, environ = named.path, named.environ
    if named.is_read or not may_be_chip(text):
        return None
    root = select_root(environ, f"no such file or directory: `{text}`")
    install = Install.open(root.path, text, options.core, [*options.customs, *environment_customs(environ)])
    notes = note_of(text, install.soc)
    if root.by == "usual folder":
        notes = [f"using {root.path}, found in a usual folder; ASCEND_OPP_PATH is not set", *notes]

    def chip(soc: str | None) -> OneChip:
        require_no_soc(text, soc)
        return of_install(install, notes)

    return Found("install", root.path, list_socs=list, open=chip)  # an empty list: the chip is named already
