"""``--atc FILE[:LINE]|COMMAND``: the user's own atc command is where the values of options come from.

They are defaults of the command's own options, before those of the configuration: what is typed beside ``--atc`` wins.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import click

from ...errors import OpsinfoError, UsageFault, join_some
from ..cann.chips import chip_folder
from ..cann.target import Target
from ..check.settings_in_scripts import AtcCommand, read_atc
from .console import Console
from .params import Word, option

_IN_USE, _NOTES, _ERROR = "opsinfo.atc", "opsinfo.atc.notes", "opsinfo.atc.error"
_WORDS = {
    "--precision-mode": ("precision_mode_v2", "precision_mode"),
    "--mixlist": ("modify_mixlist",),
    "--keep-dtype": ("keep_dtype",),
    "--customize-dtypes": ("customize_dtypes",),
    "--op-precision-mode": ("op_precision_mode",),
    "--allow-hf32": ("allow_hf32",),
    "--shape": ("input_shape",),
    "--model": ("model",),
    "--against": ("soc_version",),
}
"""Options of a command, and those of atc that they stand for."""
_FILES = ("modify_mixlist", "keep_dtype", "customize_dtypes", "op_precision_mode", "model")
OF_GRAPH = ("output_type", "input_fp16_nodes", "op_select_implmode", "optypelist_for_implmode")
"""Options that no command has, and that the judge follows, or says that it does not."""
PROFILES = ("dynamic_batch_size", "dynamic_image_size", "dynamic_dims")
"""Those that compile a model for several shapes."""
_NEUTRAL = frozenset(
    {
        *("output", "framework", "input_format", "log", "mode", "om", "json", "host_env_os", "host_env_cpu", "display"),
        *("check_report", "weight", "save_original_model", "op_debug_level", "op_debug_dir", "debug_dir", "help"),
        *("op_compiler_cache_mode", "op_compiler_cache_dir", "buffer_optimize", "core_type", "aicore_num", "dump_mode"),
        *("external_weight", "enable_small_channel", "deterministic", "job_type", "tune_mode", "auto_tune_mode"),
        *("saveType", "infer"),
    }
)
"""Options that do not change dtypes."""
_DEFAULT_MODE = "force_fp16"
"""The mode of atc without one: documentation of CANN 9, atc, --precision_mode."""
_FRAMEWORKS = {"0": "Caffe", "1": "MindSpore", **{name: name for name in ("TFLITE", "PYTORCH", "MSLITE", "OM")}}
"""Values of --framework that name models which are not read; 3 is TensorFlow, 5 ONNX."""


def atc_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--atc`` to a command; its function does not get the value."""

    @functools.wraps(function)
    def call(atc: str | None, **values: Any) -> Any:
        if error := click.get_current_context().meta.get(_ERROR):
            raise error
        return function(**values)

    words = "Take model, shapes, chip, mode and lists from this atc command, or from FILE[:LINE] that has it."
    decorated: Callable[..., Any] = option("--atc", type=Word("FILE|COMMAND", reads=True), help=words)(call)
    return decorated


def atc_in_use() -> AtcCommand | None:
    """The command of ``--atc``; None without one."""
    command: AtcCommand | None = click.get_current_context().meta.get(_IN_USE)
    return command


def atc_words() -> tuple[str, ...]:
    """The options of the command that the judge takes from there, as a compiled model has them."""
    command = atc_in_use()
    if command is None:
        return ()
    taken = {option for words in _WORDS.values() for option in words}
    known = {setting.option: command.value(setting.option) for setting in command.settings.options}
    return ("atc", *(f"--{name}={value}" for name, value in known.items() if value and name not in taken))


def tell_atc(console: Console, followed: Sequence[str] = ()) -> None:
    """Say what was typed instead of a value of the command, what of it is unknown, and what is not considered.

    :param followed: further options of atc that the command considers, or says that it does not
    """
    command = atc_in_use()
    if command is None:
        return
    for note in click.get_current_context().meta.get(_NOTES, ()):
        console.note(note)
    words = {word for param in click.get_current_context().command.params for word in param.opts}
    mine = {name for word, names in _WORDS.items() for name in names if word in words or word[2:] in words}
    mine |= {*_FILES} if "paths" in words else set()
    for setting in command.unknown:
        line = command.source.place(setting.span[0]).line
        console.warn(f"--{setting.option}={setting.text}, line {line}: its value is unknown")
    known = mine | _NEUTRAL | {*followed}
    others = dict.fromkeys(each.option for each in command.settings.options if each.value and each.option not in known)
    if others:
        console.note(f"not considered: {join_some([f'--{name}' for name in others], 8)} of the command")


