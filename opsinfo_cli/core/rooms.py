"""What one room needs of another: rooms do not import one another, so the package, ``opsinfo_cli``, hands it in.

Its ``__init__.py`` sets each name of this module to a function that imports the other room when it is called.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in ``opsinfo_cli``
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Any, Literal, Protocol, TypeAlias

    from .cann.input_shapes import Shapes
    from .cann.marks import Mark
    from .cann.precision_mode import Mode
    from .check.finding import Finding
    from .check.mixlist import MixlistReading, MixlistTarget

    WriteAs: TypeAlias = Literal["mixlist", "habana", "mindspore", "names"]
    """The forms of the lists that a search writes."""

    class ModelRules(Protocol):
        """Rules on the nodes of models: ``lab.graph.mixlist_check``. A model is what ``open_models`` returns, and
        ``check`` an ``OptionCheck``.
        """

        def open_models(self, paths: Iterable[str], shapes: Shapes) -> list[Any]: ...

        def check_models(
            self,
            reading: MixlistReading,
            models: Sequence[Any],
            targets: Sequence[MixlistTarget],
            modes: Sequence[Mode],
        ) -> Iterator[Finding]: ...

        def refused_by_columns(self, check: Any) -> Iterator[Finding]: ...

        def without_effect(
            self, marks: Mapping[str, frozenset[Mark]], models: Sequence[Any], targets: Sequence[MixlistTarget]
        ) -> list[str]: ...


model_rules: Callable[[], ModelRules]
names_system: Callable[[str], bool]
"""``systems.registry.names_system``"""
list_files: Callable[[WriteAs, Collection[str], Collection[str]], dict[str, str]]
"""``systems.list_files.list_files``"""
