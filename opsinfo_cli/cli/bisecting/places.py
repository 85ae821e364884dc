"""Where the trials of a search run: processes of this machine, or a person."""

from __future__ import annotations

import os
import sys

from ...bisect.places.local import LocalPlace
from ...bisect.places.person import ANSWERS, PersonPlace
from ...bisect.places.place import TrialPlace
from ...bisect.places.ray_cluster import LOG, RayPlace
from ...bisect.places.ray_options import address_of, require_absolute, resources_of
from ...errors import Refused, UsageFault
from ...report.terminal.output import Output
from .options import RunOptions, devices_of


def place_of(options: RunOptions, command: tuple[str, ...], output: Output) -> TrialPlace:
    """The place that the options ask for.

    :raises UsageFault: if there is no check, or more than one
    """
    if options.interactive and command:
        raise UsageFault("-i asks a person: it cannot be combined with a command")
    if options.interactive:
        _require_alone(options, "-i")
        return PersonPlace(lambda number, path: _asked(number, path, output))
    if not command:
        hint = "opsinfo bisect ... -- ./check.sh {mixlist}; or -i to judge yourself"
        raise UsageFault("bisect needs a check: the command after --", name="needs-check", hint=hint)
    if options.ray is not None:
        return _ray_place(options, command)
    if options.resources is not None or options.keep_folders:
        raise UsageFault(f"{'--keep-folders' if options.resources is None else '--resources'} requires --ray")
    devices = devices_of(options)
    return LocalPlace(os.environ, options.jobs or len(devices) or 1, devices)


def _ray_place(options: RunOptions, command: tuple[str, ...]) -> TrialPlace:
    given = {"--jobs": options.jobs is not None, "--devices": options.devices is not None}
    for name, is_given in given.items():
        if is_given:
            hint = "--resources says what a trial takes; as many run as the cluster has room for"
            raise UsageFault(f"{name} cannot be combined with --ray", hint=hint)
    assert options.ray is not None
    require_absolute(command)
    return RayPlace(
        address_of(options.ray),
        resources_of("NPU=1" if options.resources is None else options.resources),
        os.path.join(os.path.abspath(options.journal), LOG),
        options.keep_folders,
    )


def _require_alone(options: RunOptions, word: str) -> None:
    """:raises UsageFault: if an option is for commands only"""
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


def _asked(number: int, path: str, output: Output) -> str:
    """What a person says about a trial.

    :raises KeyboardInterrupt: if they stop
    :raises Refused: if standard input ends
    """
    output.complain(f"trial {number}: {path}")
    while True:
        print("pass, fail, skip or quit? ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        if not line:
            output.complain("")
            raise Refused("standard input ended before the search did", name="no-answer", hint="--resume goes on")
        word = line.strip().lower()
        if word and "quit".startswith(word):
            raise KeyboardInterrupt
        found = [each for each in ANSWERS if word and each.startswith(word)]
        if found:
            return found[0]
