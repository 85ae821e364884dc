"""Rules on AutoFuse's list of what is not raised to float32: ``AUTOFUSE_FLAGS``.

Source: hicann/ge ffdcbc9f, compiler/graph/optimize/autofuse/autofuse: utils/auto_fuse_config.h:52-66, 240-248 (how the
variable is read), post_process/scheduler_adapter/adaption_improve_precision.cpp:28-32, 411-475 (what the list does).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from ...errors import join_some
from ...near_names import meant, near_names
from ..package_data import package_data
from ..text.source import Source
from .finding import Finding, at
from .rules import Severity
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


def check_autofuse(source: Source, setting: Setting) -> Iterator[Finding]:
    """Yield autofuse-list."""
    if setting.value is None:
        return

    def found(
        offset: int, text: str, message: str, hint: str | None = None, severity: Severity | None = None
    ) -> Finding:
        start = setting.span[0] + offset
        return at("autofuse-list", source, (start, start + len(text)), message, hint=hint, severity=severity)

    flags = {
        match[1]: (match.start(2), match[2]) for match in re.finditer(r"(?:^|;)([^;=]*)=([^;=]*)(?=;|$)", setting.value)
    }
    both = [flags[name] for name in _PASSES if name in flags]
    if len(both) == 2:
        (_, enabled), (_, disabled) = both
        for word in sorted(set(enabled.split(",")) & set(disabled.split(",")) - {""}):
            yield found(*both[1], f"`{word}` is enabled and disabled", "remove it from one of the two")
    if _LIST not in flags:
        return
    offset, listed = place, _ = flags[_LIST]
    names, low = listed.split(","), []
    is_on = flags.get(_ENABLE, (0, ""))[1] == "true"
    if not is_on:
        message = f"without {_ENABLE}=true AutoFuse is off, and the list has no effect"
        yield found(offset, listed, message, f"add {_ENABLE}=true")
    if _ALL in names and len(names) > 1:
        message = "`all` stands for every type: the others on the list have no effect"
        yield found(offset, listed, message, "remove one or the other")
    for name in names:
        if name in _RAISED:
            message = f"`{name}` has no kernel in float16 or bfloat16: it is always raised, or the build stops"
            yield found(offset, name, message, "remove it from the list")
        elif name not in _types() and name != _ALL:
            message = f"`{name}` is no type of AscIR: nothing is kept low for it"
            hint = meant(near_names(name.strip(), _types())) or "take the types of the dumped AscGraph, without `ge:`"
            yield found(offset, name, message, hint)
        else:
            low.append(name)
        offset += len(name) + 1
    if low and is_on and _ALL not in names:
        message = f"{join_some(low)} stay low only in a fused graph whose other nodes are all listed or built in"
        yield found(place, listed, message, severity="note")
