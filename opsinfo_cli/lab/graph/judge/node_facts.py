"""The facts on which the choice of a node's dtypes depends, and the choice. Equal nodes share both."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ....core.cann.policy import Policy

if TYPE_CHECKING:
    from ....core.cann.option_files import Customized
    from ....core.cann.precision_mode import Mode
    from .kernel import Slot


class OperatorPort(NamedTuple):
    """One input or output of a node before the judge.

    :param present: whether it has a description; an optional input that was left out has none
    :param fed: whether a producer feeds it; outputs are not fed
    :param late: whether the engine handles it after the others: fed by a Const, Constant or Variable, or not fed
    :param const: whether its value is known at compile time
    """

    dtype: str | None
    format: str | None = None
    continuous: bool = False
    present: bool = True
    fed: bool = False
    late: bool = False
    const: bool = False


class BoundPort(NamedTuple):
    """A tensor, the slot it takes, and the columns of that slot."""

    port: OperatorPort
    slot: Slot
    dtypes: tuple[str, ...]
    formats: tuple[str, ...]


class OperatorFacts(NamedTuple):
    """A node before the judge.

    :param shapes: 0 all known, 1 with unknown dimensions, 2 of unknown rank
    :param lenient: whether the number of its tensors need not fit the kernel's: they are a prediction, or the node was
        fused from several after the judge
    """

    op_type: str
    inputs: tuple[OperatorPort, ...]
    outputs: tuple[OperatorPort, ...]
    keep: bool = False
    inherits: bool = False
    forced: bool = False
    shapes: int = 0
    customized: Customized | None = None
    lenient: bool = False


class JudgeSetting(NamedTuple):
    """The settings of one judging besides the policies."""

    mode: Mode
    fp16_types: frozenset[str]


class Seen(NamedTuple):
    """The output of a Cast; a gray consumer may use the dtype that feeds the Cast instead.

    :param fp16: the dtype for the float16 strategy; None for ``dtype``
    :param bf16: the dtype for the bfloat16 strategy; None for ``dtype``
    """

    dtype: str | None
    fp16: str | None
    bf16: str | None


def seen_through(seen: str | Seen | None, low: str | None) -> str | None:
    """Return the dtype behind a Cast at an input; None for a strategy that does not look through it.

    :param low: the strategy's low dtype
    """
    if not isinstance(seen, Seen):
        return None
    return seen.fp16 if low == "float16" else seen.bf16 if low == "bfloat16" else None


def dtype_of(seen: str | Seen | None) -> str | None:
    """Return the dtype at an input itself."""
    return seen.dtype if isinstance(seen, Seen) else seen


class DtypeChoice(NamedTuple):
    """The dtypes of a node and the reason.

    :param column: the column of the kernel; -1: not judged
    :param why: the code of the reason, see ``reason.TEXTS``
    :param policy: the policy of the chosen kernel, after the mixlist; None if lists are not used
    :param decided: (``inputs`` or ``outputs``, number) of the deciding tensor; None if there is none
    :param followed: whether this tensor followed its producer's dtype, not its own
    :param through: whether it followed the producer of a Cast
    :param detail: a further value for the reason's text
    :param layouts: formats of inputs and outputs that are not plain, None for plain ones; None: all are plain
    """

    inputs: tuple[str | None, ...]
    outputs: tuple[str | None, ...]
    column: int
    why: str
    policy: Policy | None = None
    decided: tuple[str, int] | None = None
    followed: bool = False
    through: bool = False
    confidence: str | None = None
    kernel: int = -1
    detail: str = ""
    layouts: tuple[tuple[str | None, ...], tuple[str | None, ...]] | None = None
