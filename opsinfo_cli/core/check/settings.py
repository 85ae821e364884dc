"""The compiler's options as scripts and configurations set them: what one command, section or object has together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias, get_args

from ..cann.chips import chip_folder
from ..cann.file_kind import NamedKind
from ..cann.precision_mode import MODES, ModeOption, knows_modes_of
from ..text.source import Source
from .finding import Finding, at
from .mode import (
    Words,
    both_modes,
    keep_dtype_without_effect,
    no_mode,
    not_all_in_float32,
    not_on_soc,
    refuses_mixlist,
    unknown_mode,
)
from .rules import Severity

OPTIONS = {
    "modify_mixlist": "modify_mixlist",
    "mixprecision_list_path": "modify_mixlist",
    "HUAWEI_ASCEND_NPU_MODIFY_MIXLIST_FILE_PATH": "modify_mixlist",
    "keep_dtype": "keep_dtype",
    "customize_dtypes": "customize_dtypes",
    "customizeDtypes": "customize_dtypes",
    "op_precision_mode": "op_precision_mode",
    "raw_ge_options": "raw_ge_options",
    "precision_mode": "precision_mode",
    "precision_mode_v2": "precision_mode_v2",
    "soc_version": "soc_version",
    "HUAWEI_ASCEND_NPU_PRECISION_MODE": "precision_mode",
    "AUTOFUSE_FLAGS": "AUTOFUSE_FLAGS",
    "ACL_MODIFY_MIXLIST": "modify_mixlist",
    "ACL_CUSTOMIZE_DTYPES": "customize_dtypes",
    "ACL_OP_PRECISION_MODE": "op_precision_mode",
    "ACL_PRECISION_MODE_V2": "precision_mode_v2",
    "ACL_PRECISION_MODE": "precision_mode",
}
"""Options of atc by the names that they have there, in GE (``ge.exec.modify_mixlist``), MindSpore Lite, Paddle Lite,
and for ``torch_npu.npu.set_option``."""
FILE_KINDS: dict[str, NamedKind] = {
    "modify_mixlist": "mixlist",
    "keep_dtype": "keep_dtype",
    "customize_dtypes": "customize_dtypes",
    "op_precision_mode": "op_precision",
}
"""The kind of the file that an option names."""
Program: TypeAlias = Literal["atc", "aoe", "converter_lite", "paddle-lite"]
COMPILERS = ("atc", "aoe")
PADDLE_LITE = "HUAWEI_ASCEND_NPU_"
"""What the names of Paddle Lite's options begin with."""
MODE_OPTIONS: tuple[ModeOption, ...] = get_args(ModeOption)
LITE_MODES = {
    "enforce_fp32": "force_fp32",
    "preferred_fp32": "allow_fp32_to_fp16",
    "enforce_fp16": "force_fp16",
    "enforce_origin": "must_keep_origin_dtype",
    "preferred_optimal": "allow_mix_precision",
}
"""MindSpore Lite's words for the modes; it passes on other words as they are. Source: mindspore-ai/mindspore-lite
2b288705, tools/converter/adapter/acl/cxx_api_lite/cxx_api/acl_utils.h:50-58."""


class Setting(NamedTuple):
    """An option with its value.

    :param option: one of the values of ``OPTIONS``; another option of a command by the name that it has there
    :param value: None if it is computed or depends on a variable
    :param text: the value as it is written
    :param span: of the value
    :param is_default: whether the caller of the script may give it another value
    """

    option: str
    value: str | None
    text: str
    span: tuple[int, int]
    is_default: bool = False


class Settings(NamedTuple):
    """What one command line, section or object sets together, in order, however it is written.

    :param is_engine: whether the modes are certainly those of the engine, and not an option of the user's own script
    :param is_whole: whether it has a mode if any is set: a command of atc; an object may get its mode elsewhere
    :param program: the program that reads them; a command of atc, aoe or converter_lite has all of its options, not
        those of ``OPTIONS`` alone
    """

    options: Sequence[Setting]
    is_engine: bool = False
    is_whole: bool = False
    program: Program | None = None

    def last(self, option: str) -> Setting | None:
        """Return the setting that counts; None if there is none, or it is empty, which is the same."""
        found = next((each for each in reversed(self.options) if each.option == option), None)
        return None if found is None or found.value == "" else found


