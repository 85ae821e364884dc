"""What a search needs of a place where trials run."""

from __future__ import annotations

from ...typed import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..question import Kept


class Trial(NamedTuple):
    """One run of the check.

    A place makes a folder for it, writes the files into it, and runs the command there with these words replaced in
    every argument: ``{trial}`` by the folder, ``{cache}`` by its folder ``cache``, and ``{NAME}`` for each of the
    ``files`` by its path. See :mod:`..trial`.

    :param number: from 1, never used twice
    :param kept: the set that is judged
    :param files: NAME -> (name of the file, content)
    :param folder: its folder in the run folder of this machine; it exists and holds the files
    :param timeout: in seconds; None: none
    """

    number: int
    kept: Kept
    files: Mapping[str, tuple[str, bytes]]
    folder: str
    command: Sequence[str]
    timeout: float | None


class TrialEnd(NamedTuple):
    """How a trial ended.

    :param code: the exit status; None: there is none
    :param signal: the number of the signal that ended it; 0: none did
    :param tail: the end of its output
    :param device: where it ran
    :param lost: whether the place is gone, so that the trial has no verdict and is repeated: a node that died
    """

    code: int | None
    signal: int = 0
    seconds: float = 0.0
    tail: str = ""
    device: str = ""
    timed_out: bool = False
    lost: bool = False


class TrialPlace(Protocol):
    """Runs trials, one or several at once."""

    @property
    def slots(self) -> int:
        """How many trials run at once; it may change."""

    def start(self, trial: Trial) -> None:
        """Begin a trial and return. At most ``slots`` are begun and not done.

        :raises Refused: if it cannot be begun for a reason that holds for every trial
        """

    def wait(self, seconds: float) -> list[tuple[Trial, TrialEnd]]:
        """The trials that are done; none if none is after so many seconds."""

    def stop(self) -> None:
        """End all trials that run, and leave no process behind."""
