"""The rules: one module a family, with the facts of each rule beside the function that checks it."""

from __future__ import annotations

from . import follow, library, mixlist, mode, model, options, store, text, vault
from .finding import Rule

RULES: dict[str, Rule] = {
    rule.name: rule
    for family in (text, mixlist, mode, model, options, follow, library, store, vault)
    for rule in sorted((fact for fact in vars(family).values() if isinstance(fact, Rule)), key=lambda rule: rule.code)
}
"""Every rule by its name, which never changes."""


def rule_called(text: str) -> Rule | None:
    """Return a rule by its name or code, in any case; None if unknown."""
    wanted = text.lower()
    return next((rule for rule in RULES.values() if wanted in (rule.name, rule.code.lower())), None)
