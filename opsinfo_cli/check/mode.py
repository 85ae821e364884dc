"""Rules on the precision modes that a mixlist is used with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..model.precision_mode import MODES, mode_hint
from .finding import Finding, whole_file
from .rules import BOTH_MODES, MODE_NOT_ON_SOC, MODE_REFUSES_MIXLIST, UNKNOWN_MODE

PLACE = "--precision-mode"
"""The path of the findings."""


def check_modes(names: Sequence[str], socs: Sequence[str], with_mixlist: bool) -> Iterator[Finding]:
    """:param socs: SoC folders of the targets
    :param with_mixlist: whether a mixlist is used with the mode
    """
    for name in names:
        mode = MODES.get(name)
        if mode is None:
            yield whole_file(UNKNOWN_MODE, PLACE, f"unknown precision mode `{name}` (E10001)", mode_hint(name))
            continue
        if with_mixlist and not mode.is_mixed:
            message = f"the engine accepts a mixlist only with a mixed mode, not with `{name}` (E10001)"
            hint = "use allow_mix_precision, or mixed_float16 as precision_mode_v2"
            yield whole_file(MODE_REFUSES_MIXLIST, PLACE, message, hint)
        for soc in socs:
            if not mode.is_on(soc):
                hint = f"it requires {', '.join(sorted(mode.socs or ()))}"
                yield whole_file(MODE_NOT_ON_SOC, PLACE, f"{soc} does not have `{name}`", hint)
    known = [mode for mode in map(MODES.get, names) if mode]
    if {("v1",), ("v2",)} <= {mode.options for mode in known}:
        both = " and ".join(f"`{mode.name}`" for mode in known)
        message = f"{both} set both precision_mode and precision_mode_v2 (E10056)"
        yield whole_file(BOTH_MODES, PLACE, message, "use only one of the two")
