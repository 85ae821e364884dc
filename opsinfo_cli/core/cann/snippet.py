"""Script lines that set a precision mode, a mixlist and the loss scale."""

from __future__ import annotations

import json
import re
import shlex
import unicodedata
from dataclasses import dataclass
from typing import Any

from ...errors import UsageFault
from ...near_names import did_you_mean
from ..package_data import package_data
from .precision_mode import MODES, Mode, required_mode

_DEFAULT_MODE = "allow_mix_precision"
_NOT_SHOWN = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Unicode's categories of control characters, direction marks, undecodable bytes, and line ends."""


@dataclass(frozen=True)
class SnippetLines:
    """Lines for a script."""

    name: str
    """The name of the snippet."""
    title: str
    """Where the lines belong."""
    text: str
    """The lines."""
    loss_scale: str
    """The lines that concern the loss scale."""
    prints: str
    """The lines that print the loss scale or overflows of each step, as qualify reads them; empty if there are none or
    the loss is not scaled.
    """
    takes_mixlist: bool
    """Whether a mixlist can be set there."""
    source: str
    """The source of the lines."""
    mode: str
    """The mode that the lines set."""
    mixlist: str | None
    """The mixlist given; null if none was given."""


def snippet_names() -> list[str]:
    return list(package_data(__package__, "snippets")["snippets"])


def snippet_levels() -> list[str]:
    """Return the levels that any system has, each once."""
    return sorted({level for name in snippet_names() for level in _content(name).get("levels", [])})


def default_mode(name: str) -> Mode:
    """Return the mode that a snippet sets by default; Habana's lists mean bfloat16."""
    return required_mode(_content(name).get("default_mode", _DEFAULT_MODE))


def snippet(name: str, mode: Mode, mixlist: str | None, level: str | None = None) -> SnippetLines:
    """:param level: a level of the system, such as O1; None for its usual one
    :raises UsageFault: if the name is unknown, it cannot set the mode, has no levels, or the mode takes no mixlist
    """
    content = _content(name)
    common = package_data(__package__, "snippets")
    levels: list[str] = content.get("levels", [])
    if level is not None and level not in levels:
        having = [each for each in snippet_names() if level in _content(each).get("levels", [])]
        message, hint = f"the {name} snippet has no levels", f"these have: {', '.join(having)}"
        if levels:
            message, hint = f"{name} has no level `{level}`", f"its levels: {', '.join(sorted(levels))}"
        raise UsageFault(message, name="unknown-level", hint=hint)
    takes = content["takes_mixlist"]
    if mixlist is not None and takes and not mode.is_mixed:
        message = f"the engine takes no mixlist with `{mode.name}`, only with a mixed mode (E10001)"
        raise UsageFault(message, name="mode-refuses-mixlist", hint="--precision-mode allow_mix_precision")
    low = mode.low_dtype if mode.low_dtype in ("float16", "bfloat16") else "other"
    mode = _spell(name, content, mode, low)
    is_scaled = mode.engine in common["scaled"]  # only float16 needs a loss scale
    if is_scaled or content.get("scales_nothing"):
        loss_scale = "\n".join(content["loss_scale"])
    else:
        is_bfloat16 = mode.engine in ("MIX_BF16", "ALLOW_FP32_TO_BF16")
        loss_scale = f"{content['comment']} {common['unscaled']['bfloat16' if is_bfloat16 else 'other']}"
    lines = []
    for line in content["lines"]:
        if isinstance(line, dict):  # a line for some low dtypes
            line = str(line["line"]) if low in line["only"] else None
        if line is not None and (mixlist is not None or "{mixlist}" not in line):
            lines.append(line)
    while lines and (not lines[-1] or lines[-1].startswith("[")):  # an empty section of an ini
        lines.pop()
    if "{loss_scale}" not in lines:
        lines += ["", "{loss_scale}"]
    prints = content.get("prints", []) if is_scaled else []
    if prints:
        lines += ["", f"{content['comment']} print what `opsinfo qualify` reads", *prints]
    if mixlist is not None and not takes:
        lines.insert(0, f"# no mixlist here: {content['instead']}")
    values = {
        "{option}": mode.option,
        "{mode}": mode.name,
        "{mixlist}": _quote(mixlist or "", content["quote"]),
        "{low}": low,
        "{level}": level or next(iter(levels), ""),
        "{manager}": ", loss_scale_manager=manager" if is_scaled else "",
        "{loss_scale}": loss_scale,
    }
    placeholder = re.compile("|".join(map(re.escape, values)))
    text = "".join(f"{placeholder.sub(lambda match: values[match[0]], line)}\n" for line in lines)
    said = (name, content["title"], text, loss_scale, "\n".join(prints), takes, content["source"])
    return SnippetLines(*said, mode.name, mixlist)


def _content(name: str) -> dict[str, Any]:
    content: dict[str, Any] | None = package_data(__package__, "snippets")["snippets"].get(name)
    if content is None:
        hint = did_you_mean(name, snippet_names()) or f"known snippets: {', '.join(snippet_names())}"
        raise UsageFault(f"unknown snippet `{name}`", name="unknown-snippet", hint=hint)
    return content


def _spell(name: str, content: dict[str, Any], mode: Mode, low: str) -> Mode:
    """Return the mode as the snippet's system spells it.

    :raises UsageFault: if the system has no such mode
    """
    allowed = content.get("modes")
    if allowed is not None and low not in allowed:
        known = [other.name for other in MODES.values() if other.low_dtype in allowed]
        message = f"the {name} snippet cannot set `{mode.name}`: its only low dtypes are {' and '.join(allowed)}"
        raise UsageFault(message, name="mode-not-in-snippet", hint=f"--precision-mode {' or '.join(known)}")
    if content.get("option") == "precision_mode" and "v1" not in mode.options:
        same = [other for other in mode.same if "v1" in MODES[other].options]
        if not same:
            raise UsageFault(f"the {name} snippet cannot set `{mode.name}`", name="mode-not-in-snippet")
        return MODES[same[0]]
    return mode


def _quote(path: str, how: str) -> str:
    """:raises UsageFault: if the format cannot express the path"""
    if how == "ini" and path != path.strip():
        raise UsageFault("an ini cannot hold this path", path=path)
    if not path.isprintable() and any(unicodedata.category(character) in _NOT_SHOWN for character in path):
        raise UsageFault("the path of the mixlist has a control character", name="control-character", path=path)
    if how == "shell":
        return shlex.quote(path)
    return path if how == "ini" else json.dumps(path, ensure_ascii=False)
