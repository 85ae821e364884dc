"""What judges a trial: a command, a simulation or a person; and the place where trials run."""

from __future__ import annotations

import os
import re
import sys
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from ....core.cann.mixlist import Mixlist
from ....core.terminal.console import Console
from ....core.terminal.hints import argument_meant
from ....core.text.scanner import scan
from ....core.text.source import Source
from ....errors import Refused, UsageFault, quoted
from ...bisect.placeholders import named_files, replacements, require_placeholders
from ...bisect.places.here import HerePlace
from ...bisect.places.many import ManyPlace
from ...bisect.problem import Problem
from ...bisect.session import Rules, RunBudget
from ...bisect.verdicts import SKIPS
from ...graph.verdict import no_verdict
from ...simulate.report import nothing_rounded
from ...simulate.simulate_model import open_simulation
from ..simulation_options import SimulationOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...bisect.trial import Trial, TrialPlace

_ANSWERS = {"pass": 0, "fail": 1, "skip": SKIPS}
_RESOURCES = "NPU=1"
_ORDERING = ("--inputs", "--saturate")
"""Options of a simulation that orders the candidates, whatever the check is."""
_OF_MODEL = "--shape"


@dataclass(frozen=True)
class RunOptions:
    """How the check is run."""

    journal: str
    resume: bool
    restart: bool
    budget: str | None
    timeout: float | None
    lead: int | None
    retries: int
    jobs: int | None
    devices: str | None
    interactive: bool
    simulate: bool
    ray: str | None
    resources: str | None
    max_drop: float | None = None


