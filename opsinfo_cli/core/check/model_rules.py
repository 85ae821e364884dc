"""Rules on the nodes of models, as the room that reads models hands them in: `lab.graph.mixlist_check`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from ..cann.input_shapes import Shapes
    from ..cann.marks import Mark
    from ..cann.precision_mode import Mode
    from .finding import Finding
    from .mixlist import MixlistReading, MixlistTarget


class ModelRules(Protocol):
    """A model is what ``open_models`` returns, and ``check`` an ``OptionCheck``."""

    def open_models(self, paths: Iterable[str], shapes: Shapes) -> Sequence[Any]: ...

    def check_models(
        self, reading: MixlistReading, models: Sequence[Any], targets: Sequence[MixlistTarget], modes: Sequence[Mode]
    ) -> Iterator[Finding]: ...

    def refused_by_columns(self, check: Any) -> Iterator[Finding]: ...

    def without_effect(
        self, marks: Mapping[str, frozenset[Mark]], models: Sequence[Any], targets: Sequence[MixlistTarget]
    ) -> list[str]: ...


LoadModelRules: TypeAlias = Callable[[], ModelRules]
"""Imports the room when it is called, which takes as long as a small run."""
