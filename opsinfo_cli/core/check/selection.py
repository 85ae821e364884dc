"""Selection of findings by code, name, prefix of a code, and place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ...errors import UsageFault
from ..cann.near_names import did_you_mean
from .rules import RULES, Rule


@dataclass(frozen=True)
class _Ignored:
    """:param pointer: the JSON pointer at and below which the rules are ignored; None ignores them everywhere"""

    names: frozenset[str]
    pointer: str | None

    def covers(self, rule: Rule, pointer: str | None) -> bool:
        if rule.name not in self.names:
            return False
        if self.pointer is None:
            return True
        return pointer is not None and (pointer == self.pointer or pointer.startswith(self.pointer + "/"))


@dataclass(frozen=True)
class RuleSelection:
    """:param selected: names of the selected rules; None for all"""

    selected: frozenset[str] | None = None
    ignored: tuple[_Ignored, ...] = ()

    @classmethod
    def of(cls, select: Iterable[str], ignore: Iterable[str]) -> RuleSelection:
        """Return the selection of ``--select`` and ``--ignore``.

        :raises UsageFault: if a word names no rule; the hint has near names
        """
        chosen = [_rule_names(word, "--select") for word in select]
        return cls(frozenset().union(*chosen) if chosen else None, tuple(map(_parse_ignore, ignore)))

    def keeps(self, rule: Rule, pointer: str | None) -> bool:
        if self.selected is not None and rule.name not in self.selected:
            return False
        return not any(ignored.covers(rule, pointer) for ignored in self.ignored)


def _parse_ignore(word: str) -> _Ignored:
    name, colon, pointer = word.partition(":")
    if pointer and not pointer.startswith("/"):
        raise UsageFault(
            f"--ignore {word}: a JSON pointer must begin with `/`",
            name="bad-pointer",
            hint=f"for example --ignore {name}:/black-list/to-add",
        )
    return _Ignored(_rule_names(name, "--ignore"), pointer if colon else None)


def _rule_names(word: str, option: str) -> frozenset[str]:
    """Return the rules of a name, a code or a prefix of codes, in any case."""
    wanted = word.lower()
    if wanted in RULES:
        return frozenset({wanted})
    names = frozenset(rule.name for rule in RULES.values() if wanted and rule.code.lower().startswith(wanted))
    if not names:
        near = did_you_mean(word, [*RULES, *(rule.code for rule in RULES.values())])
        hint = near or "`opsinfo explain` lists them; the option is repeatable, one word each"
        raise UsageFault(f"{option} {word}: unknown finding `{word}`", name="unknown-finding", hint=hint)
    return names
