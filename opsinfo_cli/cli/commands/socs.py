"""`opsinfo socs`: list installs, versions and chips, and the one that the environment selects."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...errors import OpsinfoError, UsageFault
from ...model.install import Install, Root, environment_root, opp_root, products_of, socs_of, usual_roots, version_of
from ...report.escape import row, visible
from ...report.terminal.output import Output
from ...report.terminal.places import Words, shortened
from ..line import declare
from ..shared.common_options import OutputOptions, format_option, output_of
from ..shared.options import pager_option

if TYPE_CHECKING:
    from typing import Any


@dataclass(frozen=True)
class Found:
    """An install, and whether the environment selects it."""

    root: Root
    selected: bool

    @property
    def version(self) -> str | None:
        return version_of(self.root.path)

    @property
    def socs(self) -> list[tuple[str, int | None]]:
        """Chips with their number of op types; None if a store does not load."""
        return [(soc, self._count(soc)) for soc in socs_of(self.root.path)]

    def _count(self, soc: str) -> int | None:
        try:
            return len(Install(self.root.path, soc).operators.names)
        except OpsinfoError:
            return None


@declare.command("socs")
@declare.argument("roots", nargs=-1, metavar="[ROOT]...")
@pager_option
@format_option()
def command(roots: tuple[str, ...], printing: OutputOptions) -> int:
    """List installs with version and chips: those of the environment and the usual directories, or ROOT.

    \b
    Examples:
      opsinfo socs
      opsinfo socs /usr/local/Ascend/ascend-toolkit/8.1.RC1
    """
    output = output_of("socs", printing)
    found = [_given(root) for root in roots] if roots else _looked_for()
    if output.format == "json":
        output.document({"installs": [_document(each) for each in found]})
    else:
        with output.paged():
            for each in found:
                output.lines(_block(output, each) if output.on_terminal else _lines(each))
    if not found:
        output.tell("no CANN found; set ASCEND_OPP_PATH, or give the root of an install", prose=True)
    return 0


def _given(path: str) -> Found:
    root = opp_root(path)
    if root is None:
        raise UsageFault(
            "not an operator package", name="wrong-kind", path=path, hint="its root has `built-in/op_impl`"
        )
    selected = environment_root(os.environ)
    same = selected is not None and os.path.realpath(selected.path) == os.path.realpath(root)
    return Found(Root(root, "given"), same)


def _looked_for() -> list[Found]:
    selected = environment_root(os.environ)
    found = [Found(selected, True)] if selected else []
    known = {os.path.realpath(each.root.path) for each in found}
    return found + [Found(each, False) for each in usual_roots(os.environ) if os.path.realpath(each.path) not in known]


def _block(output: Output, found: Found) -> list[str]:
    """Return the text about one install; `*` marks the one that the environment selects."""
    real = os.path.realpath(found.root.path)
    lines = [f"{'*' if found.selected else ' '} {shortened(visible(found.root.path), output.columns - 2)}"]
    if real != os.path.abspath(found.root.path):
        lines.append(f"    -> {shortened(visible(real), output.columns - 7)}")
    by = {"given": "", "usual folder": ", found in a usual folder"}.get(found.root.by, f", found by {found.root.by}")
    lines.append(f"    CANN {visible(found.version or 'of unknown version')}{by}")
    for soc, count in found.socs:
        number = "does not load" if count is None else f"{count} op types"
        head = f"    {visible(soc):<14} {number:<14} "
        line = head + Words(tuple(products_of(soc)), ", ").within(output.columns - len(head))
        lines.append((line if len(line) <= output.columns else head).rstrip(" "))
    return lines


def _lines(found: Found) -> list[str]:
    """Return `soc, op types, version, root, real path, found by, products`; `*` marks the selected install."""
    real = os.path.realpath(found.root.path)
    mark = "*" if found.selected else "-"
    lines = []
    for soc, count in found.socs:
        number = "fails" if count is None else str(count)
        products = ",".join(products_of(soc)) or "-"
        lines.append(row(soc, number, found.version or "-", found.root.path, real, mark, found.root.by, products))
    return lines


def _document(found: Found) -> dict[str, Any]:
    return {
        "path": found.root.path,
        "real_path": os.path.realpath(found.root.path),
        "version": found.version,
        "selected": found.selected,
        "found_by": found.root.by,
        "socs": [{"name": soc, "products": products_of(soc), "operators": count} for soc, count in found.socs],
    }
