"""The compiler's options as scripts and configurations set them: what one command, section or object has together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..cann.chips import chip_folder
from ..cann.file_kind import NamedKind
from ..cann.precision_mode import MODES, knows_modes_of
from ..text.source import Source
from .finding import Finding, at
from .mode import Words, both_modes, keep_dtype_without_effect, no_mode, not_on_soc, refuses_mixlist, unknown_mode

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
}
"""Options of atc by the names that they have there, in GE (``ge.exec.modify_mixlist``), MindSpore Lite, Paddle Lite."""
KINDS: dict[str, NamedKind] = {
    "modify_mixlist": "mixlist",
    "keep_dtype": "keep_dtype",
    "customize_dtypes": "customize_dtypes",
    "op_precision_mode": "op_precision",
}
"""The kind of the file that an option names."""
MODE_OPTIONS = ("precision_mode", "precision_mode_v2")
_LITE_MODES = {
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

    :param option: one of the values of ``OPTIONS``
    :param value: None if it is computed or depends on a variable
    :param text: the value as it is written
    :param span: of the value
    """

    option: str
    value: str | None
    text: str
    span: tuple[int, int]


class Settings(NamedTuple):
    """Options that the engine gets together, in order.

    :param is_engine: whether the modes are certainly those of the engine, and not an option of the user's own script
    :param is_whole: whether it has a mode if any is set: a command of atc; an object may get its mode elsewhere
    """

    options: Sequence[Setting]
    is_engine: bool = False
    is_whole: bool = False

    def last(self, option: str) -> Setting | None:
        """Return the setting that counts; None if there is none, or it is empty, which is the same."""
        found = next((each for each in reversed(self.options) if each.option == option), None)
        return None if found is None or found.value == "" else found


def check_settings(source: Source, settings: Settings, socs: Sequence[str]) -> Iterator[Finding]:
    """Yield unknown-mode, both-modes, mode-refuses-mixlist, mode-not-on-soc, no-effect-with-mode.

    Source: hicann/ge ffdcbc9f, compiler/api/aclgrph/option_utils.cc:1316-1411; hicann/tensorflow 82957b92,
    tf_adapter/util/npu_attrs.cc:2424-2475 has the same rules.

    :param socs: SoC folders of the targets; used if the settings name no chip, where no target has the mode
    """
    if not settings.is_engine:
        return
    given = [each for each in map(settings.last, MODE_OPTIONS) if each is not None]
    mixlist, keep_dtype = (_known(settings.last(option)) for option in ("modify_mixlist", "keep_dtype"))
    if len(list(filter(_known, given))) == 2:
        yield _at("both-modes", source, given[1].span, both_modes([each.text for each in given]))
        mixlist = keep_dtype = None
    elif not given and mixlist is not None and settings.is_whole:
        yield _at("mode-refuses-mixlist", source, mixlist.span, no_mode())
    for setting in given:
        name = _LITE_MODES.get(setting.value or "", setting.value)
        if name is None:
            continue
        mode, span = MODES.get(name), setting.span
        version = "v2" if setting.option == "precision_mode_v2" else "v1"
        if mode is None or version not in mode.options:
            yield _at("unknown-mode", source, span, unknown_mode(name, setting.option))
            continue
        if mixlist is not None and not mode.is_mixed:
            yield _at("mode-refuses-mixlist", source, span, refuses_mixlist(name, setting.text))
        if keep_dtype is not None and mode.engine == "KEEP_ORIGIN":
            yield _at("no-effect-with-mode", source, keep_dtype.span, keep_dtype_without_effect(name))
        chip = _known(settings.last("soc_version"))
        named = chip_folder(chip.value or "") if chip else None
        lacking = [soc for soc in ([named] if named else socs) if knows_modes_of(soc) and not mode.is_on(soc)]
        if lacking and (named or len(lacking) == len(socs)):
            yield _at("mode-not-on-soc", source, span, not_on_soc(mode, ", ".join(lacking)))


def _at(rule: str, source: Source, span: tuple[int, int], words: Words) -> Finding:
    message, hint = words
    return at(rule, source, span, message, hint=hint)


def _known(setting: Setting | None) -> Setting | None:
    """Return a setting if its value is known: one that is computed may be empty, which is as if it were not given."""
    return None if setting is None or setting.value is None else setting