class Check:
    """The judge of trials, as the options choose it.

    :ivar rules: how trials are run and counted
    """

    def __init__(
        self, options: RunOptions, simulating: SimulationOptions, command: tuple[str, ...], by_node: bool
    ) -> None:
        """:raises UsageFault: if there is no check, more than one, or an option does not fit it"""
        self.options = options
        self.simulating = simulating
        self.command = command
        given = {"a command": bool(command), "-i": options.interactive, "--simulate": options.simulate}
        chosen = [word for word, is_given in given.items() if is_given]
        if len(chosen) > 1:
            is_command = not command or "{" in "".join(command)
            meant = None if is_command else argument_meant(command, click.get_current_context())
            hint = f"`{command[0]}` is read as the command: did you mean `{meant}`?" if meant else None
            raise UsageFault(f"only one of {' and '.join(chosen)} can be the check", hint=hint)
        if not chosen:
            hint = "opsinfo bisect ... -- ./check.sh {mixlist}; or --simulate, or -i to judge yourself"
            raise UsageFault("bisect needs a check: the command after --", name="needs-check", hint=hint)
        self._require_options(chosen[0])
        if options.resume and options.restart:
            raise UsageFault("--resume and --restart cannot be combined")
        if options.timeout == 0:
            raise UsageFault("--timeout: a run takes longer than 0 seconds")
        budget = RunBudget() if options.budget is None else RunBudget.read(options.budget)
        self.rules = Rules(command, options.lead, options.timeout, options.retries, budget, options.max_drop)
        self.devices = [word.strip() for word in options.devices.split(",")] if options.devices is not None else []
        if not all(self.devices) or len(set(self.devices)) < len(self.devices):
            raise UsageFault("--devices: comma-separated names of devices, each once, as in 0,1,2")
        if self.devices and options.jobs is not None and options.jobs > len(self.devices):
            raise UsageFault(f"--jobs {options.jobs} needs as many devices; --devices has {len(self.devices)}")
        self.resources = resources_of(options.resources or _RESOURCES)
        if options.ray:
            require_address(options.ray)
            require_absolute(command)
        missing = {} if by_node else {"keep_dtype": "--by node"}
        require_placeholders(command, missing if options.devices or options.ray else {**missing, "device": "--devices"})

    def _require_options(self, check: str) -> None:
        """:raises UsageFault: if an option does not fit the check or the place, or a simulation has no bound"""
        options, simulating = self.options, self.simulating
        command_only = {
            "--jobs": options.jobs is not None,
            "--devices": options.devices is not None,
            "--timeout": options.timeout is not None,
            "--ray": options.ray is not None,
            "--resources": options.resources is not None,
        }
        for name, is_given in command_only.items():
            if is_given and not self.command:
                raise UsageFault(f"{name} cannot be combined with {check}")
            if is_given and options.ray and name in ("--jobs", "--devices"):
                hint = "--resources sets what a trial takes; as many run as the cluster has room for"
                raise UsageFault(f"{name} cannot be combined with --ray", hint=hint)
            if is_given and not options.ray and name == "--resources":
                raise UsageFault(f"{name} requires --ray")
        if options.max_drop is not None and options.interactive:
            raise UsageFault("--max-drop cannot be combined with -i: a person prints no loss")
        bounds = (simulating.max_error, simulating.min_cosine, options.max_drop)
        if options.simulate and all(bound is None for bound in bounds):
            hint = "--max-error 0.01 bounds max|a-b| / max|b| of every output"
            raise UsageFault(
                "--simulate requires --max-error, --min-cosine or --max-drop", name="needs-bound", hint=hint
            )
        for word, *_ in simulating.words:
            if not options.simulate and word not in (*_ORDERING, _OF_MODEL):
                raise UsageFault(f"{word} requires --simulate")

    @property
    def words(self) -> list[str]:
        """The check as words, which identify it in a journal and on the page."""
        options = self.options
        bound = [] if options.max_drop is None else ["--max-drop", repr(options.max_drop).removesuffix(".0")]
        if options.simulate:
            return [*bound, "--simulate", *(word for words in self.simulating.words for word in words)]
        return ["-i"] if options.interactive else [*bound, *self.command]

    @property
    def shown(self) -> str:
        """The check for a reader: the command as a shell takes it, or the options of the simulation."""
        if self.options.interactive:
            return "a person (-i)"
        plain = [re.sub(r"\{\w+\}", "x", word) for word in self.words]  # placeholders need no quotes
        words = zip(self.words, plain, strict=True)
        return " ".join(word if quoted(bare) == bare else quoted(word) for word, bare in words)

    @property
    def files(self) -> list[str]:
        """The files and folders that the check reads, as far as its words name them."""
        return [*named_files(self.command), *filter(os.path.exists, self.simulating.inputs)]

    def require_simulation(self) -> None:
        """:raises UsageFault: if inputs are given that no simulation reads"""
        for word, *_ in self.simulating.words:
            if not self.options.simulate and word != _OF_MODEL:
                raise UsageFault(f"{word} requires --simulate, or an ONNX model without --evidence and --grow")

    def place(self, problem: Problem, console: Console, folder: str) -> TrialPlace:
        """Return the place where trials run.

        :raises UsageFault: if a simulation has no model
        :raises NoVerdict: if a simulation would prove nothing
        :raises Refused: if the model cannot be computed
        :raises MissingPackage: if a package for that, or for a cluster, is not installed
        """
        options = self.options
        if options.interactive:
            return HerePlace(lambda trial: _ask(trial, console), "person")
        if options.simulate:
            return HerePlace(self._simulator(problem, console), "simulation")
        if options.ray:
            from ...bisect.places.ray import LOG, RayPlace

            return RayPlace(options.ray, self.resources, os.path.join(folder, LOG))
        return ManyPlace(os.environ, options.jobs or len(self.devices) or 1, self.devices)

    def _simulator(self, problem: Problem, console: Console) -> Callable[[Trial], tuple[int, str]]:
        sets, options = problem.sets, self.simulating
        if sets is None:
            raise UsageFault("--simulate requires --model", name="needs-model")
        if fault := no_verdict(sets.base_answer):
            raise fault
        plain = open_simulation(sets.prepared, sets.mode, options.inputs, saturate=options.saturate, listener=console)
        if not plain.plan(sets.base):
            raise nothing_rounded(plain.path)

        def simulate(trial: Trial) -> tuple[int, str]:
            simulation = plain
            if "keep_dtype" in trial.files:
                simulation = copy(plain)  # computed results are reused
                simulation.prepared = sets.keeping(trial.files["keep_dtype"][1].decode("utf-8").splitlines())
            name, content = trial.files["mixlist"]
            outputs = simulation.run(Mixlist(scan(Source(content, name))))
            cosine = "unknown" if outputs.min_cosine is None else repr(outputs.min_cosine)
            passes = outputs.passes(options.max_error, options.min_cosine)
            return 0 if passes else 1, f"cosine {cosine}, max_rel_error {outputs.max_rel_error:.6g}"

        return simulate


