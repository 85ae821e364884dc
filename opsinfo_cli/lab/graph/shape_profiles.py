"""The shapes that atc compiles a model for with ``--dynamic_batch_size`` and ``--dynamic_dims``: each is judged alone.

The compiler makes a copy of the graph for each of them, with known shapes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ...core.cann.input_shapes import options_for
from ...errors import UsageFault

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ...core.cann.input_shapes import ModelInput
    from .result import Answer

_MOST = 100
"""The most profiles that atc takes (hicann/ge, multi_batch_options.cc, kMaxShapesCount)."""


class ShapeProfile(NamedTuple):
    """One set of sizes of the open dimensions.

    :param name: its sizes as they are typed: ``8``, ``8,448``
    """

    name: str
    shapes: dict[str, tuple[int, ...]]


@dataclass(frozen=True)
class NodeInProfile:
    type: str
    """Its op type."""
    inputs: tuple[str | None, ...]
    """The dtypes of its inputs."""
    outputs: tuple[str | None, ...]
    """The dtypes of its outputs."""


@dataclass(frozen=True)
class ProfileDifference:
    """One node."""

    name: str
    """Its name."""
    profiles: list[NodeInProfile | None]
    """The node in each profile; null if it is part of another node there."""


def batch_profiles(text: str, inputs: Sequence[ModelInput]) -> list[ShapeProfile]:
    """Return the profiles of a value of ``--dynamic_batch_size``: ``1,2,4``.

    :raises UsageFault: if it has another form, or other dimensions than the first ones are open
    """
    sizes = _sizes(text.split(","), "--dynamic_batch_size", "1,2,4", 1)
    others = [
        model_input
        for model_input in inputs
        if model_input.dims is None or any(isinstance(dim, str) for dim in model_input.dims[1:])
    ]
    if others:
        options = " ".join(model_input.option for model_input in others)
        message = "--dynamic_batch_size: only the first dimension of an input may be open"
        raise UsageFault(message, name="open-dimensions", hint=f"set the others: {options}, or --dynamic_dims")
    return _profiles(sizes, inputs, "--dynamic_batch_size")


def dims_profiles(text: str, inputs: Sequence[ModelInput], option: str = "--dynamic_dims") -> list[ShapeProfile]:
    """Return the profiles of a value of ``--dynamic_dims``: ``1,224;8,448``, a size for each open dimension in order.

    :raises UsageFault: if it has another form, or another number of sizes
    """
    for model_input in inputs:
        if model_input.dims is None:
            hint = f"state it, with -1 for each open dimension: {model_input.option}"
            raise UsageFault(f"{option}: the rank of `{model_input.name}` is open", name="open-dimensions", hint=hint)
    count = sum(isinstance(dim, str) for model_input in inputs for dim in model_input.dims or ())
    profiles = _sizes([part for part in text.split(";") if part.strip()], option, "1,224;8,448", None)
    for sizes in profiles:
        if count and len(sizes) != count:
            stated = ",".join(map(str, sizes))
            message = f"{option} {stated}: {len(sizes)} sizes for {count} open dimensions"
            raise UsageFault(message, name="bad-shape", hint=f"the open ones, in this order: {options_for(inputs)}")
    return _profiles(profiles, inputs, option)


def _sizes(parts: Sequence[str], option: str, example: str, count: int | None) -> list[tuple[int, ...]]:
    """:raises UsageFault: if a profile is not a list of sizes, or is given twice"""
    found = []
    for part in parts:
        words = [word.strip() for word in part.split(",")]
        good = all(word.isascii() and word.isdigit() and len(word) < 10 and int(word) for word in words)
        if not good or (count is not None and len(words) != count):
            raise UsageFault(
                f"{option}: cannot read `{part.strip()}`", name="bad-shape", hint=f"write {option} '{example}'"
            )
        found.append(tuple(map(int, words)))
    if len(set(found)) < len(found) or not 1 <= len(found) <= _MOST:
        message = f"{option}: 1 to {_MOST} different profiles are needed"
        raise UsageFault(message, name="bad-shape", hint=f"write {option} '{example}'")
    return found


def _profiles(profiles: Iterable[tuple[int, ...]], inputs: Sequence[ModelInput], option: str) -> list[ShapeProfile]:
    """:param profiles: a size for every open dimension over all inputs, or one for all of them
    :raises UsageFault: if no dimension is open
    """
    if not any(model_input.is_open for model_input in inputs):
        message = f"{option}: no input has an open dimension"
        raise UsageFault(message, name="no-open-dimension", hint="open it with -1, as in --shape x=-1,3,224,224")
    found = []
    for sizes in profiles:
        number, shapes = 0, {}
        for model_input in inputs:
            dims = []
            for dim in model_input.dims or ():
                if isinstance(dim, str):
                    dims.append(sizes[number] if len(sizes) > 1 else sizes[0])
                    number += 1
                else:
                    dims.append(dim)
            if model_input.is_open:
                shapes[model_input.name] = tuple(dims)
        found.append(ShapeProfile(",".join(map(str, sizes)), shapes))
    return found


def differences(answers: Sequence[Answer]) -> list[ProfileDifference]:
    """Return the nodes whose op types or dtypes differ between answers, by name, in the order of the first answers."""
    rows = [
        {(row.subgraph, row.name): NodeInProfile(row.type, row.inputs, row.outputs) for row in answer}
        for answer in answers
    ]
    found = []
    for place in dict.fromkeys(place for own in rows for place in own):
        own = [by_place.get(place) for by_place in rows]
        if len({*own}) > 1:
            found.append(ProfileDifference(place[1], own))
    return found
