"""The JSON of `opsinfo explain`."""

from __future__ import annotations

from typing import Annotated, Literal

from typing_extensions import TypedDict

from ..document import Schema


class Rule(TypedDict):
    """The description of one rule."""

    code: Annotated[str, Schema(pattern="^[A-Z][0-9]{3}$", examples=["M001"])]
    """The rule's code."""
    name: Annotated[str, Schema(pattern="^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$", examples=["unknown-list"])]
    """The rule's name; it never changes."""
    about: Literal[
        "mixlist", "library", "both", "mode", "model", "options", "store", "install", "vault", "ini", "OpDef source"
    ]
    """What the rule checks; both: mixlists and libraries."""
    severity: Literal["error", "warning", "note"]
    """The usual severity; a finding may have a lower or higher one if the rule says so."""
    engine: Literal["refuses", "crashes", "ignores", "accepts"]
    """What the engine does in this case."""
    why: str
    """Why the finding matters."""
    fails: str
    """The smallest text that has the finding."""
    passes: str
    """The same text, fixed."""
    source: str
    """The source of the rule in the engine."""


class Topic(TypedDict):
    """A subject that is not a rule."""

    name: str
    """The name of the topic."""
    text: str
    """The text of the explanation."""


class ExplainDocument(TypedDict):
    """Explanations of rules and topics. Later versions may add keys."""

    rules: list[Rule]
    """The requested rules."""
    topics: list[Topic]
    """The requested topics."""
