"""The options of a command of MindSpore Lite's converter, and of its configuration, by the names that atc has for them.

Source: mindspore-ai/mindspore-lite 2320214d, tools/converter/converter_lite/converter_flags.cc; the table of options in
MindSpore Lite's documentation of the converter for Ascend.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .settings import LITE_MODES, OPTIONS, Setting, Settings
from .settings_in_text import LITE_SECTIONS

_FLAGS = {"modelFile": "model", "outputFile": "output", "inputShape": "input_shape", "fmk": "framework"}
_FRAMEWORKS = {"ONNX": "5", "TF": "3", "CAFFE": "0", "MINDIR": "1"}
_SECTIONS = LITE_SECTIONS | {"acl_init_options", "acl_build_options", "ge_graph_options", "ge_session_options"}
"""Those whose options reach the engine; but for Lite's own sections, as they are."""
_KEYS = {
    **OPTIONS,
    **{name: name for name in ("input_shape", "input_format", "dynamic_dims", "dynamic_batch_size")},
    **{name: name for name in ("dynamic_image_size", "op_select_implmode", "optypelist_for_implmode", "output_type")},
    "inputShape": "input_shape",
    "dynamicDims": "dynamic_dims",
    "dynamicBatchSize": "dynamic_batch_size",
    "dynamicImageSize": "dynamic_image_size",
    "op_select_impl_mode": "op_select_implmode",
}
_LINE = re.compile(
    r"^[ \t]*(?:\[(?P<section>[^\]\n]*)\]|(?P<key>[^\s=#\[][^=\n]*?)[ \t]*=(?P<value>[^\n]*))", re.MULTILINE
)
_VALUE = re.compile(r"[ \t]*(?:\"([^\"]*)\"|((?:(?!\s#)[^\r])*))")


def lite_as_atc(settings: Settings, config: str) -> Settings:
    """Return the settings of a converter's command as one of atc; what atc has no option for keeps its name, with that
    of its section. An option that is given twice with different values is not known.

    :param config: the text of the configuration; what it sets has the place of the option that names it
    """
    found: dict[str, Setting] = {}
    named = settings.last("configFile")
    given = map(_of_command, (each for each in settings.options if each.option != "configFile"))
    for setting in [*filter(None, given), *(_of_configuration(config, named) if named else ())]:
        before = found.setdefault(setting.option, setting)
        if before.value != setting.value:
            found[setting.option] = before._replace(value=None, text=f"{before.text} or {setting.text}")
    if named and not config:
        found["configFile"] = named
    return settings._replace(options=list(found.values()))


def _of_command(setting: Setting) -> Setting | None:
    """Return an option of the converter as one of atc; None if it has nothing to say."""
    option, value = setting.option, setting.value
    written = setting.text if value is None else value
    if option == "fmk" and value is not None:
        value = _FRAMEWORKS.get(value, value)
    elif option == "optimize" and written.startswith("ascend_oriented"):
        _, _, chip = written.partition(":")
        if not chip:
            return None
        known = value and f"ascend{chip.lower().removeprefix('ascend')}"  # 910b is that of Atlas A2, also Ascend910B
        return setting._replace(option="soc_version", value=known or None, text=chip)
    return setting._replace(option=_FLAGS.get(option, option), value=value)


def _of_configuration(text: str, named: Setting) -> Iterator[Setting]:
    """Yield what a configuration sets; of equal keys of a section the first counts, as in the converter."""
    section = ""
    seen = set()
    for line in _LINE.finditer(text):
        if line["section"] is not None:
            section = line["section"].strip()
            continue
        key = line["key"].strip()
        match = _VALUE.match(line["value"])
        value = (match[1] if match[1] is not None else match[2]).strip() if match else ""
        if (section, key) in seen or not value:
            continue
        seen.add((section, key))
        option = _KEYS.get(re.sub(r"^ge\.(exec\.)?", "", key)) if section in _SECTIONS else None
        if option == "input_shape":
            value = re.sub(r"[\[\] ]", "", value)
        elif option == "precision_mode" and section in LITE_SECTIONS and not key.startswith("ge."):
            value = LITE_MODES.get(value, value)
        elif option and option.startswith("dynamic_") and re.search(r"[\[~]", value):
            option = None  # a notation of its own
        yield Setting(option or f"{section}.{key}", value, value, named.span)
