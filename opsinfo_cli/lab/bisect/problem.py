"""What a search is about: the target, the base list, the model, and the candidates."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ...core.cann.list_forms import ListFiles, WriteAs
from ...core.cann.mixlist import Mixlist
from ...core.cann.option_files import keep_dtype_text
from ...core.cann.policy import Policy
from ...core.cann.precision_mode import mode_doubt
from ...core.cann.target import Target
from ...core.change.plan import written_like
from ...core.text.scanner import scan
from ...core.text.source import Source
from ...errors import MissingPackage, OpsinfoError, Refused, UsageFault, counted, join_some
from ...near_names import did_you_mean
from ...opening import open_file, open_inside, unreadable
from ..graph.api import open_model
from ..graph.atc_options import AtcOptions
from ..graph.cost import read_prices
from ..graph.evidence import read_evidence
from ..graph.judge.modes import judge_mode
from ..graph.prepare import prepare
from ..graph.readers.onnx import external_files
from ..graph.verdict import nothing_judged
from ..profile.table import find_tables
from ..simulate.simulate_model import open_simulation
from .candidates import SetJudge, doubts, move_types, order_by_suspicion, prune
from .journal import FILES, JUDGED
from .run_folder import BEST, keep_dtype_name, mixlist_name
from .search.cheapest_set import cheapen, find_cheapest
from .search.minimal_set import END_RUNS, Price, price
from .session import SearchSubject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from hashlib import _Hash as Hash
    from typing import IO

    from ...core.cann.input_shapes import ShapesOf
    from ..graph.cost import Cost
    from ..listener import Listener
    from .candidates import ListEffect
    from .search.question import Kept
    from .session import Rules

_LARGE = 1 << 28
"""Bytes of a file that is not read to see whether it changed."""
_NODE = "node:"
"""Prefix of the names of nodes, which distinguishes them from op types in a journal."""


@dataclass(frozen=True)
class SubjectOptions:
    """What is searched.

    :param command: the command of atc that compiles the model, split into arguments
    """

    against: str | None
    model: str | None
    base: str | None
    mode: str
    among: tuple[str, ...]
    evidence: tuple[str, ...]
    grow: bool
    by: Literal["type", "node"]
    write_as: WriteAs = "mixlist"
    allow_hf32: str | None = None
    profile: tuple[str, ...] = ()
    curve: bool = False
    command: tuple[str, ...] = ()


class Problem(NamedTuple):
    """A search among op types.

    :param target: None for lists of other systems
    :param sets: the effect of sets of op types on the model; None without a model
    :param names: the candidates, the most suspected first
    :param same: for a candidate, op types that move the same nodes
    :param singles: numbers of candidates that may be enough alone, by the evidence or a simulation, in the order of
        trying
    :param list_files: makes the files of another form than a mixlist
    """

    options: SubjectOptions
    target: Target | None
    base: Mixlist
    sets: SetJudge | None
    names: list[str]
    weights: list[float]
    same: dict[str, tuple[str, ...]]
    singles: tuple[int, ...] = ()
    list_files: ListFiles | None = None

    @property
    def is_simulated(self) -> bool:
        """Whether a simulation ordered the candidates, if it could be computed."""
        return self.sets is not None and _is_simulated(self.options, self.sets)

    @property
    def has_cost(self) -> bool:
        """Whether the cheapest list is searched for."""
        return self.sets is not None and not self.options.grow

    def price(self, rules: Rules) -> Price:
        """Return the maximum runs of the search."""
        found = price(len(self.names), rules.lead or 1, self.has_cost)
        return replace(found, most=found.most + len(self.tried_alone(rules)) * (rules.lead or 1))

    def tried_alone(self, rules: Rules) -> tuple[int, ...]:
        """Return ``singles``; none with ``max_drop``, as the loss of the largest list must be known first."""
        return self.singles if rules.max_drop is None else ()

    def types(self, kept: Kept) -> frozenset[str]:
        """Return the op types that a list moves if these candidates stay high."""
        return frozenset(name for number, name in enumerate(self.names) if (number in kept) is not self.options.grow)

    def text(self, types: frozenset[str]) -> str:
        """Return the base list with op types moved."""
        return written_like(self.base, move_types(self.base.marks, sorted(types), self.options.grow))

    def lists(self, types: frozenset[str]) -> dict[str, str]:
        """Return the texts of a list's files by name, the list itself first."""
        write_as = self.options.write_as
        if write_as == "mixlist":
            return {BEST: self.text(types)}
        high, low = ([name for name in sorted(self.names) if (name in types) is kept] for kept in (True, False))
        assert self.list_files is not None
        return self.list_files(write_as, high, low)

    def subject(self) -> SearchSubject:
        def digest(kept: Kept) -> str:
            types = self.types(kept)
            if self.sets is not None:
                return self.sets.effect(types).digest
            return sha256("\n".join(sorted(types)).encode("utf-8", "surrogateescape")).hexdigest()

        def files(kept: Kept, number: int) -> dict[str, tuple[str, bytes]]:
            (name, text), *more = self.lists(self.types(kept)).items()
            name = mixlist_name(number) if self.options.write_as == "mixlist" else name
            found = {"mixlist": (name, text.encode("utf-8"))}
            found |= {name: (name, text.encode("utf-8")) for name, text in more}
            # the command may already name a keep_dtype file
            return found | ({"keep_dtype": (keep_dtype_name(number), b"")} if self.options.by == "node" else {})

        def cost(kept: Kept) -> Cost:
            assert self.sets is not None
            return self.sets.effect(self.types(kept)).cost

        return SearchSubject(self.names, digest, files, partial(cheapen, cost=cost) if self.has_cost else None)

    def node_subject(
        self, nodes: Mapping[str, int], is_costed: bool, progress: Callable[[float], None]
    ) -> SearchSubject:
        """Return the subject of a search among nodes, with the base list.

        What is released first costs most, and is the first in the graph of what costs the same.

        :param nodes: name -> index
        :param is_costed: whether the cheapest are searched for, or the latest
        """
        assert self.sets is not None
        sets, base = self.sets, self.text(frozenset()).encode("utf-8")
        names = sorted(nodes, key=nodes.__getitem__, reverse=True)
        if is_costed:
            costs = {}
            for name in names:
                costs[name] = sets.effect(frozenset({name}), by_node=True).cost
                progress(1)
            names.sort(key=costs.__getitem__)

        def effect(kept: Kept) -> ListEffect:
            return sets.effect(frozenset(names[number] for number in kept), by_node=True)

        def rank(kept: Kept) -> tuple[Cost, int, list[int]]:
            return effect(kept).cost, len(kept), sorted(-nodes[names[number]] for number in kept)

        def files(kept: Kept, number: int) -> dict[str, tuple[str, bytes]]:
            text = keep_dtype_text(sorted((names[number] for number in kept), key=nodes.__getitem__))
            return {"mixlist": (mixlist_name(number), base), "keep_dtype": (keep_dtype_name(number), text.encode())}

        return SearchSubject(
            [_NODE + name for name in names],
            lambda kept: effect(kept).digest,
            files,
            partial(find_cheapest, rank=rank, reach=lambda kept: effect(kept).moved) if is_costed else None,
            1 if is_costed else END_RUNS,
        )

    def facts(self, check: Sequence[str], files: Iterable[str]) -> dict[str, Any]:
        """Return the facts that a journal must share with this search.

        :param check: the words that identify the check
        :param files: that it reads, as far as they are known
        :raises Refused: if a file cannot be read
        """
        model = None
        if self.options.model is not None and self.sets is not None:
            model = hash_of(self.options.model)
            folder = os.path.dirname(os.path.abspath(self.options.model))
            weights = [_hash_inside(folder, name) for name in external_files(self.sets.base_answer.graph.model.onnx)]
            if weights:
                model = sha256("\n".join([model, *weights]).encode("ascii")).hexdigest()
        libraries = []
        if self.target is not None:
            stores = self.target.operators.stores
            libraries = [library.source.sha256 for store in stores for library in store.libraries]
            if self.target.source is not None:
                libraries.append(self.target.source.sha256)
        write_as, tables = self.options.write_as, find_tables(self.options.profile)
        return {
            "graph": model,
            "library": sha256("\n".join(libraries).encode("ascii")).hexdigest(),
            "base": self.base.source.sha256 if self.options.base else None,
            "command": list(check),
            "precision_mode": self.options.mode,
            "grow": "white" if self.options.grow else None,
            "candidates": sorted(self.names),
            **({} if write_as == "mixlist" else {"write_as": write_as}),
            **({"shapes": self._shapes} if self._shapes else {}),
            **({"allow_hf32": self.options.allow_hf32} if self.options.allow_hf32 else {}),
            **({JUDGED: self.sets.judged_as(self.names)} if self.sets else {}),
            FILES: {path: identity_of(path) for path in (*files, *self.options.evidence, *tables.paths)},
        }

    @property
    def _shapes(self) -> dict[str, list[int]]:
        shapes = self.sets.base_answer.graph.model.shapes if self.sets else {}
        return {name: list(dims) for name, dims in shapes.items()}


