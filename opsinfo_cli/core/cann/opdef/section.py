"""What opbuild writes of an op type on one chip, as the entry that the vendor's script makes of it.

Source: mirror-cann/asc-devkit at 82b89a1, ``tools/build/opbuild/op_cfg_generator.cpp:225-390``.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator

from ..entry_rules import Sections
from .op_definition import Attribute, CoreConfig, OpDefinition, OpDefPort, Ports
from .words import dtype_word, format_word, param_type_word, snake_case


def entry(operator: OpDefinition, config: CoreConfig, ports: Ports | None) -> Sections:
    """Return section -> key -> text.

    :param ports: with the configuration merged in; None to leave them out
    """
    found: dict[str, dict[str, str]] = {
        section: dict(_port(port)) for section, port in (ports.by_section() if ports else ())
    }
    attributes = [each for each in operator.attributes.values() if each.unread is None]
    if attributes:
        found["attr"] = {"list": ",".join(attribute.name for attribute in attributes)}
    for attribute in attributes:
        found[f"attr_{attribute.name}"] = dict(_attribute(attribute))
    for key, text in _settings(operator, config):
        section, _, name = key.partition(".")
        found.setdefault(section, {})[name] = text
    return found


def _port(port: OpDefPort) -> Iterator[tuple[str, str]]:
    yield "name", port.name
    if port.dtypes.written:
        yield "dtype", ",".join(map(dtype_word, port.dtypes.written))
    if port.dtypes.for_binary:
        yield "for_bin_dtype", ",".join(map(dtype_word, port.dtypes.for_binary))
    if port.formats.written:
        yield "format", ",".join(map(format_word, port.formats.written))
    if port.formats.for_binary:
        yield "for_bin_format", ",".join(map(format_word, port.formats.for_binary))
    if port.unknown_shape:
        yield "unknownshape_format", ",".join(map(format_word, port.unknown_shape))
    yield "shape", "all"
    yield "paramType", param_type_word(port.param_type)
    if port.param_type == "VIRTUAL":
        yield "virtual", "true"
    if port.value_depend:
        yield "valueDepend", port.value_depend
    if port.initial is not None:
        yield "initValue", _initial(port)
    if port.depends_on_compute:
        yield "outputShapeDependOnCompute", "true"


def _initial(port: OpDefPort) -> str:
    """Return the text of ``InitValue``: a number, a scalar, or a scalar for each dtype (:133-223)."""
    if isinstance(port.initial, int):
        return str(port.initial)
    scalars = port.initial or []
    if len(scalars) == 1:
        return f'{{ "is_list" : false, {_scalar(*scalars[0])}}}'
    by_dtype = dict(zip(port.dtypes.given or port.dtypes.axis, scalars, strict=False))
    # the order in which GNU's unordered_map yields a few keys
    parts = [f'"{dtype_word(dtype)}": {{ {_scalar(*scalar)} }}' for dtype, scalar in reversed(by_dtype.items())]
    return f'{{ "is_list" : true, {", ".join(parts)}}}'


def _scalar(kind: str, number: int | float) -> str:
    value = f"{_float32(number):f}" if kind.startswith("FLOAT") else str(int(number))
    return f'"type": "{kind.lower()}", "value": {value}'


def _attribute(attribute: Attribute) -> Iterator[tuple[str, str]]:
    kind, value = attribute.type, attribute.defaults.get(attribute.type)
    yield "type", kind
    yield "value", "all"
    yield "paramType", "required" if attribute.is_required else "optional"
    if not attribute.is_required:
        nothing = {"bool": "false", "float": "0", "int": "0", "str": ""}.get(kind, "[]")
        yield "defaultValue", nothing if value is None else _print_default(kind, value)


def _print_default(kind: str, value: object) -> str:
    """Return the default of an attribute as C++ prints it (op_def_impl.cc:641-676)."""
    if isinstance(value, list):
        item = {"listBool": "bool", "listFloat": "float", "listListInt": "listInt"}.get(kind, "int")
        return f"[{','.join(_print_default(item, each) for each in value)}]"
    if kind == "bool":
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"{_float32(value):g}" if kind == "float" else str(int(value))
    return str(value)


def _float32(number: int | float) -> float:
    """Return a number rounded to 32 bits."""
    try:
        return float(struct.unpack("f", struct.pack("f", number))[0])
    except OverflowError:
        return math.copysign(math.inf, number)


def _settings(operator: OpDefinition, config: CoreConfig) -> Iterator[tuple[str, str]]:
    yield from ((key, setting.text) for key, setting in config.settings.items())
    if operator.falls_back and "aclnnSupport.value" not in config.settings:
        yield "aclnnSupport.value", "support_aclnn"
    if "prebuildPattern.value" not in config.settings:
        yield "prebuildPattern.value", "Opaque"
    if "coreType.value" not in config.settings and "jitCompile.flag" not in config.settings:
        yield "coreType.value", "AiCore"  # the generator takes jitCompile for coreType (:330)
    for key in ("opFile.value", "opInterface.value"):
        if key not in config.settings:
            yield key, snake_case(operator.name)
    if operator.collective.groups:
        yield "mc2.ctx", ",".join(f"mc2_context_{chr(48 + at)}" for at in range(len(operator.collective.groups)))
