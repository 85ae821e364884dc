"""The lines that set a precision mode, a mixlist and the loss scale in a script."""

from __future__ import annotations

import json
import shlex
from typing import NamedTuple

from ..errors import UsageFault
from ..model.near_names import did_you_mean
from ..model.precision_mode import Mode
from .facts import facts

__all__ = ["Snippet", "snippet", "snippet_names"]


class Snippet(NamedTuple):
    """:param loss_scale: the lines about the loss scale; in the text they stand where they are needed, or end it"""

    name: str
    title: str
    text: str
    loss_scale: str
    takes_mixlist: bool
    source: str


def snippet_names() -> list[str]:
    return list(facts("snippets")["snippets"])


def snippet(name: str, mode: Mode, mixlist: str | None) -> Snippet:
    """:raises UsageFault: where there is none of that name, or the mode takes no mixlist"""
    found = facts("snippets")["snippets"].get(name)
    if found is None:
        hint = did_you_mean(name, snippet_names()) or f"there are {', '.join(snippet_names())}"
        raise UsageFault(f"no snippet is called `{name}`", name="unknown-snippet", hint=hint)
    takes = found["takes_mixlist"]
    if mixlist is not None and takes and not mode.is_mixed:
        said = f"the engine takes no mixlist with `{mode.name}`, only with a mixed mode (E10001)"
        raise UsageFault(said, name="mode-refuses-mixlist", hint="--mode allow_mix_precision")
    values = {"{option}": mode.option, "{mode}": mode.name, "{mixlist}": _quoted(mixlist or "", found["quote"])}
    lines = [line for line in found["lines"] if mixlist is not None or "{mixlist}" not in line]
    loss = "\n".join(found["loss_scale"])
    lines = [_filled(line, values) for line in _without_empty_sections(lines)]
    lines = [loss if line == "{loss_scale}" else line for line in lines]
    if mixlist is not None and not takes:
        lines = [f"# no mixlist here: {found['instead']}", *lines]
    text = "\n".join(lines if loss in lines else [*lines, "", loss]) + "\n"
    return Snippet(name, found["title"], text, loss, takes, found["source"])


def _filled(line: str, values: dict[str, str]) -> str:
    for key, value in values.items():
        line = line.replace(key, value)
    return line


def _without_empty_sections(lines: list[str]) -> list[str]:
    """Without a last ini section that has nothing in it."""
    while lines and (not lines[-1] or lines[-1].startswith("[")):
        lines = lines[:-1]
    return lines


def _quoted(path: str, how: str) -> str:
    """:raises UsageFault: where the format cannot say the path"""
    if how == "ini" and (path != path.strip() or "\n" in path):
        raise UsageFault("an ini cannot hold this path", path=path)
    if how == "shell":
        return shlex.quote(path)
    return path if how == "ini" else json.dumps(path, ensure_ascii=False)
