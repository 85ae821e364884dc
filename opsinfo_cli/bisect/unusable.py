"""Runs of the check without a verdict: the reason and the hint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import Refused

if TYPE_CHECKING:
    from .places.place import Trial, TrialEnd

_REPEATABLE = 128


class Unusable(Refused):
    """The check gives no verdict."""

    default_name = "check-unusable"


def can_be_repeated(outcome: TrialEnd) -> bool:
    """Return whether another run may have a verdict: after a signal, 128 and more, or a lost place."""
    return outcome.lost or (not outcome.timed_out and (outcome.code is None or outcome.code >= _REPEATABLE))


def unusable(trial: Trial, outcome: TrialEnd) -> Unusable:
    """Return the error for a search with an unusable check."""
    said = f"the check gives no verdict: trial {trial.number} {reason(outcome)}"
    return Unusable(said, path=trial.folder, hint=_hint(outcome))


def reason(outcome: TrialEnd) -> str:
    """Return why an outcome has no verdict."""
    if outcome.lost:
        return "lost its place"
    if outcome.timed_out:
        return f"took longer than --timeout ({outcome.seconds:.0f} s)"
    if outcome.code is None:
        return f"was ended by signal {outcome.signal}"
    return f"ended with {outcome.code}"


def _hint(outcome: TrialEnd) -> str:
    if outcome.timed_out:
        return "the journal is kept; resume with a longer --timeout, or with --timeout-fails"
    if outcome.code in (126, 127):
        return "the journal is kept; continue with --resume, or with --resume --force if you change the command"
    return (
        "the journal is kept; the trial's output is in its folder; --retries N repeats such runs, "
        "--resume continues the search"
    )
