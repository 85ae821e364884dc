"""Rules on the precision modes that a mixlist is used with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..errors import join_some
from ..model.precision_mode import MODES, knows_modes_of, mode_hint
from .finding import Finding, whole_file
from .rules import RULES

PLACE = "--precision-mode"
"""The path of the findings."""


def check_modes(names: Sequence[str], socs: Sequence[str], with_mixlist: bool) -> Iterator[Finding]:
    """:param socs: SoC folders of the targets
    :param with_mixlist: whether a mixlist is used with the mode
    """
    for name in names:
        mode = MODES.get(name)
        if mode is None:
            yield whole_file("unknown-mode", PLACE, f"unknown precision mode `{name}` (E10001)", mode_hint(name))
            continue
        if with_mixlist and not mode.is_mixed:
            message = f"the engine accepts a mixlist only with a mixed mode, not with `{name}` (E10001)"
            hint = "use allow_mix_precision, or mixed_float16 as precision_mode_v2"
            yield whole_file("mode-refuses-mixlist", PLACE, message, hint)
        for soc in socs:
            if mode.is_on(soc):
                continue
            hint = f"it requires {join_some(mode.listed_socs, 4)}"
            if knows_modes_of(soc):
                yield whole_file("mode-not-on-soc", PLACE, f"{soc} does not have `{name}`", hint)
            else:
                message = f"unknown chip {soc}: it may not have `{name}`"
                yield Finding(RULES["mode-not-on-soc"], message, PLACE, hint=hint, severity="warning", engine="accepts")
    known = [mode for mode in map(MODES.get, names) if mode]
    if {("v1",), ("v2",)} <= {mode.options for mode in known}:
        both = " and ".join(f"`{mode.name}`" for mode in known)
        message = f"{both} set both precision_mode and precision_mode_v2 (E10056)"
        yield whole_file("both-modes", PLACE, message, "use only one of the two")