def _ask(trial: Trial, console: Console) -> tuple[int, str]:
    """Return the exit status for the verdict of a person on a trial, and the word.

    :raises KeyboardInterrupt: if they stop
    :raises Refused: if standard input ends
    """
    paths = replacements(trial.folder, trial.files, None)
    console.lines([f"trial {trial.number}: {paths.get('keep_dtype', paths['mixlist'])}"])
    while True:
        print("pass, fail, skip or quit? ", end="", file=sys.stderr, flush=True)
        try:
            line = sys.stdin.readline()
        except KeyboardInterrupt:
            console.lines([""])
            raise
        if not line:
            console.lines([""])
            hint = "--resume continues the search"
            raise Refused("standard input ended before the search did", name="no-answer", hint=hint)
        word = line.strip().lower()
        if word and "quit".startswith(word):
            raise KeyboardInterrupt
        answers = [answer for answer in _ANSWERS if word and answer.startswith(word)]
        if answers:
            return _ANSWERS[answers[0]], answers[0]
        console.lines([f"type one of {', '.join(_ANSWERS)}, quit, or a first letter"])


def require_address(text: str) -> None:
    """:raises UsageFault: if a text is no address of a cluster: ``auto``, or ``HOST:PORT`` of its head"""
    host, _, port = text.rpartition(":")
    if text != "auto" and not (host and port.isdecimal() and "//" not in host):
        hint = "auto, or HOST:PORT as `ray start --head` prints it; start opsinfo on a host of the cluster"
        raise UsageFault(f"--ray: cannot read `{text}`", hint=hint)


def resources_of(text: str) -> dict[str, float]:
    """Parse the resources of a trial on a cluster: ``NPU=1``, ``NPU=2,CPU=8``.

    :raises UsageFault: if the text has another form, or an amount is none that Ray counts
    """
    resources: dict[str, float] = {}
    for word in text.split(","):
        name, _, number = (part.strip() for part in word.partition("="))
        try:
            amount = float(number)
        except ValueError:
            amount = 0.0
        if not name or name in resources or not 1e-4 <= amount < float("inf"):
            hint = "names and numbers, each name once, as in NPU=1 or NPU=2,CPU=8"
            raise UsageFault(f"--resources: cannot read `{word}`", hint=hint)
        if amount > 1 and not amount.is_integer():
            raise UsageFault(f"--resources: `{word}`: above 1 only whole numbers are allowed", hint="NPU=2, or NPU=0.5")
        resources[name] = amount
    return resources


def require_absolute(command: Sequence[str]) -> None:
    """:raises UsageFault: if a word names a file of the current directory: trials run in another one, on other hosts"""
    for number, word in enumerate(command):
        is_path = "/" in word or number > 0  # a program without a slash is looked up in PATH
        if is_path and not os.path.isabs(word) and os.path.isfile(word):
            raise UsageFault(
                f"`{word}` is a file of the current directory, and trials run in other folders on other hosts",
                name="relative-path",
                hint=f"give its absolute path, which every host must have: {os.path.abspath(word)}",
            )
