"""The customize_dtypes file: dtypes for single nodes or op types, which override keep_dtype and the precision mode.

Lines are ``NAME:InputDtype:a,b,OutputDtype:c`` or ``OpType::TYPE:InputDtype:...``. Source: hicann/ge ffdcbc9f,
compiler/engines/nn_engine/utils/common/config_parser/op_cust_dtypes_config_parser.cc:60-258.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ...model.entry_rules import DTYPES
from ...model.policy import BLANKS
from ..dtypes import canonical
from ..judge.facts import Customized
from .lines import OptionFileFault, lines_of, refuse

if TYPE_CHECKING:
    from ..graph import ModelGraph


_TYPE, _INPUTS, _OUTPUTS = "OpType::", "InputDtype", "OutputDtype"
_LONGEST = 1023
"""The most bytes of a line; at a longer one the engine stops reading (op_cust_dtypes_config_parser.cc:25, 102)."""
_MEANT = {"bf16": "bfloat16", "fp16": "float16", "half": "float16", "fp32": "float32", "hif8": "hifloat8"}


class CustomizedName(NamedTuple):
    """One line: the name of a node or an op type, and its dtypes."""

    name: str
    is_type: bool
    dtypes: Customized
    line: int


class CustomizeDtypes:
    """The content of a customize_dtypes file.

    :ivar names: by (name, whether it is an op type); the first line of a name wins
    :ivar faults: the faults of its lines
    """

    def __init__(self, lines: list[str], path: str = "customize_dtypes") -> None:
        self.path = path
        self.names: dict[tuple[str, bool], CustomizedName] = {}
        self.faults: list[OptionFileFault] = []
        for number, text in enumerate(lines, 1):
            if len(text.encode("utf-8", "surrogateescape")) > _LONGEST:
                message = f"a line of more than {_LONGEST} bytes: the engine ignores it and all lines after it"
                self.faults.append(OptionFileFault("line-too-long", number, 1, message, False))
                break
            self._line(text, number)

    @classmethod
    def read(cls, path: str) -> CustomizeDtypes:
        """:raises Refused: if the file cannot be read
        :raises Damaged: if the engine refuses a line; has its place
        """
        asked = cls(lines_of(path), path)
        refuse(asked.faults, path)
        return asked

    def marks(self, graph: ModelGraph) -> dict[int, Customized]:
        """Return the dtypes by node index; a node's own line overrides its op type's."""
        found: dict[int, Customized] = {}
        for node in graph:
            asked = self.names.get((node.name, False)) or self.names.get((node.type, True))
            if asked is not None:
                found[node.index] = asked.dtypes
        return found

    def unmatched(self, graph: ModelGraph) -> list[OptionFileFault]:
        """Return lines whose node or op type the graph does not have: the engine ignores them."""
        names, types = set(graph.names), set(graph.types)
        return [
            OptionFileFault(
                "not-in-model",
                each.line,
                1,
                f"the graph has no {'op type' if each.is_type else 'node'} `{each.name}`",
                False,
            )
            for each in self.names.values()
            if each.name not in (types if each.is_type else names)
        ]

    def _line(self, text: str, number: int) -> None:
        line = text.partition("\0")[0]
        is_type = line.startswith(_TYPE)
        head = len(_TYPE) if is_type else 0
        body = line[head:].strip(BLANKS)
        name, colon, _ = body.partition(":")
        if not colon or not name:
            what = "an empty line" if not body else "no `:` after a name"
            self._refuse("bad-line", number, 1, f"{what}: the engine refuses the file", _form(body))
            return
        at_in, at_out = body.find(_INPUTS), body.find(_OUTPUTS)
        if at_in < 0 and at_out < 0:
            self._refuse("bad-line", number, head + 1, f"neither `{_INPUTS}` nor `{_OUTPUTS}`", _form(body))
            return
        if 0 <= at_out < at_in:
            self._refuse("bad-line", number, head + at_out + 1, f"`{_INPUTS}` must come before `{_OUTPUTS}`")
            return
        last = len(body)
        inputs = self._dtypes(body, at_in, _INPUTS, at_out if at_out >= 0 else last, number, head)
        outputs = self._dtypes(body, at_out, _OUTPUTS, last, number, head)
        if inputs is None or outputs is None:
            return
        key = (name, is_type)
        if key in self.names:
            first = self.names[key].line
            self.faults.append(
                OptionFileFault("duplicate-name", number, head + 1, f"line {first} also has `{name}` and wins", False)
            )
            return
        self.names[key] = CustomizedName(name, is_type, Customized(inputs, outputs), number)

    def _dtypes(self, body: str, at: int, word: str, end: int, number: int, head: int) -> tuple[str | None, ...] | None:
        """Return the dtypes between two places of a line; None if one of them is refused."""
        if at < 0:
            return ()
        start = at + len(word) + 1
        if start > len(body):
            self._refuse("bad-line", number, head + at + 1, f"no dtype after `{word}`")
            return None
        text = body[start : max(end, start)]
        dtypes: list[str | None] = []
        for part in text.split(",") if text else ():
            dtype = part.strip(BLANKS)
            if dtype and (dtype.lower() not in DTYPES or dtype.lower() == "undefined"):
                meant = _MEANT.get(dtype.lower())
                hint = f"did you mean `{meant}`?" if meant else None
                self._refuse("bad-dtype", number, head + start + 1, f"`{dtype}` is not a dtype", hint)
                return None
            dtypes.append(canonical(dtype) if dtype else None)
            start += len(part) + 1
        return tuple(dtypes)

    def _refuse(self, name: str, line: int, column: int, message: str, hint: str | None = None) -> None:
        self.faults.append(OptionFileFault(name, line, column, message, True, hint))


def _form(body: str) -> str | None:
    if body.startswith("#"):
        return "the file has no comments"
    return None if not body else "the form of a line is `NAME:InputDtype:a,b,OutputDtype:c`"
