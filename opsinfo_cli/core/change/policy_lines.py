"""Policies as lines of text, `white MatMulV2`, that a person edits: written, read again, and their mistakes. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from ...errors import counted
from ...near_names import NearNames, did_you_mean, meant
from ..cann.policy import Policy, policy_meant

UNKNOWN = "unknown"
"""The first word of a line if marks do not determine the policy."""

_HEAD = """\
# {title}
#
# Change the first word of a line to put the operator on another list:
#   white   may be reduced to float16 or bfloat16
#   black   keeps float32
#   gray    follows the operator before it
{unknown}#
# A line that is deleted or unchanged changes nothing. # begins a comment.
# Save and close the editor to apply; delete all lines to change nothing.

"""
_UNKNOWN_MEANS = "#   unknown depends on the library; --against TARGET shows it\n"
_MISTAKE = "# error: "


class Mistake(NamedTuple):
    """A line that cannot be applied.

    :param at: the index of the line
    :param message: what is wrong with it, and a hint if there is one
    """

    at: int
    line: str
    message: str


class KnownPolicies(NamedTuple):
    """What a line may name.

    :param policies: the present policy of each op type; None if it is unknown
    :param is_whole: whether there are no other op types
    :param elsewhere: returns text about other places of an install that have an op type
    """

    policies: Mapping[str, Policy | None]
    is_whole: bool
    elsewhere: Callable[[str], str | None] = lambda _: None


def can_be_line(name: str) -> bool:
    """Return whether an op type can be written in a line and read again; one with control characters cannot."""
    return name.isprintable() and name == name.strip() != ""


def policy_lines(title: str, policies: Mapping[str, Policy | None]) -> str:
    """Return the text to edit."""
    unknown = _UNKNOWN_MEANS if None in policies.values() else ""
    lines = [f"{policy or UNKNOWN} {name}\n" for name, policy in policies.items()]
    return _HEAD.format(title=title, unknown=unknown) + "".join(lines)


def read_policy_lines(text: str, known: KnownPolicies) -> tuple[dict[str, Policy], list[Mistake]]:
    """Return the op types whose policy was changed, and the lines that cannot be applied."""
    near = NearNames(known.policies)
    asked: dict[str, Policy] = {}
    mistakes: list[Mistake] = []
    lines_of: dict[str, int] = {}
    for at, line in enumerate(text.split("\n")):
        word, _, name = line.strip().replace("\t", " ", 1).partition(" ")
        name = name.strip()
        if not word or word.startswith("#"):
            continue
        message = _mistake(word, name, known, near)
        if not message and name in lines_of:
            message = f"`{name}` is in line {lines_of[name] + 1} already"
        if message:
            mistakes.append(Mistake(at, line.strip(), message))
            continue
        lines_of[name] = at
        if word != (known.policies.get(name) or UNKNOWN):
            asked[name] = Policy(word)
    return asked, mistakes


def _mistake(word: str, name: str, known: KnownPolicies, near: NearNames) -> str | None:
    """Return what is wrong with a line, apart from others."""
    words = [str(policy) for policy in Policy]
    if word not in words and not (word == UNKNOWN and name in known.policies and known.policies[name] is None):
        alias = policy_meant(word)
        hint = f"did you mean `{alias}`?" if alias else did_you_mean(word, words)
        return f"unknown policy `{word}`; {hint or 'white, black or gray is required'}"
    if not name:
        return "the line has no operator; `POLICY OPERATOR` is required"
    if name in known.policies:
        return None
    if known.is_whole:
        hint = known.elsewhere(name) or meant(near.suggestions(name))
        return "; ".join(filter(None, [f"unknown operator `{name}`", hint]))
    if word == Policy.GRAY:
        return f"`{name}` has no marks here; whether gray needs one depends on the library: use --against TARGET"
    return None


def with_mistakes(text: str, mistakes: Sequence[Mistake]) -> str:
    """Return the edited text with a comment above each line that cannot be applied, in place of earlier ones."""
    messages = {mistake.at: mistake.message for mistake in mistakes}
    lines = [f"{_MISTAKE}{counted(len(mistakes), 'line')} to correct or delete, below {_MISTAKE.strip()}"]
    for at, line in enumerate(text.split("\n")):
        if at in messages:
            lines.append(_MISTAKE + messages[at])
        if not line.startswith(_MISTAKE):
            lines.append(line)
    return "\n".join(lines)


def are_repeated(earlier: Iterable[Mistake], mistakes: Iterable[Mistake]) -> bool:
    """Return whether none of the earlier mistakes was corrected."""
    lines = {mistake.line for mistake in mistakes}
    return all(mistake.line in lines for mistake in earlier)
