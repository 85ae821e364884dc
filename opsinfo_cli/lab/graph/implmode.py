"""Implementation modes: how a chip computes what the precision mode keeps high, in float32 or in HF32.

Source: hicann/ge ffdcbc9f, compiler/engines/nn_engine/utils/common/config_parser/op_impl_mode_config_parser.cc:76-260;
the op types of ``allow_hf32`` are in ``data/hf32.json``, the chips with HF32 in the table of chips.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ...core.cann.chips import chip_folder, folder_facts
from ...core.cann.dtype_names import leading_dtype
from ...core.cann.option_files import OpPrecision
from ...core.cann.policy import BLANKS
from ...core.package_data import package_data
from ...errors import OpsinfoError, UsageFault
from .atc_options import AtcOptions, command_options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HF32_MODE, FLOAT32_MODE = "enable_hi_float_32_execution", "enable_float_32_execution"
ALLOW_HF32 = {"00": (False, False), "01": (False, True), "10": (True, False), "11": (True, True)}
"""Values of ``--allow_hf32``: whether convolutions, and whether matrix products, are computed in HF32."""
SPELLED_HF32 = {"0": "00", "false": "00", "1": "11", "true": "11"}
"""Other spellings of these values, which the compiler takes."""
DEFAULT_ALLOW_HF32 = "10"
_DEFAULT_SELECT = "high_performance"
SELECT_IMPLMODE = ("high_precision", "high_performance", "high_precision_for_all", "high_performance_for_all")
"""Values of ``--op_select_implmode``."""
_FOLDERS = ("built-in/op_impl/ai_core/tbe/impl_mode", "op_impl/built-in/ai_core/tbe/impl_mode")
"""Below an OPP root: the files of modes, in the current layout and the one of CANN before 5.1."""


class ImplModes:
    """The implementation modes of one compilation; of equal names the first one wins.

    :ivar types: the mode of each op type, and ``nodes`` of each node
    :ivar has_hf32: whether the chip computes in HF32; None if unknown
    :ivar caveats: options that are not considered, and why
    """

    def __init__(self, chip_has_hf32: bool | None) -> None:
        self.types: dict[str, str] = {}
        self.nodes: dict[str, str] = {}
        self.has_hf32 = chip_has_hf32
        self.caveats: list[str] = []

    def mode_of(self, name: str, op_type: str) -> str | None:
        """Return the mode of a node; its name is asked before its op type."""
        return self.nodes.get(name) or self.types.get(op_type)

    def computed_in(
        self, name: str, op_type: str, inputs: tuple[str | None, ...], outputs: tuple[str | None, ...]
    ) -> str | None:
        """Return the dtype that a node with these dtypes is computed in.

        ``hf32`` is float32 whose inputs are rounded to 11 bits of mantissa. None: whether the chip has HF32 is unknown.
        """
        dtype = leading_dtype(inputs, outputs)
        if dtype != "float32" or self.has_hf32 is False or self.mode_of(name, op_type) != HF32_MODE:
            return dtype
        return "hf32" if self.has_hf32 else None

    def add(self, types: Mapping[str, str], nodes: Mapping[str, str]) -> None:
        """Add modes after those that are known."""
        self.types = {**types, **self.types}
        self.nodes = {**nodes, **self.nodes}


def implementation_modes(given: AtcOptions, command: Sequence[str], soc: str | None, root: str | None) -> ImplModes:
    """Return the modes of a compilation.

    :param command: the command that compiled the model; options that are not given are taken from it
    :param root: the OPP root, whose files say which op types a mode is for; None: only those of HF32 are known
    :raises UsageFault: if a given option has a wrong value
    :raises Refused: if a given file cannot be read
    """
    modes = ImplModes(has_hf32(soc))
    options = _options(given, command, modes.caveats)
    folders = [os.path.join(root, folder) for folder in _FOLDERS] if root else []
    folder = next(filter(os.path.isdir, folders), None)
    path, asked = options.op_precision_mode, options.op_select_implmode
    select = asked or _DEFAULT_SELECT
    allowed = options.allow_hf32 or ("" if path or asked else DEFAULT_ALLOW_HF32)
    if allowed:
        _add_hf32(modes, allowed, folder)
    listed = (options.optypelist_for_implmode or "").strip(BLANKS)
    if path:
        try:
            file = OpPrecision.read(path)
            modes.add(file.types, file.nodes)
        except OpsinfoError as error:
            if given.op_precision_mode is not None:
                raise
            modes.caveats.append(f"not considered: --op_precision_mode={path}: {error.message}")
    elif listed and not select.endswith("_for_all"):
        modes.add(dict.fromkeys((op_type.strip(BLANKS) for op_type in listed.split(",")), select), {})
    elif folder:
        _add_file(modes, folder, select)
    elif asked:
        modes.caveats.append(f"the op types of {select} are in the folder impl_mode of an install, which is not here")
    if not allowed:
        _add_hf32(modes, DEFAULT_ALLOW_HF32, folder)
    return modes


def has_hf32(soc: str | None) -> bool | None:
    """Return whether a chip computes float32 in HF32 where it may; None if unknown."""
    return folder_facts(chip_folder(soc) or "").hf32 if soc else None


def _options(given: AtcOptions, command: Sequence[str], caveats: list[str]) -> AtcOptions:
    """:raises UsageFault: if a given option has a wrong value"""
    own = {name: value for name, value in given._asdict().items() if value}
    options = {name: value for name, value in command_options(command).items() if name in AtcOptions._fields} | own
    for name, known in (("allow_hf32", [*ALLOW_HF32, *SPELLED_HF32]), ("op_select_implmode", list(SELECT_IMPLMODE))):
        value = options.get(name)
        if not value or value in known:
            continue
        message = f"--{name.replace('_', '-')}: unknown value `{value}`"
        if name in own:
            raise UsageFault(message, name="bad-implmode", hint=f"one of {', '.join(known)}")
        caveats.append(f"not considered: --{name}={options.pop(name)}: the value is unknown")
    return AtcOptions(**options)


def _add_hf32(modes: ImplModes, allowed: str, folder: str | None) -> None:
    if modes.has_hf32 is False:
        return
    conv, matmul = ALLOW_HF32[SPELLED_HF32.get(allowed, allowed)]
    if folder:
        _add_file(modes, folder, f"allow_hf32_matmul_{'ft'[matmul]}_conv_{'ft'[conv]}")
        return
    types = package_data(__package__, "hf32")["types"]
    for op_types, is_on in ((types["conv"], conv), (types["matmul"], matmul)):
        modes.add(dict.fromkeys(op_types, HF32_MODE if is_on else FLOAT32_MODE), {})


def _add_file(modes: ImplModes, folder: str, name: str) -> None:
    path = os.path.join(folder, f"{name}.ini")
    if os.path.exists(path):
        found = OpPrecision.read(path)
        modes.add(found.types, found.nodes)
