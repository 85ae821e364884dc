"""What rooms need of one another, as arguments: rooms do not import each other, so the door hands it in.

Nothing of another room is imported before it is called for.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in ``opsinfo_cli``
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from typing import Any

    from .core.cann.input_shapes import Shapes
    from .core.cann.list_forms import WriteAs
    from .core.check.models import Models


def open_models(paths: Iterable[str], shapes: Shapes) -> Models:
    from .lab.graph.mixlist_check import open_models

    return open_models(paths, shapes)


def list_files(write_as: WriteAs, high: Collection[str], low: Collection[str]) -> dict[str, str]:
    from .systems.list_files import list_files

    return list_files(write_as, high, low)


def names_system(text: str) -> bool:
    from .systems.registry import names_system

    return names_system(text)


OF_FUNCTIONS: Mapping[str, Mapping[str, Callable[..., Any]]] = {
    "validate": {"open_models": open_models},
    "merge": {"open_models": open_models},
}
"""Function of the Python API -> its arguments from other rooms; the commands of these names take them, too."""
OF_COMMANDS: Mapping[str, Mapping[str, Callable[..., Any]]] = {
    **OF_FUNCTIONS,
    "diff": {"names_system": names_system},
    "bisect": {"list_files": list_files},
}
"""Command -> its arguments from other rooms."""
