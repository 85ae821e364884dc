"""The subject of a search: the target, the base list, the model, and the candidates."""

from __future__ import annotations

import os
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from ...bisect.candidates import doubts, pruned
from ...bisect.evidence import read_evidence
from ...bisect.judged_sets import JudgedSets, moved
from ...bisect.order import ordered
from ...bisect.subject import SearchSubject
from ...bisect.trial import keep_dtype_name, mixlist_name
from ...change.mixlist_text import written_like
from ...errors import Refused, UsageFault, join_some
from ...graph.graph import ModelGraph
from ...graph.judge.modes import judge_mode
from ...graph.judging import prepare
from ...model.mixlist import Mixlist
from ...model.near_names import did_you_mean
from ...model.policy import Policy
from ...model.target import Target, TargetOptions
from ...report.formats.summary import counted
from ...report.terminal.output import Output
from ...text.scanner import scan
from ...text.source import Source
from ..model_graph.judging import opened_model
from ..shared.doubts import report_doubts, report_unknown
from ..shared.mixlist_input import accepted_mixlist
from ..shared.options import given_names
from ..shared.targets import open_against
from .options import SubjectOptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ...bisect.question import Kept


class Opened(NamedTuple):
    """The inputs named by the options.

    :param base: the mixlist that every list extends
    :param graph: None without a model
    :param sets: the effect of sets of op types on the model; None without a model
    """

    options: SubjectOptions
    target: Target
    base: Mixlist
    graph: ModelGraph | None
    sets: JudgedSets | None

    @property
    def white(self) -> bool:
        return self.options.grow == "white"

    def types(self, candidates: list[str], kept: Kept) -> frozenset[str]:
        """Return the op types that a list moves if these candidates stay high."""
        names = enumerate(candidates)
        return frozenset(name for number, name in names if (number in kept) is not self.white)

    def text(self, types: frozenset[str]) -> str:
        """Return the base list with op types moved."""
        return written_like(self.base, moved(self.base.marks, sorted(types), self.white))


class Problem(NamedTuple):
    """A search among op types.

    :param weights: how strongly each candidate is suspected
    :param dropped: op types that cannot be candidates, with the reasons
    """

    opened: Opened
    names: list[str]
    weights: list[float]
    same: dict[str, tuple[str, ...]]
    dropped: list[tuple[str, str]]

    def subject(self) -> SearchSubject:
        """Return the subject for a session."""

        def digest(kept: Kept) -> str:
            types = self.opened.types(self.names, kept)
            if self.opened.sets is not None:
                return self.opened.sets.digest(types)
            return sha256("\n".join(sorted(types)).encode("utf-8", "surrogateescape")).hexdigest()

        def files(kept: Kept, number: int) -> dict[str, tuple[str, bytes]]:
            text = self.opened.text(self.opened.types(self.names, kept))
            found = {"mixlist": (mixlist_name(number), text.encode("utf-8"))}
            if self.opened.options.by == "node":  # the command may already name it
                found["keep_dtype"] = keep_dtype_name(number), b""
            return found

        return SearchSubject(self.names, digest, files)


def opened(options: SubjectOptions, target_options: TargetOptions, output: Output) -> Opened:
    """Open the target, the base list and the model.

    :raises UsageFault: if the mode has no lists, or neither a model nor op types are given
    :raises Refused: if a file cannot be read, or the engine refuses it
    """
    if options.model is None and not options.among:
        hint = "--model MODEL searches among the op types of a model, --among OP among those that you name"
        raise UsageFault("bisect requires --model or --among", name="needs-candidates", hint=hint)
    if options.by == "node" and options.model is None:
        raise UsageFault("--by node requires --model", name="needs-model")
    if options.by == "node" and options.grow:
        raise UsageFault("--by node cannot be combined with --grow")
    if not judge_mode(options.mode).is_mixed:
        hint = "mixed_float16 and mixed_bfloat16 use it"
        raise UsageFault(f"the engine refuses a mixlist with {options.mode} (E10001)", name="no-mixlist", hint=hint)
    target = open_against(options.against, output, target_options)
    report_doubts(target, output)
    base = accepted_mixlist(options.base, output) if options.base else Mixlist(scan(Source(b"{}\n", "")))
    if options.base:
        report_unknown(base, target.operators, output)
    if options.model is None:
        return Opened(options, target, base, None, None)
    graph = opened_model(options.model, output)
    sets = JudgedSets(prepare(graph, target), options.mode, base.marks, options.grow == "white")
    return Opened(options, target, base, graph, sets)


