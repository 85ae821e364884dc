"""Values of a snapshot's JSON, each required to be of its kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any, TypeAlias

    Steps: TypeAlias = tuple[str | int, ...]


class WrongValue(Exception):
    """A wrong value, by its path of keys; its place in the text is found when needed."""

    def __init__(self, message: str, *steps: str | int) -> None:
        self.message = message
        self.steps = steps


_CALLED: dict[Any, str] = {dict: "an object", list: "an array", str: "a string"}


def value_of(content: Mapping[str, Any], kind: Any, *steps: str | int) -> Any:
    """The value of the last step.

    :raises WrongValue: if it is missing or of another kind
    """
    key = str(steps[-1])
    if key not in content:
        raise WrongValue(f"`{key}` is missing", *steps[:-1])
    if not isinstance(content[key], kind):
        called = _CALLED.get(kind, "a string or null")
        raise WrongValue(f"`{key}` must be {called} in a snapshot", *steps)
    return content[key]


def word_of(content: Mapping[str, Any], words: tuple[str, ...], *steps: str | int) -> str:
    """The value of the last step, one of ``words``.

    :raises WrongValue: if it is missing or another word
    """
    value: str = value_of(content, str, *steps)
    if value not in words:
        raise WrongValue(f"`{value}` must be one of " + ", ".join(words), *steps)
    return value


def strings_of(content: Mapping[str, Any], said: str, *steps: str | int) -> list[str]:
    """The array of strings of the last step; empty if it is missing.

    :param said: the expected type, for an item that is not a string
    :raises WrongValue: if it is not an array, or an item is not a string
    """
    if steps[-1] not in content:
        return []
    values: list[str] = value_of(content, list, *steps)
    for index, value in enumerate(values):
        if not isinstance(value, str):
            raise WrongValue(said, *steps, index)
    return values