def check_settings(source: Source, settings: Settings, socs: Sequence[str]) -> Iterator[Finding]:
    """Yield unknown-mode, both-modes, mode-refuses-mixlist, mode-not-on-soc, no-effect-with-mode,
    not-all-in-float32.

    What rests on a default is a warning: the caller of the script may give another value.

    Source: hicann/ge ffdcbc9f, compiler/api/aclgrph/option_utils.cc:1316-1411; hicann/tensorflow 82957b92,
    tf_adapter/util/npu_attrs.cc:2424-2475 has the same rules.

    :param socs: SoC folders of the targets; used if the settings name no chip, where no target has the mode
    """
    if not settings.is_engine:
        return

    def found(rule: str, words: Words, setting: Setting, *others: Setting) -> Finding:
        message, hint = words
        is_default = any(each.is_default for each in (setting, *others))
        message += ", by default" if is_default else ""
        severity: Severity | None = "warning" if is_default else None
        return at(rule, source, setting.span, message, hint=hint, severity=severity)

    given = [each for each in map(settings.last, MODE_OPTIONS) if each is not None]
    mixlist, keep_dtype = (_known(settings.last(option)) for option in ("modify_mixlist", "keep_dtype"))
    if len(list(filter(_known, given))) == 2:
        yield found("both-modes", both_modes([each.text for each in given]), given[1], given[0])
        mixlist = keep_dtype = None
    elif not given and mixlist is not None and settings.is_whole:
        yield found("mode-refuses-mixlist", no_mode(), mixlist)
    for setting in given:
        name = setting.value
        if name is None:
            continue
        mode = MODES.get(name)
        version = "v2" if setting.option == "precision_mode_v2" else "v1"
        if mode is None or version not in mode.options:
            message, hint = unknown_mode(name, setting.option)
            if name in LITE_MODES:
                hint = f"`{name}` is MindSpore Lite's word for {LITE_MODES[name]}, in [ascend_context] only"
            yield found("unknown-mode", (message, hint), setting)
            continue
        if mixlist is not None and settings.program == "paddle-lite" and name != "allow_mix_precision":
            yield found("no-effect-with-mode", (_PADDLE_LITE_PASSES.format(name), _PADDLE_LITE_MODE), mixlist, setting)
        elif mixlist is not None and not mode.is_mixed:
            yield found("mode-refuses-mixlist", refuses_mixlist(name, setting.text), setting, mixlist)
        if keep_dtype is not None and mode.engine == "KEEP_ORIGIN":
            yield found("no-effect-with-mode", keep_dtype_without_effect(name), keep_dtype, setting)
        if mixlist is None and name == "force_fp32":
            yield found("not-all-in-float32", not_all_in_float32(), setting)
        chip = _known(settings.last("soc_version"))
        named = chip_folder(chip.value or "") if chip else None
        lacking = [soc for soc in ([named] if named else socs) if knows_modes_of(soc) and not mode.is_on(soc)]
        if lacking and (named or len(lacking) == len(socs)):
            yield found("mode-not-on-soc", not_on_soc(mode, ", ".join(lacking)), setting)


_PADDLE_LITE_PASSES = "Paddle Lite passes a mixlist on with allow_mix_precision only, not with `{}`"
_PADDLE_LITE_MODE = "use HUAWEI_ASCEND_NPU_PRECISION_MODE=allow_mix_precision"
"""Source: PaddlePaddle/Paddle-Lite, lite/backends/nnadapter/nnadapter/src/driver/huawei_ascend_npu/engine.cc."""


def _known(setting: Setting | None) -> Setting | None:
    """Return a setting if its value is known: one that is computed may be empty, which is as if it were not given."""
    return None if setting is None or setting.value is None else setting
