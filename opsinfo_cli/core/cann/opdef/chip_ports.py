"""The ports of an op type on one chip, and their columns.

Source: hicann/metadef at 786891c, ``base/asc/opdef/op_def_impl.cc``.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

from .op_definition import CoreConfig, OpDefinition, OpDefPort, PortColumns, Ports
from .tokens import SourceFault

MOST_WORDS = 1_000_000
"""In the columns of one op type on one chip. The most of 2,900 real rows are 52,000."""

_ND = "FORMAT_ND"


class ChipPorts(NamedTuple):
    """:param lengths: the plain columns, if their lengths differ: opbuild then writes none of any port. Section, port,
    ``dtype`` or ``format``, and the columns
    """

    ports: Ports
    lengths: Sequence[tuple[str, OpDefPort, str, PortColumns]] = ()


def merge_ports(operator: OpDefinition, config: CoreConfig) -> ChipPorts:
    """Return the ports of an operator with what a configuration overrides.

    :raises SourceFault: if a column could not be read, or there are more than :data:`MOST_WORDS`
    """
    base, followers = _resolve_follow(operator.ports)
    ports = Ports(_override(base.inputs, config.ports.inputs), _override(base.outputs, config.ports.outputs))
    every = ports.every
    for port in every:
        if port.unread is not None:
            raise port.unread
        if not port.formats.plain and not port.formats.axis:  # SetDefaultND, :386-394
            port.formats.form, port.formats.axis = "axis", [_ND]
    counted: list[tuple[str, OpDefPort, str, PortColumns]] = []  # plain columns, whose lengths must agree (:145-175)
    for section, port in ports.by_section():
        if port.dtypes.form == "plain" and not _has_target(port):
            counted.append((section, port, "dtype", port.dtypes))
        if port.formats.form == "plain" and not _has_no_format(port):
            counted.append((section, port, "format", port.formats))
    lengths = {len(columns.plain) for *_, columns in counted}
    if len(lengths) > 1:
        for port in every:
            port.dtypes.plain, port.formats.plain = [], []
        return ChipPorts(ports, counted)
    _permute(every, lengths.pop() if lengths else 1)
    inputs = {port.name: port for port in ports.inputs}
    known = {port.name for port in base.inputs}
    for port in ports.inputs:  # `To("input")`: the final dtypes of that input (:277-333)
        if port.to_port in known and port.to_port is not None and inputs[port.to_port].to_port is None:
            port.dtypes.plain = inputs[port.to_port].dtypes.plain
    for kind, name, target in followers:
        side = ports.inputs if kind in ("Input dtype", "Input format") else ports.outputs
        follower = next(port for port in side if port.name == name)
        if kind.endswith("dtype"):
            follower.dtypes.plain = inputs[target].dtypes.plain
        else:
            follower.formats.plain = inputs[target].formats.plain
    return ChipPorts(ports)


# Follow


def _resolve_follow(given: Ports) -> tuple[Ports, list[tuple[str, str, str]]]:
    """Return ports with ``Follow`` resolved on them, before a chip overrides anything (:1177-1268).

    :return: also the followers of an axis, which get the final columns of what they follow: ``Input dtype`` or so, the
        follower's name, the name of the input that it follows
    """
    ports = given.copy()
    inputs = {port.name: port for port in ports.inputs}
    names = {*inputs, *(port.name for port in ports.outputs)}
    resolved: dict[str, tuple[str, str]] = {}
    followers: list[tuple[str, str, str]] = []
    for side, port in [("Input", each) for each in ports.inputs] + [("Output", each) for each in ports.outputs]:
        target = _target(port, names, inputs, resolved)
        if target is None or port.follow is None:
            continue
        what = port.follow[1]
        port.follow = resolved[port.name] = target, what
        for aspect, own, other in (
            ("dtype", port.dtypes, inputs[target].dtypes),
            ("format", port.formats, inputs[target].formats),
        ):
            if what not in ("ALL", aspect.upper()):
                continue
            if other.form == "plain":
                own.form, own.plain, own.given = "plain", other.plain, other.given
            elif other.form == "axis":
                own.form, own.axis = "axis", other.axis[:1]
                followers.append((f"{side} {aspect}", port.name, target))
    return ports, followers


def _target(
    port: OpDefPort, names: set[str], inputs: dict[str, OpDefPort], resolved: dict[str, tuple[str, str]]
) -> str | None:
    """Return the input that a port follows in the end; None if it follows none, or the engine refuses it."""
    if port.follow is None or port.follow[0] not in names:
        return None
    name, what = port.follow
    if name == port.name:  # an output may follow the input of its own name
        return name if name in inputs and port is not inputs[name] else None
    seen = set()
    while name in resolved:
        if name in seen or resolved[name][1] != what:
            return None
        seen.add(name)
        name = resolved[name][0]
    return name if name in inputs else None


# A chip's overrides


def _override(base: list[OpDefPort], overrides: list[OpDefPort]) -> list[OpDefPort]:
    """Return ports with those of a configuration merged in; new ones come last (:51-66).

    Columns are overwritten only if they are given, most else always (:772-824). The form of the columns is always
    taken, so that an override with dtypes alone loses its formats.
    """
    found = [port.copy() for port in base]
    for override in overrides:
        own = next((port for port in found if port.name == override.name), None)
        if own is None:
            found.append(override.copy())
            continue
        for columns, new in ((own.dtypes, override.dtypes), (own.formats, override.formats)):
            columns.form = new.form
            columns.plain = new.plain or columns.plain
            columns.given = new.given or columns.given
            columns.axis = new.axis or columns.axis
            columns.for_binary = new.for_binary or columns.for_binary
            columns.place = new.place or columns.place
        if override.unknown_shape is not None:
            own.unknown_shape, own.unknown_shape_place = override.unknown_shape, override.unknown_shape_place
        own.value_depend = override.value_depend or own.value_depend
        for name in ("param_type", "is_scalar", "to_dtype", "to_port", "follow", "initial", "depends_on_compute"):
            setattr(own, name, getattr(override, name))
        own.unread = own.unread or override.unread
    return found


# Columns


def _has_target(port: OpDefPort) -> bool:
    return port.is_scalar and (port.to_dtype is not None or port.to_port is not None)


def _has_no_format(port: OpDefPort) -> bool:
    """Return whether the format is ND whatever was written: of scalars and of values that are needed early."""
    return port.is_scalar or bool(port.value_depend)


def _permute(ports: list[OpDefPort], count: int) -> None:
    """Write the final columns: for each plain column all combinations of the axes, the first axis slowest (:68-133).

    :raises SourceFault: if there are too many
    """
    axes = []
    for port in ports:
        axes.append(range(len(port.dtypes.axis)) if port.dtypes.form == "axis" and not _has_target(port) else range(1))
        axes.append(
            range(len(port.formats.axis)) if port.formats.form == "axis" and not _has_no_format(port) else range(1)
        )
    total = count
    for axis in axes:
        total *= len(axis)
        if total * len(axes) > MOST_WORDS:
            raise SourceFault(f"the columns have more than {MOST_WORDS:,} words", ports[0].dtypes.place)
    chosen = [(column, picks) for column in range(count) for picks in itertools.product(*axes)]
    for at, port in enumerate(ports):
        if _has_target(port):
            port.dtypes.plain = [port.to_dtype] * total if port.to_dtype is not None else port.dtypes.plain
        else:
            port.dtypes.plain = _final(port.dtypes, chosen, 2 * at)
        port.formats.plain = [_ND] * total if _has_no_format(port) else _final(port.formats, chosen, 2 * at + 1)


def _final(columns: PortColumns, chosen: list[tuple[int, tuple[int, ...]]], at: int) -> list[str]:
    """:param at: of its axis"""
    indexes = [picks[at] if columns.form == "axis" else column for column, picks in chosen]
    columns.for_binary = [columns.for_binary[index] for index in indexes if index < len(columns.for_binary)]
    if columns.form == "axis":
        return [columns.axis[index] for index in indexes]
    return [columns.plain[index] for index in indexes] if columns.form == "plain" else []