def node_name(name: str) -> str:
    """Return the name of a node from the name of its candidate."""
    return name.removeprefix(_NODE)


def hash_of(path: str) -> str:
    """Return the SHA-256 of a file, or of the files of a folder.

    :raises Refused: if one cannot be read
    """
    files = [path]
    if os.path.isdir(path):
        files = sorted(os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)
    digest = sha256()
    for name in files:
        try:
            with open_file(name) as file:
                _add(digest, file)
        except OSError as error:
            raise unreadable(error, name) from None
    return digest.hexdigest()


def identity_of(path: str) -> str:
    """Return what changes with a file or folder: its SHA-256, or the size and time of a large file, as of a data set.

    :raises Refused: if it cannot be read
    """
    try:
        status = os.stat(path)
    except OSError as error:
        raise unreadable(error, path) from None
    large = not os.path.isdir(path) and status.st_size > _LARGE
    return f"{status.st_size} bytes of {status.st_mtime_ns}" if large else hash_of(path)


def _hash_inside(folder: str, name: str) -> str:
    """Return the SHA-256 of a file with weights; empty if it is missing, or outside the model's folder."""
    digest = sha256()
    try:
        with open_inside(folder, name) as file:
            _add(digest, file)
    except Refused:
        return ""
    return digest.hexdigest()