def problem(found: Opened, output: Output) -> Problem:
    """Return the candidates, the most suspected first.

    :raises UsageFault: if an op type is unknown
    """
    named = _named(found.options.among)
    same: dict[str, tuple[str, ...]] = {}
    dropped: list[tuple[str, str]] = []
    if named:
        names = _known(named, found, output)
        if found.sets is not None:
            for each in doubts(found.sets, names):
                output.say(f"`{each.name}` will not help: {each.why}", "warning")
            names = _in_order_of(found.sets, names)
    else:
        assert found.sets is not None
        candidates, refused = pruned(found.sets)
        names = [each.name for each in candidates]
        same = {each.name: each.same for each in candidates if each.same}
        dropped = [(each.name, each.why) for each in refused]
    _report(candidates=names, same=same, dropped=dropped, output=output)
    evidence = [name for path in found.options.evidence for name in read_evidence(path)]
    _report_evidence(evidence, names, found.options.evidence, output)
    order = ordered(names, evidence)
    return Problem(found, order.names, order.weights, same, dropped)


def facts_of(found: Problem, check: Sequence[str]) -> dict[str, Any]:
    """Return the facts that a journal must share with this search."""
    opened, options = found.opened, found.opened.options
    libraries = [library.source.sha256 for store in opened.target.operators.stores for library in store.libraries]
    if opened.target.source is not None:
        libraries.append(opened.target.source.sha256)
    return {
        "graph": None if options.model is None else _hash_of(options.model),
        "library": sha256("\n".join(libraries).encode("ascii")).hexdigest(),
        "base": opened.base.source.sha256 if options.base else None,
        "command": list(check),
        "precision_mode": options.mode,
        "grow": options.grow,
        "candidates": sorted(found.names),
    }


def _hash_of(path: str) -> str:
    """Return the SHA-256 of a file, or of the files of a folder."""
    files = [path]
    if os.path.isdir(path):
        files = sorted(os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)
    found = sha256()
    for each in files:
        try:
            with open(each, "rb") as file:
                while block := file.read(1 << 20):
                    found.update(block)
        except OSError as error:
            raise Refused(error.strerror or str(error), name="unreadable", path=each) from None
    return found.hexdigest()


def _named(words: tuple[str, ...]) -> list[str]:
    """Return the op types of ``--among``, each once.

    :raises UsageFault: if a file has none
    :raises Refused: if a file cannot be read, or is not text
    """
    found: list[str] = []
    for word in given_names(words):
        if not word.startswith("@"):
            found.append(word)
            continue
        lines = Source.read(word[1:]).text.splitlines()
        names = [line.strip() for line in lines if line.strip() and not line.strip().startswith("#")]
        if not names:
            raise UsageFault("--among: the file has no op types", path=word[1:])
        found += names
    return list(dict.fromkeys(found))


def _known(names: list[str], found: Opened, output: Output) -> list[str]:
    """:raises UsageFault: if the target lacks an op type"""
    operators = found.target.operators
    unknown = [name for name in names if name not in operators]
    if unknown:
        hint = did_you_mean(unknown[0], operators.names)
        said = f"unknown operator {join_some([f'`{name}`' for name in unknown])}: not in the target"
        raise UsageFault(said, name="unknown-operator", hint=hint)
    there = Policy.WHITE if found.white else Policy.BLACK
    for name in names:
        if found.base.effective(name, operators[name].policy) is there:
            output.say(f"`{name}` is on the {there} list already", "warning")
    return names


def _in_order_of(sets: JudgedSets, names: list[str]) -> list[str]:
    place = {name: at for at, name in reversed([*enumerate(sets.graph.types)])}
    return sorted(names, key=lambda name: place.get(name, len(place)))


def _report(
    candidates: list[str], same: Mapping[str, tuple[str, ...]], dropped: list[tuple[str, str]], output: Output
) -> None:
    if dropped:
        output.say(f"{counted(len(dropped), 'op type')} left out, which no list can move here; -v shows them")
        for name, why in dropped:
            output.detail(f"  {name}: {why}")
    for name, others in same.items():
        output.say(f"`{name}` also covers {join_some([f'`{each}`' for each in others])}: they move the same nodes")
    output.detail(f"candidates: {', '.join(candidates)}")


def _report_evidence(evidence: list[str], names: list[str], paths: tuple[str, ...], output: Output) -> None:
    if not paths:
        return
    used = [name for name in dict.fromkeys(evidence) if name in names]
    if used:
        output.say(f"suspected by the evidence: {join_some(used, 5)}")
    else:
        output.say(f"{join_some(paths)} names no op type among the candidates", "warning")
