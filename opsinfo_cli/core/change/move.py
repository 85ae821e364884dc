"""Move op types of a target: the files that change, and the run that changes them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple
from warnings import warn

from ...errors import Refused, UsageFault, join_some
from ...near_names import matches
from ..cann.chips import chip_folder
from ..cann.library import Library, Store
from ..cann.load_order import engine_keys, library_files, load_order
from ..cann.mixlist import Mixlist, MixlistFile
from ..cann.operator_rows import mixlist_rows, operator_rows
from ..cann.policy import Policy, policy_of
from ..cann.target import AnyTarget, AnyTargets, Target, as_target_or_mixlist, targets_of
from ..cann.targets.found import FACTS
from ..text.source import Source
from .plan import Job, LibraryPlan, MixlistPlan, Result
from .write_settings import WriteSettings
from .writer import write_files

if TYPE_CHECKING:
    from typing_extensions import Unpack


def move(
    target: AnyTarget | Mixlist,
    ops: str | Iterable[str] | Mapping[str, Policy | str] = (),
    to: Policy | str | None = None,
    *,
    match: str | Iterable[str] = (),
    against: AnyTargets = None,
    pin: bool = False,
    create: bool = False,
    store: str | None = None,
    ignore_unknown: bool = False,
    say: Callable[[str], None] = warn,
    **settings: Unpack[WriteSettings],
) -> Result:
    """Put op types on a list, as ``opsinfo move``: by the flag in libraries, by marks in a mixlist.

    :param ops: names, or names with a list for each
    :param to: ``white``, ``black`` or ``gray``, for the others
    :param match: patterns of names
    :param against: for a mixlist, the target with the names and policies, or several: a mark that any of them needs
    :param pin: for a mixlist: write the mark even if ``against`` already agrees
    :param create: for a mixlist: create the file if it does not exist
    :param store: the label of the one store to change
    :param ignore_unknown: leave out op types that the target lacks
    :param say: called with doubts, such as an undefined load order
    :param settings: :class:`.WriteSettings`; with ``force`` an entry that another file overrides is edited, too
    :returns: the files with their moves, and the id of the change
    :raises UsageFault: if an op type is unknown, or an option does not fit the target
    :raises Refused: if a file cannot be read or written, or the engine would refuse it
    """
    return move_operators(
        Movable.of(
            os.fspath(target)
            if create and isinstance(target, (str, os.PathLike)) and not os.path.lexists(target)
            else as_target_or_mixlist(target),
            targets_of(against),
            create,
            say,
        ),
        ops,
        to,
        match,
        pin=pin,
        store=store,
        ignore_unknown=ignore_unknown,
        say=say,
        settings=settings,
    )


def move_operators(
    movable: Movable,
    ops: str | Iterable[str] | Mapping[str, Policy | str],
    to: Policy | str | None,
    match: str | Iterable[str],
    *,
    pin: bool,
    store: str | None,
    ignore_unknown: bool,
    say: Callable[[str], None],
    settings: WriteSettings,
) -> Result:
    """As :func:`move`, of what is open."""
    asked, ignored = movable.choose(ops, to, match, ignore_unknown, say)
    jobs = movable.jobs(asked, say, pin=pin, store=store, force=settings.get("force", False))
    del movable  # only the files to change stay in memory
    return write_files("move", jobs, settings, say)._replace(ignored=ignored)


class Movable(NamedTuple):
    """Libraries, or a mixlist, whose op types are put on lists.

    :param target: the path of a mixlist to create, or what is there
    :param against: for a mixlist, the targets with the names and policies
    """

    target: Target | MixlistFile | str
    against: tuple[Target, ...] = ()

    @classmethod
    def of(
        cls, target: Target | MixlistFile | str, against: Iterable[Target], create: bool, say: Callable[[str], None]
    ) -> Movable:
        """
        :param create: whether a path is that of a mixlist to create
        :raises UsageFault: if an option does not fit the kind of the target
        """
        movable = cls(target, tuple(against))
        if isinstance(target, str) and not target.endswith((".json", ".jsonc")):
            what = "the name of a chip" if chip_folder(target) else "not the name of a mixlist"
            hint = "a new mixlist is NAME.json, or NAME.jsonc with comments; leave out --create for anything else"
            raise UsageFault(f"`{target}` is {what}, so --create does not make it", name="wrong-kind", hint=hint)
        if isinstance(target, Target):
            if movable.against or create:
                raise _not_a_mixlist(target)
        elif not movable.against:
            say("names not checked; add --against TARGET")
        for each in movable.libraries:
            for doubt in each.doubts_of_policies():
                say(doubt)
        return movable

    @property
    def libraries(self) -> list[Target]:
        """The targets whose names and policies are known."""
        return [each for each in (*self.against, self.target) if isinstance(each, Target)]

    def elsewhere(self, name: str) -> str | None:
        """Return text about other places of an install that have an op type."""
        return self.libraries[0].operators.elsewhere(name) if self.libraries else None

    @property
    def mixlist(self) -> Mixlist | None:
        """:raises Damaged: if the engine refuses it"""
        return self.target.mixlist if isinstance(self.target, MixlistFile) else None

    def policies(self) -> dict[str, Policy | None]:
        """Return the effective policy of each op type, by name, in the first target of ``against``; without libraries
        those that the mixlist names.

        :raises Damaged: if the engine refuses the mixlist
        """
        mixlist = self.mixlist
        if self.libraries:
            return {row.name: row.policy for row in operator_rows(self.libraries[0].operators, mixlist)}
        return {row.name: row.policy for row in mixlist_rows(mixlist, None)} if mixlist else {}

    def _names(self) -> Iterable[str]:
        """Return the op types of all libraries; without them those that the mixlist names.

        :raises Damaged: if the engine refuses the mixlist
        """
        if self.libraries:
            return dict.fromkeys(name for each in self.libraries for name in each.operators.names)
        return self.mixlist.marks if self.mixlist else ()

    def choose(
        self,
        ops: str | Iterable[str] | Mapping[str, Policy | str],
        to: Policy | str | None,
        match: str | Iterable[str],
        ignore_unknown: bool,
        say: Callable[[str], None],
    ) -> tuple[dict[str, Policy], tuple[str, ...]]:
        """Return the op types that are asked for, each with its list, and the unknown ones that are left out.

        :raises UsageFault: if a list is missing or unknown, or a pattern matches nothing
        """
        ops = [ops] if isinstance(ops, str) else ops
        match = [match] if isinstance(match, str) else match
        by_name = ops if isinstance(ops, Mapping) else dict.fromkeys(ops, to)
        for glob in match:
            matching = [name for name in self._names() if matches(name, [glob])]
            if not matching:
                hint = "`opsinfo list TARGET` lists them"
                raise UsageFault(f"no operator matches `{glob}`", name="no-match", hint=hint)
            by_name = {**by_name, **dict.fromkeys(matching, to)}
        asked = {}
        for name, policy in by_name.items():
            asked[name] = policy_of(policy)
        ignored: list[str] = []
        if ignore_unknown and self.libraries:
            ignored = [name for name in asked if not any(name in each.operators for each in self.libraries)]
        for name in ignored:
            say(f"unknown operator `{name}` is left out")
            del asked[name]
        return asked, tuple(ignored)

    def jobs(
        self,
        asked: Mapping[str, Policy],
        say: Callable[[str], None],
        *,
        pin: bool = False,
        store: str | None = None,
        force: bool = False,
        reviewed: bool = False,
    ) -> list[Job]:
        """Return a job for each file to change.

        :param asked: op type -> its list
        :param reviewed: as in :class:`Job`
        :param say: called with doubts
        :raises UnknownOperator: if the target, or for a mixlist ``against``, lacks an op type
        :raises UsageFault: if an option does not fit the target
        :raises Refused: as :func:`winning_files`
        """
        target = self.target
        if not asked:
            return []
        if isinstance(target, str):
            return [Job(target, _mixlist_plan(asked, self.against, pin, say), start=Source(b"{}\n", target))]
        if isinstance(target, MixlistFile):
            plan = _mixlist_plan(asked, self.against, pin, say)
            return [Job(target.path, plan, target.source, reviewed=reviewed)]
        if pin:
            raise _not_a_mixlist(target)
        require_changeable(target, asked)
        target.operators.require(asked)
        files = winning_files(target, list(asked), store, force, say)
        read = target.operators.libraries()
        return [
            Job(
                path, LibraryPlan({name: asked[name] for name in own}, read[path]), read[path].source, reviewed=reviewed
            )
            for path, own in files.items()
        ]


def _mixlist_plan(
    asked: Mapping[str, Policy], against: Sequence[Target], pin: bool, say: Callable[[str], None]
) -> MixlistPlan:
    """Return the plan of the marks that any of the targets needs.

    :raises UnknownOperator: if no target has an op type
    :raises UsageFault: if no marks make an op type gray in all targets
    """
    if not against:
        return MixlistPlan(asked)
    against[0].operators.require(name for name in asked if not any(name in each.operators for each in against))
    decisive: dict[str, Policy | None] = {}
    for name, to in asked.items():
        lacking = [each for each in against if name not in each.operators]
        for each in lacking:
            say(f"`{name}` is not in {each.text}, so its mark does nothing there")
        policies = {policy for each in against if each not in lacking for policy in each.operators[name].policies}
        if to is Policy.GRAY:
            policies = policies - {to} or policies  # an op type that is gray needs no mark, and none harms it
            if len(policies) > 1:
                where = "target" if len(against) > 1 else "store"
                message = f"`{name}` is white in one {where} and black in another: no marks make it gray in both"
                hint = "write a mixlist for each"
                raise UsageFault(message, name="gray-in-some", hint=hint)
        decisive[name] = policies.pop() if len(policies) == 1 else None
    return MixlistPlan(asked, decisive, pin)


def _not_a_mixlist(target: Target) -> UsageFault:
    """Return the error for options of mixlists that are given for a library."""
    return UsageFault("--against, --pin and --create require a mixlist", path=target.path)


def require_changeable(target: Target, asked: Mapping[str, Policy]) -> None:
    """:raises Refused: if the target is never written; names the lines to change
    :raises UsageFault: if it is not, and has no such lines
    :raises UnknownOperator: if it is not, and lacks an op type
    """
    not_written = FACTS[target.kind].not_written
    if not_written is None:
        return
    if not_written.flag is None:
        raise UsageFault(not_written.reason, name="wrong-kind", path=target.path, hint=not_written.instead)
    changes = []
    for operator in target.operators.require(asked):
        to, entry = asked[operator.name], operator.entry
        if operator.policy is to:
            continue
        word = not_written.flag
        takes = f"`{word % to.flag}`" if to.flag else f"no `{word.partition('(')[0].partition('=')[0]}`"
        changes.append(f"{entry.path}:{entry.line}: `{operator.name}` is {operator.policy}; {to} takes {takes}")
    raise Refused(
        f"{not_written.reason}{': ' if changes else ''}{join_some(changes, 10)}",
        name="not-written",
        path=target.path,
        hint=not_written.instead,
    )


def winning_files(
    target: Target, names: Sequence[str], chosen: str | None, force: bool, say: Callable[[str], None]
) -> dict[str, list[str]]:
    """Return the files to change, with their op types: in each store the file whose entry wins, or may win.

    :param chosen: the label of a store; None for all
    :param force: whether to edit an entry of a lone file that another file overrides
    :raises UsageFault: if the store is unknown
    :raises Refused: if the target is a file whose entry is overridden
    """
    stores = [store for store in target.operators.stores if chosen in (None, store.label)]
    if not stores:
        labels = ", ".join(f"`{store.label}`" for store in target.operators.stores)
        raise UsageFault(f"unknown store `{chosen}`", name="unknown-store", hint=f"known stores: {labels}")
    real = {library.path: os.path.realpath(library.path) for store in stores for library in store.libraries}
    named = {each: path for path, each in real.items()}  # links may list a file twice
    files: dict[str, list[str]] = {}
    for name in names:
        entries = [each for store in stores if name in store.definitions for each in store.contenders(name)]
        if not entries:
            raise UsageFault(f"`{name}` is not in store `{chosen}`", name="unknown-operator")
        for path in dict.fromkeys(named[real[entry.path]] for entry in entries):
            files.setdefault(path, []).append(name)
    if target.kind == "library" and not force:
        _require_winning(target.path, names, say)
    return files


def _require_winning(path: str, names: Sequence[str], say: Callable[[str], None]) -> None:
    """Warn if the load order is undefined.

    :raises Refused: if a file of the same directory that is loaded later has the op type too
    """
    folder, own = os.path.split(os.path.abspath(path))
    siblings = library_files(folder)
    if own not in siblings:
        return
    keys, real = engine_keys(folder, siblings), os.path.realpath(path)
    doubts: dict[str, list[str]] = {}
    for name in reversed(load_order(folder, siblings)):
        other = os.path.join(folder, name)
        if keys[name] < keys[own] or os.path.realpath(other) == real:
            continue
        try:
            definitions = Store([Library.read(other)]).definitions
        except Refused:
            continue
        for op in (op for op in names if op in definitions):
            place = f"{name}:{definitions[op][-1].line}"
            if keys[name] > keys[own]:
                message = f"the entry of `{op}` never wins: {place} replaces it"
                hint = f"move it in {other}, or in the store {folder}; --force edits it here"
                raise Refused(message, name="shadowed-entry", path=path, hint=hint)
            doubts.setdefault(op, []).append(place)
    for op, places in doubts.items():
        say(f"the load order is undefined: this entry of `{op}` wins, or {join_some(places)}")
