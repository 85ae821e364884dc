"""Rules on AutoFuse's list of what is not raised to float32: ``AUTOFUSE_FLAGS``.

Source: hicann/ge ffdcbc9f, compiler/graph/optimize/autofuse/autofuse: utils/auto_fuse_config.h:52-66, 240-248 (how the
variable is read), post_process/scheduler_adapter/adaption_improve_precision.cpp:28-32, 411-475 (what the list does).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from ...near_names import meant, near_names
from ..package_data import package_data
from ..text.source import Source
from .finding import Finding, at
from .settings import Setting

VARIABLE = "AUTOFUSE_FLAGS"
_ENABLE, _LIST = "--enable_autofuse", "--autofuse_enhance_precision_blacklist"
_PASSES = ("--autofuse_enable_pass", "--autofuse_disable_pass")
_ALL = "all"
_RAISED = frozenset({"Sum", "Mean", "Prod"})
"""Types without a kernel in float16 or bfloat16; the manual forbids them on the list."""


@cache
def _types() -> frozenset[str]:
    """Return the types of AscIR that the compiler's sources name."""
    return frozenset(package_data("opsinfo_cli.core.cann", "autofuse")["types"])


class _Flag(NamedTuple):
    """:param start: the offset of the value in the text of the variable"""

    value: str
    start: int


def check_autofuse(source: Source, setting: Setting) -> Iterator[Finding]:
    """Yield autofuse-list."""
    if setting.value is None:
        return
    flags = {
        match[1]: _Flag(match[2], match.start(2))
        for match in re.finditer(r"(?:^|;)([^;=]*)=([^;=]*)(?=;|$)", setting.value)
    }
    start = setting.span[0]
    both = [flags[name] for name in _PASSES if name in flags]
    if len(both) == 2:
        for word in sorted(set(both[0].value.split(",")) & set(both[1].value.split(",")) - {""}):
            span = start + both[1].start, start + both[1].start + len(both[1].value)
            yield at(_RULE, source, span, f"`{word}` is enabled and disabled", hint="remove it from one of the two")
    listed = flags.get(_LIST)
    if listed is None:
        return
    names = listed.value.split(",")
    if _ENABLE not in flags or flags[_ENABLE].value != "true":
        message = f"without {_ENABLE}=true AutoFuse is off, and the list has no effect"
        yield at(_RULE, source, _span(start + listed.start, listed.value), message, hint=f"add {_ENABLE}=true")
    if _ALL in names and len(names) > 1:
        message = "`all` stands for every type: the others on the list have no effect"
        yield at(_RULE, source, _span(start + listed.start, listed.value), message, hint="remove one or the other")
    offset = start + listed.start
    for name in names:
        if name in _RAISED:
            message = f"`{name}` has no kernel in float16 or bfloat16: it is always raised, or the build stops"
            yield at(_RULE, source, _span(offset, name), message, hint="remove it from the list")
        elif name not in _types() and name != _ALL:
            message = f"`{name}` is no type of AscIR: nothing is kept low for it"
            hint = meant(near_names(name.strip(), _types())) or "take the types of the dumped AscGraph, without `ge:`"
            yield at(_RULE, source, _span(offset, name), message, hint=hint)
        offset += len(name) + 1


_RULE = "autofuse-list"


def _span(start: int, text: str) -> tuple[int, int]:
    return start, start + len(text)
