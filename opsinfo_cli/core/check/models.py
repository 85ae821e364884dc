"""The models that files are checked with, as the room that reads models hands them in: `lab.graph.mixlist_check`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from ...errors import NoVerdict
    from ..cann.input_shapes import Shapes
    from ..cann.marks import Mark
    from ..cann.option_files import CustomizeDtypes, OptionGraph
    from ..cann.precision_mode import Mode
    from .finding import Finding
    from .mixlist import MixlistReading, MixlistTarget


class CheckedModel(Protocol):
    """One model, named as a target is: for people, and for the baseline.

    :ivar is_predicted: whether it has still to be fused
    :ivar possible: the op types of its nodes, and those that fusion may make of them
    :ivar fault: that nothing of it was judged; None if something was, or nothing was asked
    """

    @property
    def label(self) -> str: ...
    @property
    def facts(self) -> str: ...
    @property
    def graph(self) -> OptionGraph: ...
    @property
    def is_predicted(self) -> bool: ...
    @property
    def possible(self) -> Collection[str]: ...
    @property
    def fault(self) -> NoVerdict | None: ...
    def pop_note(self) -> str | None:
        """Return a line on what its open dimensions decided since the last call; None if nothing."""
        ...


class Models(Protocol):
    """Any number of models, with the rules on their nodes."""

    def __iter__(self) -> Iterator[CheckedModel]: ...
    def __len__(self) -> int: ...
    def check_mixlist(
        self, reading: MixlistReading, targets: Sequence[MixlistTarget], modes: Sequence[Mode]
    ) -> Iterator[Finding]: ...
    def refused_by_columns(
        self, asked: CustomizeDtypes, targets: Sequence[MixlistTarget]
    ) -> Mapping[tuple[str, bool], tuple[str, str | None]]:
        """Return the names of a file whose dtypes no column has, with message and hint; also without any model."""
        ...

    def without_effect(self, marks: Mapping[str, frozenset[Mark]], targets: Sequence[MixlistTarget]) -> list[str]: ...


OpenModels: TypeAlias = "Callable[[Iterable[str], Shapes], Models]"
"""Imports the room when it is called, which takes as long as a small run."""
