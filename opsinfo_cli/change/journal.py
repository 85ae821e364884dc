"""The content of a vault at one moment: chains of records, and damage.

Each path of each machine has a chain. A record names the record before it, a head names the last one. A head is written
after its record, so only a record that is still open may come after the one that its head names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from .chain import Damage, Head, Key, Lineage, Link, Scope, Walk, refusal
from .record import Record, machine_name


class Journal:
    """:param records: the undamaged records, in any order
    :param heads: the content of the undamaged heads
    :param damage: the damage found while reading
    :param place: returns the path in the vault of a record (``changes``) or head (``heads``)
    """

    def __init__(
        self,
        records: Iterable[Record],
        heads: Mapping[Key, Head],
        damage: Iterable[Damage],
        place: Callable[[str, str], str],
    ) -> None:
        self.records = sorted(records, key=lambda record: (record.order, record.id))
        self.heads = dict(heads)
        self.place = place
        self._read_damage = {each.path: each for each in damage}
        self._all_damage: list[Damage] | None = None
        self.by_id = {record.id: record for record in self.records}
        self.links: dict[Key, dict[str, Link]] = {}
        for record in self.records:
            for index in range(len(record.files)):
                link = Link(record, index)
                self.links.setdefault(link.key, {})[record.id] = link
        self._walks: dict[Key, Walk] = {}
        self._branches: dict[Key, dict[str, str]] = {}

    @property
    def keys(self) -> list[Key]:
        return list(dict.fromkeys([*self.links, *self.heads]))

    def next_order(self) -> int:
        """Return an order greater than that of every known record."""
        orders = [record.order for record in self.records] + [head.order for head in self.heads.values()]
        return 1 + max(orders, default=0)

    def pending(self) -> list[Record]:
        return [record for record in self.records if record.state == "pending"]

    # chains

    def walk(self, path: str, machine: str | None = None) -> Walk:
        """Return the chain of a path on this machine, or another one, as far as it is certain."""
        key = Key(machine_name() if machine is None else machine, path)
        if key not in self._walks:
            self._walks[key] = self._walked(key)
        return self._walks[key]

    def _walked(self, key: Key) -> Walk:
        try:
            name = self._tail(key)
        except _Unknown as unknown:
            return Walk([], unknown.damage)
        links: list[Link] = []
        seen = set()
        while name is not None:
            link = self.links.get(key, {}).get(name)
            if link is None or name in seen:
                return Walk(links, self._missing(name, key))
            seen.add(name)
            links.append(link)
            name = link.changed.previous
        return Walk(links, None)

    def _tail(self, key: Key) -> str | None:
        """Return the id of the last record of a chain.

        :raises _Unknown: if it is uncertain
        """
        if self.place("heads", key.name) in self._read_damage:
            raise _Unknown(self._bad_head(key))
        links, head = self.links.get(key, {}), self.heads.get(key, Head(None, -1))
        branch = _and_before(links, head.last)
        passed = {links[name].changed.previous for name in branch if name in links}
        last = head.last
        for name, link in links.items():  # in order
            if link.record.order <= head.order or name in branch or self._start(links, link, branch) in passed:
                continue
            if not link.record.is_open:
                raise _Unknown(self._bad_head(key))
            if link.changed.previous == last:  # a run was killed before it wrote the head
                last = name
        return last

    @staticmethod
    def _start(links: Mapping[str, Link], link: Link, branch: set[str]) -> str | None:
        """Return the record of a branch after which the records up to ``link`` begin."""
        seen = {link.record.id}
        previous = link.changed.previous
        while previous is not None and previous in links and previous not in branch and previous not in seen:
            seen.add(previous)
            previous = links[previous].changed.previous
        return previous

    def _missing(self, name: str, key: Key) -> Damage:
        path = self.place("changes", name)
        found = next((each for each in self.damage if each.path == path), None)
        return found or Damage(path, "the record does not belong to this chain", "record", frozenset({key}))

    def _bad_head(self, key: Key) -> Damage:
        path = self.place("heads", key.name)
        return self._read_damage.get(path) or Damage(
            path, "the head is missing or does not name the last record", "head", frozenset({key})
        )

    def _leaf(self, key: Key) -> str | None:
        damage = [each for each in self.damage if each.kind == "record"]
        links = self.links.get(key, {})
        followed = {link.changed.previous for link in links.values()}
        leaves = [name for name in links if name not in followed]
        if damage or len(leaves) > 1:
            raise refusal(damage[0] if damage else self._bad_head(key))
        return leaves[0] if leaves else None

    def last(self, key: Key) -> tuple[str | None, bool]:
        """Return the id of the last record of a chain, and whether its head can be trusted.

        :raises Refused: if the head cannot be trusted, and the records alone do not determine the last one
        """
        try:
            return self._tail(key), True
        except _Unknown:
            return self._leaf(key), False

    def forks(self) -> list[tuple[Key, str | None, list[str]]]:
        """Return (chain, record, successors) for each record with more than one successor."""
        found = []
        for key, links in self.links.items():
            after: dict[str | None, list[str]] = {}
            for name, link in links.items():
                if not link.record.is_open:
                    after.setdefault(link.changed.previous, []).append(name)
            found += [(key, previous, names) for previous, names in after.items() if len(names) > 1]
        return found

    # lineages

    def lineage_id(self, link: Link) -> str:
        """Return the lineage of a link; a branch that the head does not name has its own."""
        if link.key not in self._branches:
            self._branches[link.key] = self._branches_of(link.key)
        begun = self._branches[link.key].get(link.record.id)
        return f"{link.changed.lineage}~{begun}" if begun else link.changed.lineage

    def _branches_of(self, key: Key) -> dict[str, str]:
        """Return record -> first record of its branch, for branches that the head does not name."""
        found: dict[str, str] = {}
        main = {each.record.id for each in self.walk(key.path, key.machine).links}
        begins = {name for each, _, names in self.forks() if each == key for name in names if name not in main}
        for name, link in self.links[key].items():
            previous = link.changed.previous
            if name in begins or previous in found:
                found[name] = name if name in begins else found[str(previous)]
        return found

    def lineages(self, path: str, machine: str | None = None) -> list[Lineage]:
        """Return the lineages of the chain of a real path, newest last, without other branches."""
        found: dict[str, Lineage] = {}
        for link in reversed(self.walk(path, machine).links):
            changed, record = link.changed, link.record
            first = changed.before or changed.after or ""
            lineage = found.setdefault(
                changed.lineage, Lineage(changed.lineage, first, record.time, changed.version, [])
            )
            written = None if record.state == "abandoned" else changed.after
            lineage.known.extend(filter(None, (changed.before, written)))
        return list(found.values())

    def current_lineage(self, path: str, digest: str) -> Lineage | None:
        """Return the newest lineage, if the present file belongs to it."""
        lineages = self.lineages(path)
        return lineages[-1] if lineages and digest in lineages[-1].known else None

    def first_copies(self) -> dict[tuple[Key, str], str]:
        """Return (chain, lineage) -> SHA-256 of its first content."""
        found: dict[tuple[Key, str], str] = {}
        for links in self.links.values():
            for link in links.values():
                first = link.changed.before or link.changed.after
                if first:
                    found.setdefault((link.key, self.lineage_id(link)), first)
        return found

    # damage

    @property
    def damage(self) -> list[Damage]:
        """Return damaged or missing records and heads, each once."""
        if self._all_damage is None:
            found = {path: each._replace(keys=self._naming(path)) for path, each in self._read_damage.items()}
            for key in self.keys:
                links, head = self.links.get(key, {}), self.heads.get(key)
                for name in [*(link.changed.previous for link in links.values()), head.last if head else None]:
                    path = self.place("changes", name or "")
                    if name and name not in links and path not in found:
                        said = "the record lacks a file of its chain" if name in self.by_id else "the record is missing"
                        found[path] = Damage(path, said, "record", self._naming(path))
                try:
                    self._tail(key)
                except _Unknown as unknown:
                    found.setdefault(unknown.damage.path, unknown.damage)
            self._all_damage = list(found.values())
        return self._all_damage

    def _naming(self, path: str) -> frozenset[Key]:
        """Return the chains that a file of the vault belongs to, if known."""
        found = set()
        for key in self.keys:
            head = self.heads.get(key)
            names = [link.changed.previous for link in self.links.get(key, {}).values()] + [head.last if head else None]
            if path == self.place("heads", key.name) or path in [self.place("changes", name) for name in names if name]:
                found.add(key)
        return frozenset(found)

    def require_known(self, scope: Scope, back_to: Record | None) -> None:
        """:raises Refused: if a chain in scope is uncertain after a record; None for the whole chain"""
        self.require_attributed()
        for key in self.keys:
            if key.machine == machine_name() and scope(key.path):
                walk = self.walk(key.path)
                reached = back_to and any(link.record.order <= back_to.order for link in walk.links)
                if walk.broken and not reached:
                    raise refusal(walk.broken)

    def require_attributed(self) -> None:
        """:raises Refused: if there is damage whose path is unknown"""
        for each in self.damage:
            if not each.keys and each.kind in ("record", "head"):
                raise refusal(each)


def _and_before(links: Mapping[str, Link], last: str | None) -> set[str]:
    """Return the record ``last`` and those before it, as far as they exist."""
    found: set[str] = set()
    while last is not None and last not in found:
        found.add(last)
        last = links[last].changed.previous if last in links else None
    return found


class _Unknown(Exception):
    def __init__(self, damage: Damage) -> None:
        super().__init__(damage.said)
        self.damage = damage