def atc_defaults(text: str, command: click.Command, given: Mapping[str, Any], context: click.Context) -> dict[str, Any]:
    """Return the values of parameters that a command of atc gives, by name, and note what was typed instead.

    What is wrong with it is raised when the command is called, after the line was checked.

    :param given: the parameters of the line
    """
    try:
        return _defaults(text, command, given, context)
    except OpsinfoError as error:
        context.meta[_ERROR] = error
        return {}


def _defaults(text: str, command: click.Command, given: Mapping[str, Any], context: click.Context) -> dict[str, Any]:
    """:raises UsageFault: if the text has no command of atc or several, or atc refuses its options
    :raises Refused: if the file cannot be read
    """
    atc = read_atc(text)
    context.meta[_IN_USE] = atc
    if atc.value("precision_mode") and atc.value("precision_mode_v2"):
        message = "the command sets --precision_mode and --precision_mode_v2: atc refuses both"
        raise UsageFault(message, name="both-modes", path=atc.source.path, line=atc.line)
    if (framework := atc.value("framework")) in _FRAMEWORKS:
        message = f"--framework={framework}: models of {_FRAMEWORKS[framework]} are not read"
        raise UsageFault(message, path=atc.source.path, line=atc.line, hint="ONNX (5) and TensorFlow (3) are")
    found: dict[str, Any] = {}
    notes: list[str] = []
    params = {word: param for param in command.params for word in param.opts}
    values = list(_values(atc, params))
    chip = next((value for _, word, value in values if word == "--against"), None)
    if "paths" in params and not given.get("against") and not (chip and _is_installed(chip)):
        values = [each for each in values if each[1] not in ("--against", "--model", "--shape")]
        notes.append(f"no CANN with {chip or 'the chip of the command'} was found; --against TARGET checks names, too")
    for param, word, value in values:
        assert param.name is not None
        typed = given.get(param.name)
        if typed and word == "--against" and (soc := params.get("--soc")) and _needs_chip(typed):
            param, word, typed = soc, "--soc", given.get(soc.name or "")
            assert param.name is not None
        if typed:
            shown = typed if isinstance(typed, str) else ", ".join(map(str, typed))
            if shown != value:
                notes.append(f"{word} {shown}, as typed, and not {value} of the command")
        else:
            multiple = getattr(param, "multiple", False) or param.nargs != 1
            found[param.name] = [*found.get(param.name, ()), value] if multiple else value
    context.meta[_NOTES] = notes
    if not any(atc.settings.last(name) for name in _WORDS["--precision-mode"]) and atc.is_whole:
        for param in command.params:
            if "--precision-mode" in param.opts and param.name and not given.get(param.name):
                found[param.name] = [_DEFAULT_MODE] if getattr(param, "multiple", False) else _DEFAULT_MODE
                notes.append(f"precision mode {_DEFAULT_MODE}, the default of atc")
    return found


def _is_installed(chip: str) -> bool:
    """Whether a chip is a target here; a command that checks files can do without."""
    try:
        Target.open(chip)
    except OpsinfoError:
        return False
    return True


def _needs_chip(against: str | Sequence[str]) -> bool:
    """Whether a target is an install, or several, without a chip."""
    texts = [against] if isinstance(against, str) else against
    return all(os.path.isdir(text) for text in texts)


def _values(atc: AtcCommand, params: Mapping[str, click.Parameter]) -> Iterator[tuple[click.Parameter, str, str]]:
    """Yield the parameters that have a value in the command, with their words in messages."""
    for word, options in _WORDS.items():
        name = next((name for name in options if atc.value(name) or (name in _FILES and atc.path(name))), None)
        if name is None:
            continue
        value = (atc.path(name) if name in _FILES else atc.value(name)) or ""
        param = params.get(word) or params.get(word.removeprefix("--"))
        if param is None and name in _FILES and "paths" in params:  # what a command checks
            param = params["paths"]
        if name == "soc_version":
            value = chip_folder(value) or value
        if param is not None:
            yield param, word if word in params else "FILE" if "paths" in params else "MODEL", value
