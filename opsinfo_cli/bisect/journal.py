"""The journal of a search: JSON lines, synced before and after each run of the check; a search resumes from it."""

from __future__ import annotations

import fcntl
import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from ..errors import Damaged, Locked, Refused, UsageFault
from .trial import not_written
from .verdicts import TrialVerdict

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from .places.place import Trial, TrialEnd

_FORMAT = 1


class JudgedTrial(NamedTuple):
    """A run with a verdict, as stored in the journal.

    :param kept: names of candidates
    """

    number: int
    kept: frozenset[str]
    verdict: TrialVerdict
    seconds: float


class Past(NamedTuple):
    """The journal of an earlier process.

    :param facts: the facts that identify the search
    :param last: the highest number of a trial
    :param repeated: runs that ended without a verdict
    """

    facts: dict[str, Any]
    trials: list[JudgedTrial]
    last: int
    repeated: int


class SearchJournal:
    """Appends to a file that this process has locked.

    :param path: created if missing
    """

    def __init__(self, path: str) -> None:
        """:raises Locked: if another process uses it
        :raises Refused: if the system refuses
        """
        self.path = path
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._descriptor)
            raise Locked("another process searches with this journal", path=path) from None
        except OSError as error:
            raise not_written(path, error) from None

    def close(self) -> None:
        with suppress(OSError):
            os.close(self._descriptor)

    def past(self) -> Past | None:
        """Return the content of the journal; None: it is empty. A line that a kill or a full disk cut short is removed.

        :raises Damaged: if a line is not one of a journal
        """
        with open(self.path, "rb") as file:
            data = file.read()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            os.truncate(self.path, whole)
        lines = data[:whole].splitlines()
        return _read(self.path, lines) if lines else None

    def begin(self, facts: Mapping[str, Any]) -> None:
        """The first line."""
        self._append({"event": "search", "format": _FORMAT, **facts})

    def started(self, number: int, kept: list[str], digest: str) -> None:
        """Written before a run and its folder: the number of the trial is taken."""
        self._append({"event": "start", "trial": number, "set": kept, "digest": digest})

    def judged(self, trial: Trial, kept: list[str], verdict: TrialVerdict, outcome: TrialEnd) -> None:
        """Written after a run with a verdict."""
        self._append({"event": "end", "trial": trial.number, "set": kept, "verdict": str(verdict), **_outcome(outcome)})

    def repeated(self, trial: Trial, outcome: TrialEnd, why: str) -> None:
        """Written after a run without one."""
        self._append({"event": "no-verdict", "trial": trial.number, "why": why, **_outcome(outcome)})

    def ended(self, how: str) -> None:
        """The search ended, or paused."""
        self._append({"event": "stop", "ended": how})

    def _append(self, record: Mapping[str, Any]) -> None:
        """:raises Refused: if it is not on the disk"""
        rest = memoryview((json.dumps(record) + "\n").encode("utf-8"))
        try:
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
            os.fsync(self._descriptor)
        except OSError as error:
            raise not_written(self.path, error) from None


def _outcome(outcome: TrialEnd) -> dict[str, Any]:
    return {
        "code": outcome.code,
        "signal": outcome.signal or None,
        "seconds": round(outcome.seconds, 3),
        "device": outcome.device or None,
        "tail": outcome.tail,
    }


def _read(path: str, lines: list[bytes]) -> Past:
    trials = []
    last = repeated = 0
    facts: dict[str, Any] = {}
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
            event = record["event"]
            if number == 1:
                if event != "search" or record["format"] != _FORMAT:
                    raise ValueError
                facts = {name: value for name, value in record.items() if name not in ("event", "format")}
            last = max(last, record.get("trial", 0))
            repeated += event == "no-verdict"
            if event == "end":
                verdict = TrialVerdict(record["verdict"])
                trials.append(JudgedTrial(record["trial"], frozenset(record["set"]), verdict, record["seconds"]))
        except (ValueError, KeyError, TypeError, AttributeError):
            hint = "name another folder with --journal DIR" if number == 1 else None
            raise Damaged("not a journal of opsinfo bisect", path=path, line=number, column=1, hint=hint) from None
    return Past(facts, trials, last, repeated)


def require_same(past: Past, facts: Mapping[str, Any], path: str) -> None:
    """:raises UsageFault: if the search in the journal was about something else"""
    words = {"graph": "the model", "library": "the target", "base": "the base list", "command": "the command"}
    changed = [words.get(name, name.replace("_", " ")) for name in facts if past.facts.get(name) != facts[name]]
    if changed:
        raise UsageFault(
            f"the journal belongs to another search: changed since: {', '.join(changed)}",
            name="journal-differs",
            path=path,
            hint="start a new search with --journal DIR, or use its verdicts nevertheless with --force",
        )


def require_readable(path: str) -> None:
    """:raises Refused: if there is no journal"""
    if not os.path.isfile(path):
        hint = "without --resume, a new search begins"
        raise Refused("there is no journal to resume", name="no-journal", path=path, hint=hint)