def _add(digest: Hash, file: IO[bytes]) -> None:
    while block := file.read(1 << 20):
        digest.update(block)


_ENOUGH, _SINGLES = 0.1, 3
"""A type may be enough alone if at most this share of the error is left when it stays high; how many are tried. Chosen:
each costs a run, and the first that passes saves the run of the largest list and the halving, log2 runs or more."""


def open_problem(
    options: SubjectOptions,
    target: Target | None,
    base: Mixlist | None,
    listener: Listener,
    *,
    shapes_of: ShapesOf | None = None,
    inputs: Sequence[str] = (),
    saturate: bool = False,
    list_files: ListFiles | None = None,
) -> Problem:
    """Open the model and find the candidates of a search.

    :param target: that of ``options``, and ``base`` their mixlist
    :param inputs: sources of inputs of the simulation that orders the candidates; empty: random ones
    :raises UsageFault: if options exclude each other, the mode has no lists, or an op type is unknown
    :raises NoVerdict: if no node of the model is judged, so that no list changes it
    :raises Refused: if a file cannot be read, or the engine refuses it
    """
    require_sense(options)
    base = base or Mixlist(scan(Source(b"{}\n", "")))
    sets: SetJudge | None = None
    simulated, singles = list[str](), list[str]()
    if target is None:
        names, same = _names_of(options.among), dict[str, tuple[str, ...]]()
        assert list_files is not None
        list_files(options.write_as, names, [])
        list_files(options.write_as, [], names)
    else:
        if options.model is None:
            remarks = [*target.operators.lacking(base.marks).values(), mode_doubt(options.mode, target.soc)]
        else:
            graph = open_model(options.model, listener, shapes_of).compiled_by(options.command)
            prepared = prepare(graph, target, atc=AtcOptions(allow_hf32=options.allow_hf32))
            prices = read_prices(prepared.graph, options.profile, listener) if options.profile else None
            sets = SetJudge(prepared, options.mode, base.marks, options.grow, prices)
            remarks = sets.base_answer.warnings
            if fault := nothing_judged(sets.base_answer):
                raise fault
        for remark in filter(None, remarks):
            listener.warn(remark)
        if sets is not None and _is_simulated(options, sets):
            simulated, singles = _rank_by_simulation(sets, inputs, saturate, listener)
        names, same = _candidates(options, target, base, sets, listener)
    listener.detail(f"candidates: {', '.join(names)}")
    evidence = _suspects(options.evidence, sets, listener)
    used = [name for name in evidence if name in names]
    if used:
        listener.note(f"suspected by the evidence: {join_some(used, 5)}")
        singles = used[:_SINGLES]
    elif options.evidence:
        listener.warn(f"{join_some(options.evidence)} suspects no op type among the candidates")
    if simulated:
        listener.note(f"suspected by a simulation: {join_some([name for name in simulated if name in names], 5)}")
    black = sets if not options.grow else None
    cost = None if black is None else lambda name: black.effect(frozenset({name})).cost
    order, weights = order_by_suspicion(names, [*evidence, *simulated], cost)
    alone = [name for name in singles if name in order]
    if not used:
        alone.sort(key=cost)
    return Problem(options, target, base, sets, order, weights, same, tuple(map(order.index, alone)), list_files)


