"""The JSON of `opsinfo systems decide`."""

from __future__ import annotations

from typing import Literal

from typing_extensions import NotRequired, TypedDict

from ...core.documents.shared import Head


class Decision(TypedDict):
    """The decision for one call."""

    operator: str
    """The operator."""
    inputs: list[str]
    """The dtypes of the inputs, as given; for Ascend the dtypes of the producers, `-` for none."""
    outcome: Literal["dtype", "refused", "not-known"]
    """dtype: the operator runs in `dtype`. refused: the call raises an error, or no kernel accepts it. not-known: no
    source decides it, or too little was given.
    """
    dtype: str | None
    """The dtype; null if there is none."""
    says: str
    """The rule as text."""
    source: str
    """The source of the rule."""
    near: NotRequired[list[str]]
    """Similar known names if the name is not listed, the nearest first."""


class SystemsDecideDocument(Head):
    """The dtype that operator calls run in, and the rule that decides it. Later versions may add keys."""

    system: str
    """The system, as given."""
    decisions: list[Decision]
    """One decision for each call, in the order given."""
