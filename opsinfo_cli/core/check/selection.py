"""Selection of findings by code, name, prefix of a code, and place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from ...errors import UsageFault
from ...near_names import did_you_mean
from .rules import RULES, Rule


@dataclass(frozen=True)
class RuleSelection:
    """:param selected: names of the selected rules; None for all
    :param ignored: the JSON pointers at and below which a rule is ignored, by its name; "" ignores it everywhere
    """

    selected: frozenset[str] | None = None
    ignored: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, select: Iterable[str], ignore: Iterable[str]) -> RuleSelection:
        """Return the selection of ``--select`` and ``--ignore``.

        :raises UsageFault: if a word names no rule; the hint has near names
        """
        chosen = [_rule_names(word, "--select") for word in select]
        ignored: dict[str, set[str]] = {}
        for word in ignore:
            name, colon, pointer = word.partition(":")
            if pointer and not pointer.startswith("/"):
                hint = f"for example --ignore {name}:/black-list/to-add"
                message = f"--ignore {word}: a JSON pointer must begin with `/`"
                raise UsageFault(message, name="bad-pointer", hint=hint)
            for rule in _rule_names(name, "--ignore"):
                ignored.setdefault(rule, set()).add(pointer if pointer or not colon else _ROOT)
        pointers = {rule: frozenset(each) for rule, each in ignored.items()}
        return cls(frozenset().union(*chosen) if chosen else None, pointers)

    def keeps(self, rule: Rule, pointer: str | None) -> bool:
        if self.selected is not None and rule.name not in self.selected:
            return False
        ignored = self.ignored.get(rule.name, frozenset())
        return not ignored or ignored.isdisjoint(_above(pointer))


_ROOT = "/."
"""The empty pointer, which covers findings that have one: those of text that could be parsed."""


def _above(pointer: str | None) -> Iterator[str]:
    """Yield what covers a finding at a pointer: everything, the root, and each step to the pointer."""
    yield ""
    if pointer is not None:
        yield _ROOT
        for match in re.finditer("/[^/]*", pointer):
            yield pointer[: match.end()]


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
