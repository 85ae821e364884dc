"""Rules on the precision modes that a mixlist or a keep_dtype file is used with."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TypeAlias

from ...errors import join_some
from ..cann.precision_mode import MODES, Mode, knows_modes_of, mode_hint
from .finding import Finding, whole_file
from .rules import RULES

PLACE = "--precision-mode"
"""The path of the findings on options of opsinfo."""

Words: TypeAlias = "tuple[str, str | None]"
"""Message and hint."""
_MIXED = "use allow_mix_precision, or mixed_float16 as precision_mode_v2"


def check_modes(names: Sequence[str], socs: Sequence[str], kinds: Collection[str]) -> Iterator[Finding]:
    """:param socs: SoC folders of the targets
    :param kinds: of the files that the modes are used with
    """
    for name in names:
        mode = MODES.get(name)
        if mode is None:
            yield _finding("unknown-mode", *unknown_mode(name))
            continue
        if "mixlist" in kinds and not mode.is_mixed:
            yield _finding("mode-refuses-mixlist", *refuses_mixlist(name))
        if "keep_dtype" in kinds and mode.engine == "KEEP_ORIGIN":
            yield _finding("no-effect-with-mode", *keep_dtype_without_effect(name))
        for soc in socs:
            if mode.is_on(soc):
                continue
            if knows_modes_of(soc):
                yield _finding("mode-not-on-soc", *not_on_soc(mode, soc))
            else:
                hint = not_on_soc(mode, soc)[1]
                message = f"unknown chip {soc}: it may not have `{name}`"
                yield Finding(RULES["mode-not-on-soc"], message, PLACE, hint=hint, severity="warning", engine="accepts")
    known = [mode for mode in map(MODES.get, names) if mode]
    if {("v1",), ("v2",)} <= {mode.options for mode in known}:
        yield _finding("both-modes", *both_modes([mode.name for mode in known]))


def _finding(rule: str, message: str, hint: str | None) -> Finding:
    return whole_file(rule, PLACE, message, hint)


def unknown_mode(name: str, option: str | None = None) -> Words:
    """:param option: the option that has the value, if it is known"""
    mode = MODES.get(name)
    if mode is None or option is None:
        what = f"unknown precision mode `{name}`" if option is None else f"`{name}` is no value of {option}"
        return f"{what} (E10001)", mode_hint(name)
    version = "v2" if option == "precision_mode_v2" else "v1"
    same = [other for other in mode.same if version in MODES[other].options]
    hint = f"use {mode.option}={name}" + (f", or {option}={same[0]}" if same else "")
    return f"`{name}` is a value of {mode.option}, not of {option} (E10001)", hint


def refuses_mixlist(name: str, written: str = "") -> Words:
    """:param written: the word of another system for the mode"""
    meant = "" if written in ("", name) else f" ({written})"
    return f"the engine accepts a mixlist only with a mixed mode, not with `{name}`{meant} (E10001)", _MIXED


def no_mode() -> Words:
    return "the engine accepts a mixlist only with a mixed mode, and the command sets no mode (E10001)", _MIXED


def keep_dtype_without_effect(name: str) -> Words:
    return f"keep_dtype has no effect with `{name}`: every node keeps its dtype", None


def not_all_in_float32() -> Words:
    message = "with force_fp32, matrix products still read float16 where a kernel has float16 in and float32 out"
    return message, "must_keep_origin_dtype, or origin as precision_mode_v2, keeps float32"


def not_on_soc(mode: Mode, soc: str) -> Words:
    """:param soc: the chip, or several"""
    return f"{soc} does not have `{mode.name}`", f"it requires {join_some(mode.listed_socs, 4)}"


def both_modes(names: Sequence[str]) -> Words:
    both = " and ".join(f"`{name}`" for name in names)
    return f"{both} set both precision_mode and precision_mode_v2 (E10056)", "use only one of the two"
