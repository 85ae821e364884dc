"""The places where trials run: processes on this machine, a cluster, a simulation, or a person."""

from __future__ import annotations

import os
import sys

from ...bisect.places.here import HerePlace
from ...bisect.places.local import LocalPlace
from ...bisect.places.place import Trial, TrialPlace
from ...bisect.trial import places_of
from ...bisect.verdicts import SKIPS
from ...errors import Refused, UsageFault
from ...report.terminal.output import Output
from ..simulating.options import SimulateOptions
from .cluster import cluster_of
from .options import RunOptions, devices_of
from .simulated import require_bounds, simulated_place
from .subject import Opened

_ANSWERS = {"pass": 0, "fail": 1, "skip": SKIPS}


class Check:
    """The judge of a trial: a command, a simulation or a person."""

    def __init__(self, options: RunOptions, simulating: SimulateOptions, command: tuple[str, ...]) -> None:
        """:raises UsageFault: if there is no check, more than one, or an option does not fit it"""
        self.options = options
        self.simulating = simulating
        self.command = command
        self.devices = devices_of(options)
        given = {"a command": bool(command), "-i": options.interactive, "--simulate": options.simulate}
        chosen = [word for word, is_given in given.items() if is_given]
        if len(chosen) > 1:
            raise UsageFault(f"only one of {' and '.join(chosen)} can be the check")
        if not chosen:
            hint = "opsinfo bisect ... -- ./check.sh {mixlist}; or --simulate, or -i to judge yourself"
            raise UsageFault("bisect needs a check: the command after --", name="needs-check", hint=hint)
        require_bounds(simulating, options.simulate)
        if not command:
            _require_alone(options, chosen[0])
        self.cluster = cluster_of(options, command)

    @property
    def facts(self) -> list[str]:
        """The facts that a journal must share with this search."""
        if self.options.simulate:
            return ["--simulate", *(f"{name}={value}" for name, value in self.simulating._asdict().items())]
        return ["-i"] if self.options.interactive else list(self.command)

    def place(self, opened: Opened, output: Output) -> TrialPlace:
        """Return the place where trials run.

        :raises Refused: if the model cannot be computed
        :raises MissingPackage: if a package for that, or for a cluster, is not installed
        """
        if self.options.interactive:
            return HerePlace(lambda trial: _asked(trial, output), "person")
        if self.options.simulate:
            return simulated_place(opened, self.simulating)
        if self.cluster is not None:
            return self.cluster.place
        return LocalPlace(os.environ, self.options.jobs or len(self.devices) or 1, self.devices)


def _require_alone(options: RunOptions, word: str) -> None:
    """:raises UsageFault: if an option applies to commands only"""
    given = {
        "--jobs": options.jobs is not None,
        "--devices": options.devices is not None,
        "--timeout": options.timeout is not None,
        "--ray": options.ray is not None,
        "--resources": options.resources is not None,
        "--keep-folders": options.keep_folders,
    }
    for name, is_given in given.items():
        if is_given:
            raise UsageFault(f"{name} cannot be combined with {word}")


def _asked(trial: Trial, output: Output) -> tuple[int, str]:
    """Return the exit status for the verdict of a person on a trial, and the word.

    :raises KeyboardInterrupt: if they stop
    :raises Refused: if standard input ends
    """
    places = places_of(trial.folder, trial.files)
    output.complain(f"trial {trial.number}: {places.get('keep_dtype', places['mixlist'])}")
    while True:
        print("pass, fail, skip or quit? ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        if not line:
            output.complain("")
            hint = "--resume continues the search"
            raise Refused("standard input ended before the search did", name="no-answer", hint=hint)
        word = line.strip().lower()
        if word and "quit".startswith(word):
            raise KeyboardInterrupt
        found = [each for each in _ANSWERS if word and each.startswith(word)]
        if found:
            return _ANSWERS[found[0]], found[0]
