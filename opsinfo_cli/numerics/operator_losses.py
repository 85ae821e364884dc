"""Losses of dumped tensors by op type, worst first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from .dump_name import dump_name
from .tensor_losses import DumpedTensor, Losses


@dataclass
class OperatorLosses:
    """The losses of one op type's tensors in one format.

    :param worst: the file with the greatest losses
    """

    type: str
    files: int = 0
    values: int = 0
    losses: Losses = field(default_factory=Losses)
    worst: str = ""
    _worst: tuple[float, ...] = (-1.0,)

    @property
    def is_candidate(self) -> bool:
        """Whether it is a candidate for the black list: values overflow or become zero in this format."""
        return bool(self.losses.overflow or self.losses.zero)

    @property
    def shares(self) -> tuple[float, ...]:
        return tuple(count / max(1, self.values) for count in self.losses.badness)

    def add(self, tensor: DumpedTensor, format: str) -> None:
        losses = tensor.losses[format]
        self.files += 1
        self.values += tensor.values
        for name in ("overflow", "zero", "subnormal", "coarse"):
            setattr(self.losses, name, getattr(self.losses, name) + getattr(losses, name))
        shares = tuple(count / max(1, tensor.values) for count in losses.badness)
        if shares > self._worst:
            self.worst, self._worst = tensor.path, shares


def by_operator(tensors: Iterable[DumpedTensor], format: str) -> list[OperatorLosses]:
    """Return losses by op type, for files named after an operator; most overflows first, then most zeros."""
    found: dict[str, OperatorLosses] = {}
    for tensor in tensors:
        name = dump_name(tensor.path)
        if name:
            found.setdefault(name.type, OperatorLosses(name.type)).add(tensor, format)
    return sorted(found.values(), key=lambda each: (tuple(-share for share in each.shares), each.type))
