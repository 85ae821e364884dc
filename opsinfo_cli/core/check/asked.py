"""What a run of checks is asked to check with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..cann.file_kind import NamedKind
from .mixlist import MixlistTarget
from .models import Models, OpenModels


class Asked(NamedTuple):
    """
    :param against: the targets that mixlists are for
    :param modes: names of precision modes, known or not
    :param models: the models that mixlists are for, if there are any
    :param kind: the kind of all files; None detects it
    :param follow: whether files that scripts name are checked too
    :param by_chip: whether it is reported that sources give an op type different policies on different chips
    :param open_models: opens models; of none, it gives the rules that need no model
    :param exclude: patterns of files and folders that a walk leaves out
    """

    against: Sequence[MixlistTarget] = ()
    modes: Sequence[str] = ()
    models: Models | None = None
    kind: NamedKind | None = None
    follow: bool = False
    by_chip: bool = False
    open_models: OpenModels | None = None
    exclude: Sequence[str] = ()
