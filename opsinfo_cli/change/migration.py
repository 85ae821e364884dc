"""Link the records of an older vault into chains, once, by hashes; the stored time decides only ties."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heapify, heappop, heappush
from itertools import pairwise

from .chain import Head, Key, Link
from .record import Record, machine_name


def link(records: Iterable[Record]) -> dict[Key, Head]:
    """Set order and predecessors of records; their files are assumed to be on this machine.

    :returns: the heads
    """
    found = sorted(records, key=lambda record: (record.time, record.id))
    for record in found:
        record.machine, record.migrated = machine_name(), True
    chains: dict[Key, list[Link]] = {}
    for record in found:
        for index in range(len(record.files)):
            each = Link(record, index)
            chains.setdefault(each.key, []).append(each)
    chains = {key: _ordered(links) for key, links in chains.items()}
    for links in chains.values():
        for before, after in zip([None, *links], links, strict=False):
            after.changed.previous = before.record.id if before else None
    for order, record in enumerate(_sorted(found, chains.values()), 1):
        record.order = order
    return {key: Head(links[-1].record.id, links[-1].record.order) for key, links in chains.items()}


def _ordered(links: list[Link]) -> list[Link]:
    """Return the links of one path: as stored, unless their hashes fit better in another order."""
    other = _by_hashes(links)
    return other if _breaks(other) < _breaks(links) else links


def _content_after(link: Link) -> str | None:
    return link.changed.before if link.record.state == "abandoned" else link.changed.after


def _breaks(links: list[Link]) -> int:
    """Return how many records do not begin with the content after the previous one."""
    return sum(_content_after(one) != other.changed.before for one, other in pairwise(links))


def _by_hashes(links: list[Link]) -> list[Link]:
    """Return each record after one that left its content before; the earliest if there are several."""
    left, found = list(links), list[Link]()
    now: str | None = None
    while left:
        fitting = [each for each in left if found and each.changed.before == now]
        made = {_content_after(each) for each in left}
        starts = [each for each in left if each.changed.before not in made]
        # of those that fit, one from which the way leads back comes before one that leads away for good
        returning = [each for each in fitting if _leads_back(each, left, now)]
        chosen = (returning or fitting or starts or left)[0]
        left = [each for each in left if each is not chosen]
        found.append(chosen)
        now = _content_after(chosen)
    return found


def _leads_back(link: Link, left: list[Link], content: str | None) -> bool:
    """Return whether the remaining records lead from the content after a link back to ``content``."""
    reached, frontier = set[str | None](), {_content_after(link)}
    while frontier - reached:
        reached |= frontier
        frontier = {
            _content_after(each) for each in left if each is not link and each.changed.before in frontier
        } - reached
    return content in reached


def _sorted(records: list[Record], chains: Iterable[list[Link]]) -> list[Record]:
    """Return records in the order of their chains; the earliest stored time first."""
    waits: dict[str, set[str]] = {record.id: set() for record in records}
    for links in chains:
        for before, after in pairwise(links):
            if before.record.id != after.record.id:
                waits[after.record.id].add(before.record.id)
    by_id = {record.id: record for record in records}
    ready = [(record.time, record.id) for record in records if not waits[record.id]]
    heapify(ready)
    done: list[Record] = []
    while waits:
        # chains that contradict each other: the earliest goes first
        _, name = heappop(ready) if ready else min((by_id[name].time, name) for name in waits)
        if waits.pop(name, None) is None:
            continue
        done.append(by_id[name])
        for other, earlier in waits.items():
            if name in earlier:
                earlier.discard(name)
                if not earlier:
                    heappush(ready, (by_id[other].time, other))
    return done
