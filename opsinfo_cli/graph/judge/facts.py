"""What the choice of one node's dtypes depends on, and the choice. Equal nodes share both."""

from __future__ import annotations

from ...model.policy import Policy
from ...typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .modes import JudgeMode


class Port(NamedTuple):
    """One input or output of a node before the judge.

    :param dtype: its own dtype; None: unknown
    :param present: whether it has a description; an optional input that was left out has none
    :param fed: whether a producer feeds it; outputs are not fed
    :param late: whether the engine looks at it after the others: fed by a Const, Constant or Variable, or by nothing
    :param const: whether its value is known at compile time
    """

    dtype: str | None
    format: str | None = None
    continuous: bool = False
    present: bool = True
    fed: bool = False
    late: bool = False
    const: bool = False


class Customized(NamedTuple):
    """Dtypes that a customize_dtypes file asks for, by position; None for those it leaves open."""

    inputs: tuple[str | None, ...]
    outputs: tuple[str | None, ...]


class Facts(NamedTuple):
    """A node before the judge.

    :param shapes: 0 all known, 1 with unknown dimensions, 2 of unknown rank
    :param lenient: whether the number of its tensors need not fit the kernel's: they are a prediction, or the node was
        fused from several after the judge
    """

    op_type: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    keep: bool = False
    inherits: bool = False
    forced: bool = False
    shapes: int = 0
    customized: Customized | None = None
    lenient: bool = False


class Setting(NamedTuple):
    """What one judging is asked for beside the policies."""

    mode: JudgeMode
    fp16_types: frozenset[str]


class Seen(NamedTuple):
    """The output of a Cast, which a gray consumer looks through to what feeds the Cast.

    :param dtype: its dtype
    :param fp16: what the float16 strategy sees; None: the dtype
    :param bf16: what the bfloat16 strategy sees; None: the dtype
    """

    dtype: str | None
    fp16: str | None
    bf16: str | None


def looks_through(seen: str | Seen | None, low: str | None) -> bool:
    """Whether a strategy looks through a Cast at an input."""
    return (
        isinstance(seen, Seen)
        and (seen.fp16 if low == "float16" else seen.bf16 if low == "bfloat16" else None) is not None
    )


def seen_by(seen: str | Seen | None, low: str | None) -> str | None:
    """The dtype that a strategy sees at an input.

    :param low: the strategy's low dtype, None for one that does not look through a Cast
    """
    if not isinstance(seen, Seen):
        return seen
    through = seen.fp16 if low == "float16" else seen.bf16 if low == "bfloat16" else None
    return seen.dtype if through is None else through


class DtypeChoice(NamedTuple):
    """The dtypes of a node and why.

    :param inputs: of each input; None for one that is absent
    :param column: the column of the kernel; -1: not judged
    :param why: the code of the reason, see ``reason.TEXTS``
    :param policy: of the kernel that was taken, the mixlist applied; None where lists play no part
    :param decided: (``inputs`` or ``outputs``, number) of the tensor that settled the choice; None: none did
    :param followed: whether this tensor followed its producer's dtype rather than its own
    :param through: whether it looked through a Cast, at what feeds that
    :param kernel: number of the kernel taken, -1 for none
    :param detail: what the reason's words need beside this
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
