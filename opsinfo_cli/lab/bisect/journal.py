"""The journal of a search: JSON lines, synced before and after each run of the check; a search resumes from it."""

from __future__ import annotations

import fcntl
import json
import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

from ...errors import Damaged, Locked, UsageFault
from .run_folder import write_error
from .verdicts import TrialVerdict, loss_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .trial import Trial, TrialEnd

_FORMAT = 2
_BEGIN = {"event": "search", "format": _FORMAT}
_SUM = ', "sum": "'
"""Ends each record with the CRC-32 of the bytes before it."""


class JudgedTrial(NamedTuple):
    """A run with a verdict.

    :param loss: the last number of the output that the journal has; None: there is none
    """

    number: int
    kept: frozenset[str]
    verdict: TrialVerdict
    seconds: float
    loss: float | None = None


class Past(NamedTuple):
    """The journal of an earlier process.

    :param last: the highest number of a trial
    """

    facts: dict[str, Any]
    trials: list[JudgedTrial]
    last: int


class SearchJournal:
    """Appends to a file that this process has locked.

    :param path: made if missing
    """

    def __init__(self, path: str) -> None:
        """:raises Locked: if another process uses it
        :raises Refused: if it is a link, or the system refuses
        """
        self.path = path
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        try:
            self._descriptor = os.open(path, flags, 0o600)
            if not stat.S_ISREG(os.fstat(self._descriptor).st_mode):
                raise Damaged("not a journal of opsinfo bisect", path=path)
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()
            raise Locked("another process searches with this journal", path=path) from None
        except OSError as error:
            raise write_error(path, error) from None

    def close(self) -> None:
        with suppress(OSError):
            os.close(self._descriptor)

    def past(self) -> Past | None:
        """Return the content of the journal; None: it is empty.

        A last line that a kill or a full disk cut short is removed once every other line was read as one of a journal.

        :raises Damaged: if a line is not one of a journal; nothing is changed then
        """
        with open(self._descriptor, "rb", closefd=False) as file:
            file.seek(0)
            data = file.read()
        *lines, rest = data.split(b"\n")
        if not lines:
            begin = json.dumps(_BEGIN)[:-1].encode()
            if rest[: len(begin)] != begin[: len(rest)]:
                raise _damaged(self.path, 1)
        past = _read(self.path, lines) if lines else None
        if rest:
            os.ftruncate(self._descriptor, len(data) - len(rest))
        return past

    def begin(self, facts: Mapping[str, Any]) -> None:
        """The first line; again, if a search goes on with other facts."""
        self._append({**_BEGIN, **facts})

    def record_start(self, number: int, kept: list[str]) -> None:
        """Written before a run and its folder: the number of the trial is taken."""
        self._append({"event": "start", "trial": number, "set": kept})

    def record_verdict(self, trial: Trial, kept: list[str], verdict: TrialVerdict, end: TrialEnd) -> None:
        """Written after a run with a verdict."""
        self._append({"event": "end", "trial": trial.number, "set": kept, "verdict": verdict.value, **_facts(end)})

    def record_repeat(self, trial: Trial, end: TrialEnd, why: str) -> None:
        """Written after a run without one."""
        self._append({"event": "no-verdict", "trial": trial.number, "why": why, **_facts(end)})

    def record_end(self, how: str) -> None:
        """The search ended, or paused."""
        self._append({"event": "stop", "ended": how})

    def _append(self, record: Mapping[str, Any]) -> None:
        """:raises Refused: if it is not on the disk"""
        text = json.dumps(record)[:-1]
        rest = memoryview(f'{text}{_SUM}{crc32(text.encode()):08x}"}}\n'.encode())
        try:
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
            os.fsync(self._descriptor)
        except OSError as error:
            raise write_error(self.path, error) from None


def _facts(end: TrialEnd) -> dict[str, Any]:
    return {
        "code": end.code,
        "signal": end.signal or None,
        "seconds": round(end.seconds, 3),
        "device": end.device or None,
        "tail": end.tail,
    }


def _read(path: str, lines: list[bytes]) -> Past:
    trials = []
    last = 0
    facts: dict[str, Any] = {}
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
            event = record["event"]
            if number == 1 and (event != "search" or record["format"] != _FORMAT):
                raise ValueError
            text, _, end = line.rpartition(_SUM.encode())
            if end != b'%08x"}' % crc32(text):
                raise ValueError
            last = max(last, int(record.get("trial", 0)))
            if event == "search":
                facts = {name: value for name, value in record.items() if name not in (*_BEGIN, "sum")}
                if not isinstance(facts.get(FILES, {}), dict):
                    raise ValueError
            if event == "end":
                kept = frozenset(map(str, record["set"]))
                verdict, loss = TrialVerdict(record["verdict"]), loss_of(str(record.get("tail", "")))
                trials.append(JudgedTrial(int(record["trial"]), kept, verdict, float(record["seconds"]), loss))
        except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError):
            raise _damaged(path, number) from None
    return Past(facts, trials, last)


def _damaged(path: str, line: int) -> Damaged:
    if line == 1:
        hint = "--journal DIR names another folder"
        return Damaged("not a journal of opsinfo bisect of this version", path=path, line=1, column=1, hint=hint)
    hint = "begin anew with --restart; the verdicts before this line are readable"
    return Damaged(
        "the journal is damaged: this record is not as it was written", path=path, line=line, column=1, hint=hint
    )


FILES = "files"
"""The fact with the hashes of files by path."""
JUDGED = "judged"
"""The fact that follows from all options of judging; it is named if no other one explains the difference."""
_FACTS = {
    "graph": "the model",
    "library": "the target",
    "base": "the base list",
    "command": "the command",
    JUDGED: "what the model becomes (the chip, options of atc, fusions)",
}


def begin(journal: SearchJournal, facts: Mapping[str, Any], forced: bool = False) -> Past | None:
    """Begin a journal with the facts of a search, or return what it has of an earlier process.

    :param forced: whether the verdicts are used even if they are about something else
    :raises UsageFault: if they are
    """
    past = journal.past()
    if past is None or forced or not past.trials:
        journal.begin(facts)
        return past
    names = [name for name in {**past.facts, **facts} if name != FILES and past.facts.get(name) != facts.get(name)]
    names = [name for name in names if name != JUDGED] or names
    hashes = past.facts.get(FILES, {})
    changed = [_FACTS.get(name, name.replace("_", " ")) for name in names]
    if JUDGED in names and JUDGED not in past.facts:
        changed = ["the version of opsinfo: the journal does not say what the model became"]
    changed += [f"`{file}`" for file, found in facts[FILES].items() if hashes.get(file, found) != found]
    if changed:
        raise UsageFault(
            f"the journal belongs to another search: changed since: {', '.join(changed)}",
            name="journal-differs",
            path=os.path.dirname(journal.path),
            hint="--restart begins anew; or use its verdicts nevertheless with --force",
        )
    return past
