"""The rules: the facts about each kind of finding, in one TOML file a family beside the functions that check it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files
from typing import Annotated, Any, Literal

from ..document import Schema
from ..text.toml import loads

Severity = Literal["error", "warning", "note"]
Reaction = Literal["refuses", "crashes", "ignores", "accepts"]
About = Literal[
    "mixlist",
    "library",
    "both",
    "mode",
    "model",
    "options",
    "store",
    "install",
    "vault",
    "ini",
    "OpDef source",
    "configuration",
]

_FAMILIES = ("text", "mixlist", "mode", "model", "options", "library", "store", "definitions", "vault")


@dataclass(frozen=True)
class Rule:
    """The description of one rule."""

    code: Annotated[str, Schema(pattern="^[A-Z][0-9]{3}$", examples=["M001"])]
    """The rule's code."""
    name: Annotated[str, Schema(pattern="^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$", examples=["unknown-list"])]
    """The rule's name; it never changes."""
    about: About
    """What the rule checks; both: mixlists and libraries."""
    severity: Severity
    """The usual severity; a finding may have a lower or higher one if the rule says so."""
    engine: Reaction
    """What the engine does in this case."""
    why: str
    """Why the finding matters."""
    fails: str
    """The smallest text that has the finding."""
    passes: str
    """The same text, fixed."""
    source: str
    """The source of the rule in the engine."""


def texts(name: str) -> dict[str, Any]:
    """Return the tables of a file beside this module, with files of the engine for `{MIXLIST}` and the like."""
    text = files(__package__).joinpath(f"{name}.toml").read_text("utf-8")
    return loads(re.sub(r"\{([A-Z_]+)\}", lambda match: _ENGINE_FILES[match[1]], text))


_ENGINE_FILES: dict[str, str] = loads(files(__package__).joinpath("engine_files.toml").read_text("utf-8"))
RULES = {name: Rule(name=name, **facts) for family in _FAMILIES for name, facts in texts(family).items()}
"""Every rule by its name."""
