"""Script lines that set a precision mode, a mixlist and the loss scale."""

from __future__ import annotations

import json
import shlex
import unicodedata
from typing import Any, NamedTuple

from ..errors import UsageFault
from ..model.near_names import did_you_mean
from ..model.precision_mode import MODES, Mode, required_mode
from .facts import facts

_LOW = {"MIX_FP16": "float16", "MIX_BF16": "bfloat16"}
_DEFAULT_MODE = "allow_mix_precision"
_NOT_SHOWN = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Unicode's categories of control characters, direction marks, undecodable bytes, and line ends."""


class SetupSnippet(NamedTuple):
    """Script lines for one framework.

    :param loss_scale: the lines about the loss scale, which ``text`` has as well
    :param mode: the mode that the lines set, as its system spells it
    """

    name: str
    title: str
    text: str
    loss_scale: str
    takes_mixlist: bool
    source: str
    mode: Mode


def snippet_names() -> list[str]:
    return list(facts("snippets")["snippets"])


def default_mode(name: str) -> Mode:
    """Return the mode that a snippet sets by default; Habana's lists mean bfloat16."""
    return required_mode(_content(name).get("default_mode", _DEFAULT_MODE))


def snippet(name: str, mode: Mode, mixlist: str | None) -> SetupSnippet:
    """:raises UsageFault: if the name is unknown, it cannot set the mode, or the mode takes no mixlist"""
    found = _content(name)
    takes = found["takes_mixlist"]
    if mixlist is not None and takes and not mode.is_mixed:
        said = f"the engine takes no mixlist with `{mode.name}`, only with a mixed mode (E10001)"
        raise UsageFault(said, name="mode-refuses-mixlist", hint="--mode allow_mix_precision")
    low = _LOW.get(mode.engine, "other")
    mode = _spelled(name, found, mode, low)
    path = _quoted(mixlist or "", found["quote"])
    manager = ", loss_scale_manager=manager" if mode.engine in facts("snippets")["scaled"] else ""
    values = {"{option}": mode.option, "{mode}": mode.name, "{mixlist}": path, "{low}": low, "{manager}": manager}
    lines = [line for line in _lines_for(found["lines"], low) if mixlist is not None or "{mixlist}" not in line]
    loss = _loss_scale(found, mode)
    lines = [_filled(line, values) for line in _without_empty_sections(lines)]
    lines = [loss if line == "{loss_scale}" else line for line in lines]
    if mixlist is not None and not takes:
        lines = [f"# no mixlist here: {found['instead']}", *lines]
    text = "\n".join(lines if loss in lines else [*lines, "", loss]) + "\n"
    return SetupSnippet(name, found["title"], text, loss, takes, found["source"], mode)


def _content(name: str) -> dict[str, Any]:
    found: dict[str, Any] | None = facts("snippets")["snippets"].get(name)
    if found is None:
        hint = did_you_mean(name, snippet_names()) or f"there are {', '.join(snippet_names())}"
        raise UsageFault(f"unknown snippet `{name}`", name="unknown-snippet", hint=hint)
    return found


def _spelled(name: str, found: dict[str, Any], mode: Mode, low: str) -> Mode:
    """Return the mode as the snippet's system spells it.

    :raises UsageFault: if the system has no such mode
    """
    allowed = found.get("modes")
    if allowed is not None and low not in allowed:
        known = [each.name for each in MODES.values() if _LOW.get(each.engine) in allowed]
        said = f"the {name} snippet cannot set `{mode.name}`: its only low dtypes are {' and '.join(allowed)}"
        raise UsageFault(said, name="mode-not-in-snippet", hint=f"--mode {' or '.join(known)}")
    if found.get("option") == "precision_mode" and "v1" not in mode.options:
        same = [each for each in mode.same if "v1" in MODES[each].options]
        if not same:
            raise UsageFault(f"the {name} snippet cannot set `{mode.name}`", name="mode-not-in-snippet")
        return MODES[same[0]]
    return mode


def _lines_for(lines: list[str | dict[str, Any]], low: str) -> list[str]:
    """Return the lines for one low dtype; ``other`` for a mode that is not mixed."""
    found = []
    for line in lines:
        if isinstance(line, str):
            found.append(line)
        elif low in line["only"]:
            found.append(str(line["line"]))
    return found


def _loss_scale(found: dict[str, Any], mode: Mode) -> str:
    """Return the lines about the loss scale; only float16 needs one."""
    content = facts("snippets")
    if found.get("scales_nothing") or mode.engine in content["scaled"]:
        return "\n".join(found["loss_scale"])
    is_bfloat16 = mode.engine in ("MIX_BF16", "ALLOW_FP32_TO_BF16")
    return f"{found['comment']} {content['unscaled']['bfloat16' if is_bfloat16 else 'other']}"


def _filled(line: str, values: dict[str, str]) -> str:
    for key, value in values.items():
        line = line.replace(key, value)
    return line


def _without_empty_sections(lines: list[str]) -> list[str]:
    """Return the lines without an empty ini section at the end."""
    while lines and (not lines[-1] or lines[-1].startswith("[")):
        lines = lines[:-1]
    return lines


def _quoted(path: str, how: str) -> str:
    """:raises UsageFault: if the format cannot express the path"""
    if how == "ini" and path != path.strip():
        raise UsageFault("an ini cannot hold this path", path=path)
    if not path.isprintable() and any(unicodedata.category(each) in _NOT_SHOWN for each in path):
        raise UsageFault("the path of the mixlist has a control character", name="control-character", path=path)
    if how == "shell":
        return shlex.quote(path)
    return path if how == "ini" else json.dumps(path, ensure_ascii=False)
