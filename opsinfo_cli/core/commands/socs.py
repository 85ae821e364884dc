"""`opsinfo socs`: list installs, versions and chips, and the one that the environment selects."""

from __future__ import annotations

import os

import click

from ...errors import UsageFault
from ..cann.install import Root, environment_root, opp_root, usual_roots
from ..terminal.answer import Answer
from ..terminal.console import Console
from ..terminal.params import Command, Word, lazily, prints
from .socs_view import InstallFound, socs_answer


@click.command("socs", cls=Command)
@click.argument("roots", nargs=-1, type=Word("ROOT", lazily("targets"), reads=True), metavar="[ROOT]...")
@prints()
def command(roots: tuple[str, ...], console: Console) -> Answer:
    """List installs with version and chips: those of the environment and the usual directories, or ROOT.

    \b
    Examples:
      opsinfo socs
      opsinfo socs $ASCEND_OPP_PATH
    """
    return socs_answer([_given(root) for root in roots] if roots else _looked_for())


def _given(path: str) -> InstallFound:
    root = opp_root(path)
    if root is None:
        raise UsageFault(
            "not an operator package", name="wrong-kind", path=path, hint="its root has `built-in/op_impl`"
        )
    selected = environment_root(os.environ)
    same = selected is not None and os.path.realpath(selected.path) == os.path.realpath(root)
    return InstallFound.of(Root(root, "given"), same)


def _looked_for() -> list[InstallFound]:
    selected = environment_root(os.environ)
    known = os.path.realpath(selected.path) if selected else None
    others = [root for root in usual_roots(os.environ) if os.path.realpath(root.path) != known]
    return [InstallFound.of(root, root is selected) for root in [*[selected] * bool(selected), *others] if root]
