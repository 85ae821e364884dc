"""Findings on the precision modes that a mixlist is used with."""

from __future__ import annotations

from collections.abc import Iterator

from ..model.near_names import did_you_mean
from ..model.precision_mode import MODES, mode_named
from .finding import Finding, whole_file

_OPTION = "--precision-mode"


def check_modes(names: list[str], socs: list[str], with_mixlist: bool) -> Iterator[Finding]:
    """:param socs: SoC folders of the targets
    :param with_mixlist: whether a mixlist is used with the mode
    """
    for name in names:
        mode = mode_named(name)
        if mode is None:
            hint = did_you_mean(name, MODES) or "`opsinfo modes` lists them"
            yield whole_file("unknown-mode", _OPTION, f"unknown precision mode `{name}` (E10001)", hint)
            continue
        if with_mixlist and not mode.is_mixed:
            said = f"the engine accepts a mixlist only with a mixed mode, not with `{name}` (E10001)"
            yield whole_file(
                "mode-refuses-mixlist", _OPTION, said, "use allow_mix_precision, or mixed_float16 as precision_mode_v2"
            )
        for soc in socs:
            if not mode.is_on(soc):
                said = f"{soc} does not have `{name}`"
                yield whole_file("mode-not-on-soc", _OPTION, said, f"it requires {', '.join(sorted(mode.socs or ()))}")
    known = [mode for mode in map(mode_named, names) if mode]
    if {("v1",), ("v2",)} <= {mode.options for mode in known}:
        said = f"{' and '.join(f'`{mode.name}`' for mode in known)} set both precision_mode and precision_mode_v2"
        yield whole_file("both-modes", _OPTION, f"{said} (E10056)", "use only one of the two")
