"""A rule: the facts about a kind of finding."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """One entry of the rule table.

    :param about: mixlist, library, both, mode, model, store, install or vault
    :param severity: error, warning or note; a finding may override it
    :param engine: the engine's reaction: refuses, crashes, ignores or accepts
    :param fails: the smallest text that has the finding
    :param passes: the same, fixed
    :param source: where the rule comes from: repository, path and lines
    """

    code: str
    name: str
    about: str
    severity: str
    engine: str
    why: str
    fails: str
    passes: str
    source: str