def _suspects(paths: Sequence[str], sets: SetJudge | None, listener: Listener) -> list[str]:
    """Return the op types that evidence suspects, the most suspect first; of a fused operator those that it has.

    :raises Refused: as :func:`.read_evidence`
    """
    if not paths:
        return []
    graph = sets.base_answer.graph if sets else None
    evidence = read_evidence(paths, graph)
    for remark in evidence.unclear:
        listener.note(f"evidence: {remark}")
    found: dict[str, None] = {}
    for suspect in evidence.suspects:
        found.update(dict.fromkeys([graph.types[node] for node in suspect.nodes] if graph else ()))
        found[suspect.type] = None
    return list(found)


def _is_simulated(options: SubjectOptions, sets: SetJudge) -> bool:
    return sets.base_answer.graph.model.onnx is not None and not (options.evidence or options.grow)


def _rank_by_simulation(
    sets: SetJudge, inputs: Sequence[str], saturate: bool, listener: Listener
) -> tuple[list[str], list[str]]:
    """Return the op types of a model in the order of their error in a simulation, and those that may be enough alone.

    Both are empty if it cannot be computed.
    """
    try:
        simulation = open_simulation(sets.prepared, sets.mode, inputs, saturate=saturate, listener=listener)
        plan = simulation.plan(sets.base)
        with listener.progress("ranking op types", len(plan.types)) as advance:
            ranked = simulation.rank(sets.base, advance)
        most = (simulation.error(plan) or 0.0) * _ENOUGH
        left = sorted((cost.error_without, cost.type) for cost in ranked if cost.error_without is not None)
        singles = [name for error, name in left if error <= most and isfinite(error)]
        return [cost.type for cost in ranked if cost.error_alone], singles[:_SINGLES]
    except MissingPackage as error:
        listener.detail(f"candidates are not ranked by a simulation: {error.message}")
    except OpsinfoError as error:
        if inputs:
            raise
        listener.note(f"candidates are not ranked by a simulation: {error.message}")
    return [], []


