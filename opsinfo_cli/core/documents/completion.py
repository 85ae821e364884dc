"""The JSON of `opsinfo completion`."""

from __future__ import annotations

from typing import Annotated, Literal

from typing_extensions import TypedDict

from ..document import Schema


class CompletionDocument(TypedDict):
    """The completion script of a shell. Later versions may add keys."""

    shell: Annotated[Literal["bash", "zsh", "fish"], Schema(examples=["bash"])]
    """The shell."""
    script: str
    """The script, to be sourced by the shell."""
