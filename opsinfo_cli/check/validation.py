"""The validation of files, stores and trees, as in ``opsinfo validate``."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..model.target import Target
from .checker import Checker
from .finding import Outcome
from .mixlist_operators import MixlistTarget
from .path_checks import Step, check_paths

if TYPE_CHECKING:
    from .model import CheckedModel


def validate(
    *paths: str | os.PathLike[str],
    against: Iterable[str | Target] = (),
    modes: Iterable[str] = (),
    models: Iterable[str] = (),
    kind: str | None = None,
    stdin: bytes | None = None,
    step: Step = lambda done, total: None,
) -> Outcome:
    """Return all findings on files, stores and trees, as in ``opsinfo validate``.

    :param against: the targets the mixlists are for, as on the command line or opened by :meth:`.Target.open`
    :param modes: names of the precision modes that they are used with, known or not
    :param models: model files that the mixlists are for; they are judged for every target
    :param kind: ``library`` or ``mixlist``; None detects it
    :param stdin: the content for the path ``-``
    :param step: called with the number of files and stores done and the total

    :raises OpsinfoError: if a target cannot be read; faults of ``paths`` are in the outcome
    """
    targets = [MixlistTarget(Target.open(each) if isinstance(each, str) else each) for each in against]
    for target in targets:
        _ = target.operators  # fail before the checks if a target cannot be read
    checker = Checker(targets, list(modes), kind, _opened(models))
    rest = [os.fspath(each) for each in paths]
    if "-" in rest and stdin is not None:
        checker.given("-", stdin)
        rest = [path for path in rest if path != "-"]
    check_paths(checker, rest, step)
    checker.modes_given()
    return checker.outcome


def _opened(models: Iterable[str]) -> list[CheckedModel]:
    paths = list(models)
    if not paths:
        return []
    from .model import CheckedModel

    return [CheckedModel(path) for path in paths]