def require_sense(options: SubjectOptions) -> None:
    """:raises UsageFault: if options exclude each other, or the mode has no lists"""
    if options.model is None and not options.among:
        hint = "--model MODEL searches among the op types of a model, --among OP among those that you name"
        raise UsageFault("bisect requires --model or --among", name="needs-candidates", hint=hint)
    if options.write_as != "mixlist":
        given = {"--against": options.against, "--model": options.model, "--mixlist": options.base}
        for word in (word for word, value in {**given, "--grow": options.grow}.items() if value):
            raise UsageFault(f"{word} cannot be combined with --write-as {options.write_as}")
    elif options.against is None:
        hint = "--write-as habana|mindspore|names makes lists of the names of --among, without a target"
        raise UsageFault("bisect requires --against", name="needs-target", hint=hint)
    of_models = {"--curve": options.curve, "--allow-hf32": options.allow_hf32, "--by node": options.by == "node"}
    for word in (word for word, given in of_models.items() if given and options.model is None):
        raise UsageFault(f"{word} requires --model", name="needs-model")
    if options.profile and (options.model is None or options.grow):
        message = "--profile requires --model" if options.model is None else "--profile cannot be combined with --grow"
        hint = "a profile says what it costs to keep nodes of a model in high precision"
        raise UsageFault(message, name="needs-model", hint=hint)
    if options.curve and options.grow:
        raise UsageFault("--curve cannot be combined with --grow")
    if options.by == "node" and options.grow:
        raise UsageFault("--by node cannot be combined with --grow")
    if not judge_mode(options.mode).is_mixed:
        hint = "mixed_float16 and mixed_bfloat16 use it"
        raise UsageFault(f"the engine refuses a mixlist with {options.mode} (E10001)", name="no-mixlist", hint=hint)


def _candidates(
    options: SubjectOptions, target: Target, base: Mixlist, sets: SetJudge | None, listener: Listener
) -> tuple[list[str], dict[str, tuple[str, ...]]]:
    """Return the candidates in the order of the graph, and for each the op types that move the same nodes.

    :raises UsageFault: if the target lacks an op type
    """
    if options.among:
        names, operators = _names_of(options.among), target.operators
        unknown = [name for name in names if name not in operators]
        if any(name in operators.unreadable for name in unknown):
            operators.require(unknown)
        if unknown:
            hint = did_you_mean(unknown[0], operators.names)
            message = f"unknown operator {join_some([f'`{name}`' for name in unknown])}: not in the target"
            raise UsageFault(message, name="unknown-operator", hint=hint)
        goal = Policy.WHITE if options.grow else Policy.BLACK
        for name in names:
            if base.effective(name, operators[name].policy) is goal:
                listener.warn(f"`{name}` is on the {goal} list already")
        if sets is not None:
            for name, why in doubts(sets, names).items():
                listener.warn(f"`{name}` will not help: {why}")
            place = {name: nodes[0] for name, nodes in sets.types.items()}
            names.sort(key=lambda name: place.get(name, len(sets.base_answer)))
        return names, {}
    assert sets is not None
    candidates, dropped = prune(sets)
    if dropped:
        them = "it" if len(dropped) == 1 else "them"
        skipped = f"{counted(len(dropped), 'op type')} skipped"
        listener.note(f"{skipped}: no mixlist changes {them} in this model; -v says why")
        for name, why in dropped.items():
            listener.detail(f"  {name}: {why}")
    same = {name: others for name, others in candidates.items() if others}
    for name, others in same.items():
        covered = join_some([f"`{other}`" for other in others])
        listener.note(f"`{name}` also covers {covered}: they move the same nodes")
    return list(candidates), same


def _names_of(words: Sequence[str]) -> list[str]:
    """Return the op types of ``--among``, each once.

    :raises UsageFault: if a file has none
    :raises Refused: if a file cannot be read, or is not text
    """
    names: list[str] = []
    for word in words:
        if not word.startswith("@"):
            names.append(os.fsencode(word).decode("utf-8", "replace"))  # in any locale
            continue
        lines = [line.strip() for line in Source.read(word[1:]).text.splitlines()]
        listed = [line for line in lines if line and not line.startswith("#")]
        if not listed:
            raise UsageFault("--among: the file has no op types", path=word[1:])
        names += listed
    return list(dict.fromkeys(names))
