"""MindSpore's records of kernels with less precision than the node's dtype (1.x and 2.0; removed in 2.7)."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

MOST_NAMES = 10_000
"""The most op types that are read; more than any library has."""

_NEEDLE = b"precision, node datatype"

_RECORD = re.compile(rb"(?:[Rr](?P<down>educe)|[Rr]aise) precision, node datatype: ?\n?(?=(?P<types>[^\n]{0,2000}))")
_OPERATOR = re.compile(rb"\[0\]: (?:ValueNode<\w{1,60}>\s?)?([A-Za-z_]\w{0,200})")
_KERNEL = re.compile(rb"select kernel: ?(\([^()]*\) ?-> ?\([^()]*\))")

_KERNELS = 3
_FAR = 4000
"""The node before a record is searched for its operator up to here."""


@dataclass
class Reduced:
    """Records by op type. ``kernels``: the kernel's tensors as printed, the first few of each op type."""

    counts: Counter[str] = field(default_factory=Counter)
    kernels: dict[str, list[str]] = field(default_factory=dict)
    raised: int = 0
    unnamed: int = 0

    def __bool__(self) -> bool:
        """Whether there is any record."""
        return bool(self.counts or self.raised or self.unnamed)

    @property
    def ordered(self) -> list[tuple[str, int]]:
        """Op types with their records, most first."""
        return sorted(self.counts.items(), key=lambda item: (-item[1], item[0]))

    def take(self, block: bytes) -> None:
        """Read the records of a block of whole lines."""
        done = 0
        for record in _RECORD.finditer(block) if _NEEDLE in block else ():
            node = block[max(done, record.start() - _FAR) : record.start()].rpartition(b"\n")[2]
            done = record.start("types")
            if record["down"] is None:
                self.raised += 1
                continue
            operators = list(_OPERATOR.finditer(node))
            name = operators[-1][1].decode("ascii") if operators else None
            if name is None or (len(self.counts) >= MOST_NAMES and name not in self.counts):
                self.unnamed += 1
                continue
            self.counts[name] += 1
            if kernel := _KERNEL.search(record["types"]):
                self._keep(name, kernel[1].decode("utf-8", "replace"))

    def include(self, other: Reduced) -> None:
        """Add the records of another log."""
        for name, count in other.counts.items():
            if name in self.counts or len(self.counts) < MOST_NAMES:
                self.counts[name] += count
            else:
                self.unnamed += count
        for name, kernels in other.kernels.items():
            for kernel in kernels if name in self.counts else ():
                self._keep(name, kernel)
        self.raised += other.raised
        self.unnamed += other.unnamed

    def _keep(self, name: str, kernel: str) -> None:
        kept = self.kernels.setdefault(name, [])
        if len(kept) < _KERNELS and kernel not in kept:
            kept.append(kernel)
