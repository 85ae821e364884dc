"""The forms of the lists that a search writes, and the function that makes those of other systems."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Literal, TypeAlias

WriteAs: TypeAlias = Literal["mixlist", "habana", "mindspore", "names"]
ListFiles: TypeAlias = Callable[[WriteAs, Collection[str], Collection[str]], dict[str, str]]
"""Returns the texts of a list's files by name, of the names that stay high and those that do not."""
