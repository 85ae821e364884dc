"""Rules on the precision modes that a mixlist is used with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..model.install import DOCUMENTED_FOLDERS
from ..model.precision_mode import MODES, mode_hint
from .engine_files import MODES_MANUAL, OPTIONS, PRECISION_MODE
from .finding import Finding, Rule, whole_file

UNKNOWN_MODE = Rule(
    code="P001",
    name="unknown-mode",
    about="mode",
    severity="error",
    engine="refuses",
    why=(
        "No precision_mode or precision_mode_v2 has this name. precision_mode takes force_fp16, allow_fp32_to_fp16, "
        "allow_fp32_to_bf16, allow_mix_precision, allow_mix_precision_fp16, allow_mix_precision_bf16, force_fp32, "
        "cube_fp16in_fp32out, must_keep_origin_dtype; precision_mode_v2 takes fp16, origin, cube_fp16in_fp32out, "
        "mixed_float16, mixed_bfloat16, mixed_hif8, cube_hif8. Two names in the engine's own table "
        "(force_lowerprecision, allow_fp32_to_lowprecision) are refused by the API before they reach it."
    ),
    fails="--precision-mode allow_mixed_precision",
    passes="--precision-mode allow_mix_precision",
    source=f"{OPTIONS}:1316-1357; error E10001",
)
MODE_REFUSES_MIXLIST = Rule(
    code="P002",
    name="mode-refuses-mixlist",
    about="mode",
    severity="error",
    engine="refuses",
    why=(
        "A mixlist is accepted with the mixed modes only: allow_mix_precision, allow_mix_precision_fp16, "
        "allow_mix_precision_bf16, mixed_float16, mixed_bfloat16, mixed_hif8. With any other mode, or none, a "
        "non-empty modify_mixlist is an error."
    ),
    fails="--precision-mode force_fp16",
    passes="--precision-mode allow_mix_precision",
    source=f"{OPTIONS}:81-92, 1384-1411; error E10001",
)
MODE_NOT_ON_SOC = Rule(
    code="P003",
    name="mode-not-on-soc",
    about="mode",
    severity="error",
    engine="refuses",
    why=(
        "This chip does not have the mode's dtype: bfloat16 needs the A2 or A3 series, Atlas 200I/500 A2 or 950; "
        "hifloat8 needs 950. On a chip that opsinfo does not know it is a warning: newer chips may have both."
    ),
    fails="--precision-mode mixed_bfloat16 --against ascend910",
    passes="--precision-mode mixed_float16 --against ascend910",
    source=f"{PRECISION_MODE}:109-137; error E20101; {MODES_MANUAL}:85-113",
)
BOTH_MODES = Rule(
    code="P004",
    name="both-modes",
    about="mode",
    severity="error",
    engine="refuses",
    why="precision_mode and precision_mode_v2 are given together. Remove one of them.",
    fails="--precision-mode allow_mix_precision --precision-mode mixed_float16",
    passes="--precision-mode mixed_float16",
    source=f"{OPTIONS}:1359-1372; error E10056",
)

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
            if mode.is_on(soc):
                continue
            hint = f"it requires {', '.join(sorted(mode.socs or ()))}"
            if soc in DOCUMENTED_FOLDERS:
                yield whole_file(MODE_NOT_ON_SOC, PLACE, f"{soc} does not have `{name}`", hint)
            else:
                message = f"unknown chip {soc}: it may not have `{name}`"
                yield Finding(MODE_NOT_ON_SOC, message, PLACE, hint=hint, severity="warning", engine="accepts")
    known = [mode for mode in map(MODES.get, names) if mode]
    if {("v1",), ("v2",)} <= {mode.options for mode in known}:
        both = " and ".join(f"`{mode.name}`" for mode in known)
        message = f"{both} set both precision_mode and precision_mode_v2 (E10056)"
        yield whole_file(BOTH_MODES, PLACE, message, "use only one of the two")
