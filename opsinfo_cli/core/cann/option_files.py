"""Files of compiler options that mark nodes: keep_dtype, customize_dtypes, op_precision.

keep_dtype: nodes that keep their dtype; a line is the name of a node or ``OpType::TYPE``; there are no comments.
Source: hicann/ge ffdcbc9f, compiler/api/aclgrph/attr_options/keep_dtype_option.cc:20-125 and utils.cc:18-65.

customize_dtypes: dtypes, which override keep_dtype and the precision mode; lines are
``NAME:InputDtype:a,b,OutputDtype:c`` or ``OpType::TYPE:InputDtype:...``. Source: the same,
compiler/engines/nn_engine/utils/common/config_parser/op_cust_dtypes_config_parser.cc:60-258.

op_precision: implementation modes, for ``--op_precision_mode`` and in an install's ``impl_mode`` folder. A line is
``NAME=MODE``, below ``[ByOpType]`` (the default) or ``[ByNodeName]``; a line that begins with ``#`` is a comment. The
engine refuses no line: it ignores a wrong one without a message to the user, and of equal names the first one wins.
Source: the same folder, op_impl_mode_config_parser.cc:324-394.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ...errors import Damaged, Refused
from ...near_names import NearNames, meant, near_names
from ..text.source import read_bytes
from .dtype_names import canonical
from .entry_rules import DTYPES, MEANT_DTYPE
from .policy import BLANKS

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence

_INPUTS, _OUTPUTS = "InputDtype", "OutputDtype"
_LONGEST = 1023
"""The most bytes of a line; at a longer one the engine stops reading (op_cust_dtypes_config_parser.cc:25, 102)."""
PASCAL_CASE = re.compile(r"[A-Z][a-zA-Z0-9]*")


class OptionNode(Protocol):
    """A node as a line may name it."""

    @property
    def index(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def first_types(self) -> Collection[str]: ...
    @property
    def fused_names(self) -> Sequence[str]: ...
    @property
    def attributes(self) -> Mapping[str, Any]: ...


class OptionGraph(Protocol):
    """The nodes of a model."""

    @property
    def names(self) -> Iterable[str]: ...
    @property
    def types(self) -> Iterable[str]: ...
    def __iter__(self) -> Iterator[OptionNode]: ...


class Customized(NamedTuple):
    """Dtypes from a customize_dtypes file, by position; None for those that it does not set."""

    inputs: tuple[str | None, ...]
    outputs: tuple[str | None, ...]


class OptionFileFault(NamedTuple):
    """A fault of a line.

    :param name: kebab-case, for findings
    :param line: 1-based, with ``column`` in code points
    :param refuses: whether the compiler refuses the file; otherwise it ignores the line or part of it
    :param word: the faulty name, mode or dtype, at or after the column
    :param near: known words that may be meant by it
    """

    name: str
    line: int
    column: int
    message: str
    refuses: bool
    hint: str | None = None
    word: str = ""
    near: Sequence[str] = ()


class OptionName(NamedTuple):
    """One line: the name of a node or an op type, and what the line sets for it.

    :param line: 1-based, with ``column`` in code points
    """

    name: str
    is_type: bool
    line: int
    column: int = 1
    dtypes: Customized = Customized((), ())
    mode: str = ""


OP_TYPE = "OpType::"


def kept_names(lines: Iterable[str]) -> list[OptionName]:
    """Return the lines of a keep_dtype file that are not empty; the name is empty for a line of blanks.

    :param lines: ended by a line feed alone, as the engine reads them
    """
    texts = [(text.strip(BLANKS), number) for number, text in enumerate(lines, 1) if text]
    return [OptionName(text.removeprefix(OP_TYPE), text.startswith(OP_TYPE), number) for text, number in texts]


def keep_dtype_text(names: Iterable[str], types: Container[str] = ()) -> str:
    """Return the text of a keep_dtype file.

    :param names: of nodes and op types, in the order of the lines
    :param types: those of them that are op types
    """
    return "".join(f"{OP_TYPE if name in types else ''}{name}\n" for name in names)


KEEP_DTYPE = "keep_dtype takes a file, with a node name or OpType::TYPE on each line, not names"


def option_lines(path: str) -> list[str]:
    """The lines as the engine reads them: ended by a line feed alone; bytes that are not UTF-8 stay as half surrogates.

    :raises Refused: if the file cannot be read
    """
    lines = read_bytes(path).decode("utf-8", "surrogateescape").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def not_in_graph(names: Iterable[OptionName], graph: OptionGraph) -> list[OptionFileFault]:
    """Return the lines whose node or op type the graph does not have: the compiler ignores them."""
    known = {True: ("op type", set(graph.types)), False: ("node", set(graph.names))}
    return [
        OptionFileFault("not-in-model", each.line, each.column, f"the graph has no {what} `{each.name}`", False)
        for each in names
        for what, own in [known[each.is_type]]
        if each.name not in own
    ]


def _refuse(faults: list[OptionFileFault], path: str) -> None:
    """:raises Damaged: for the first fault that makes the compiler refuse the file"""
    for fault in faults:
        if fault.refuses:
            place = {"line": fault.line, "column": fault.column}
            raise Damaged(fault.message, name=fault.name, path=path, **place, hint=fault.hint)


class KeepDtype:
    """The content of a keep_dtype file.

    :ivar names: its lines in order, empty ones left out
    :ivar faults: none: what the compiler warns of or refuses depends on the graph
    """

    def __init__(self, lines: list[str], path: str = "keep_dtype") -> None:
        self.path = path
        self.names = kept_names(lines)
        self.faults: Sequence[OptionFileFault] = ()

    @property
    def entries(self) -> list[OptionName]:
        """The lines that name something."""
        return [each for each in self.names if each.name]

    @classmethod
    def read(cls, path: str) -> KeepDtype:
        """:raises Refused: if the file cannot be read"""
        try:
            return cls(option_lines(path), path)
        except Refused as error:
            error.hint = KEEP_DTYPE if not os.path.lexists(path) else error.hint
            raise

    def marks(self, graph: OptionGraph) -> frozenset[int]:
        """Return indexes of the listed nodes, by their names, those of their parts, or op types before fusion.

        The compiler marks the parsed graph, and a node that it then fuses inherits the mark of any of its parts
        (hicann/ge ffdcbc9f, graph_metadef/register/graph_optimizer/graph_fusion/graph_pass_util.cc:444-472). Here that
        holds for the fusions that opsinfo applies; a node that the file has as fused is marked by its own name, or by
        that of the only operator it comes from.

        :raises Damaged: if the compiler refuses the file; see :meth:`unmatched`
        """
        _refuse(self.unmatched(graph), self.path)
        names = {each.name for each in self.names if not each.is_type}
        types = {each.name for each in self.names if each.is_type}
        return frozenset(
            node.index
            for node in graph
            if node.name in names
            or not types.isdisjoint(node.first_types)
            or (
                not names.isdisjoint(node.fused_names) and (len(node.fused_names) == 1 or "fused_by" in node.attributes)
            )
        )

    def unmatched(self, graph: OptionGraph) -> list[OptionFileFault]:
        """Return lines without a match in the graph: the compiler warns, or refuses an op type not in PascalCase."""
        names = set(graph.names).union(*(node.fused_names for node in graph if node.fused_names))
        types = {each for node in graph for each in node.first_types}
        found = []
        for each in self.names:
            if each.name in (types if each.is_type else names):
                continue
            refuses = each.is_type and not PASCAL_CASE.fullmatch(each.name)
            what = "op type" if each.is_type else "node"
            message = f"the graph has no {what} `{each.name}`" if each.name else "a blank line"
            hint = "the file has no comments" if each.name.startswith("#") else None
            if refuses:
                message += "; the compiler refuses the file, because an op type must be in PascalCase"
            found.append(OptionFileFault("not-in-model", each.line, 1, message, refuses, hint))
        return found


class CustomizeDtypes:
    """The content of a customize_dtypes file.

    :ivar names: by (name, whether it is an op type); the first line of a name wins
    :ivar faults: the faults of its lines
    """

    def __init__(self, lines: list[str], path: str = "customize_dtypes") -> None:
        self.path = path
        self.names: dict[tuple[str, bool], OptionName] = {}
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
        asked = cls(option_lines(path), path)
        _refuse(asked.faults, path)
        return asked

    def marks(self, graph: OptionGraph) -> dict[int, Customized]:
        """Return the dtypes by node index; a node's own line overrides its op type's."""
        found: dict[int, Customized] = {}
        for node in graph:
            asked = self.names.get((node.name, False)) or self.names.get((node.type, True))
            if asked is not None:
                found[node.index] = asked.dtypes
        return found

    @property
    def entries(self) -> list[OptionName]:
        return list(self.names.values())

    def unmatched(self, graph: OptionGraph) -> list[OptionFileFault]:
        return not_in_graph(self.entries, graph)

    def _line(self, text: str, number: int) -> None:
        line = text.partition("\0")[0]
        is_type = line.startswith(OP_TYPE)
        head = len(OP_TYPE) if is_type else 0
        body = line[head:].strip(BLANKS)
        name, colon, _ = body.partition(":")
        if not colon or not name:
            what = "an empty line" if not body else "no `:` after a name"
            self._fault("bad-line", number, 1, f"{what}: the engine refuses the file", _form(body))
            return
        at_in, at_out = body.find(_INPUTS), body.find(_OUTPUTS)
        if at_in < 0 and at_out < 0:
            self._fault("bad-line", number, head + 1, f"neither `{_INPUTS}` nor `{_OUTPUTS}`", _form(body))
            return
        if 0 <= at_out < at_in:
            self._fault("bad-line", number, head + at_out + 1, f"`{_INPUTS}` must come before `{_OUTPUTS}`")
            return
        last = len(body)
        inputs = self._dtypes(body, at_in, _INPUTS, at_out if at_out >= 0 else last, number, head)
        outputs = self._dtypes(body, at_out, _OUTPUTS, last, number, head)
        if inputs is None or outputs is None:
            return
        key = (name, is_type)
        if key in self.names:
            first = self.names[key].line
            message = f"line {first} also has `{name}` and wins"
            self.faults.append(OptionFileFault("duplicate-name", number, head + 1, message, False, word=name))
            return
        self.names[key] = OptionName(name, is_type, number, dtypes=Customized(inputs, outputs))

    def _dtypes(self, body: str, at: int, word: str, end: int, number: int, head: int) -> tuple[str | None, ...] | None:
        """Return the dtypes between two places of a line; None if one of them is refused."""
        if at < 0:
            return ()
        start = at + len(word) + 1
        if start > len(body):
            self._fault("bad-line", number, head + at + 1, f"no dtype after `{word}`")
            return None
        text = body[start : max(end, start)]
        dtypes: list[str | None] = []
        for part in text.split(",") if text else ():
            dtype = part.strip(BLANKS)
            if dtype and (dtype.lower() not in DTYPES or dtype.lower() == "undefined"):
                near = list(MEANT_DTYPE.get(dtype.lower(), ()))
                message = f"`{dtype}` is not a dtype"
                self.faults.append(
                    OptionFileFault("bad-dtype", number, head + start + 1, message, True, meant(near), dtype, near)
                )
                return None
            dtypes.append(canonical(dtype) if dtype else None)
            start += len(part) + 1
        return tuple(dtypes)

    def _fault(self, name: str, line: int, column: int, message: str, hint: str | None = None) -> None:
        self.faults.append(OptionFileFault(name, line, column, message, True, hint))


def _form(body: str) -> str | None:
    if body.startswith("#"):
        return "the file has no comments"
    return None if not body else "the form of a line is `NAME:InputDtype:a,b,OutputDtype:c`"


HEADINGS = {"[ByOpType]": True, "[ByNodeName]": False}
"""The headings, and whether the lines below name op types."""
MODES = (
    *("high_performance", "high_precision", "enable_float_32_execution", "enable_hi_float_32_execution"),
    *("support_out_of_bound_index", "super_performance", "norm_class", "keep_fp16"),
)
"""The modes that the engine takes (kSupportImpyType, op_impl_mode_config_parser.cc:56)."""
_NEAR_MODES = NearNames(MODES)


class OpPrecision:
    """The content of a file.

    :ivar types: the mode of each op type, and ``nodes`` of each node; the first line of a name wins
    :ivar entries: every line that sets a known mode, those that lose included
    :ivar faults: lines that have no effect: ``unknown-implmode``, ``repeated-line``, ``bad-line``
    """

    def __init__(self, lines: list[str], path: str = "op_precision.ini") -> None:
        self.path = path
        self.types: dict[str, str] = {}
        self.nodes: dict[str, str] = {}
        self.entries: list[OptionName] = []
        self.faults: list[OptionFileFault] = []
        first: dict[tuple[str, bool], int] = {}
        by_type = True
        for number, text in enumerate(lines, 1):
            if not text or text.startswith("#"):
                continue
            left, equals, right = text.partition("=")
            if not equals:
                heading = text.strip(BLANKS)
                if heading and heading not in HEADINGS:
                    message = "not a heading, and without `=`: the engine ignores the line"
                    self._fault("bad-line", number, 1, message, word=heading, near=near_names(heading, HEADINGS))
                by_type = HEADINGS.get(heading, by_type)
                continue
            name, mode = left.strip(BLANKS), right.strip(BLANKS)
            column = 1 + len(left) - len(left.lstrip(BLANKS))
            if not name or not mode:
                missing = "name before" if not name else "mode after"
                self._fault("bad-line", number, column, f"no {missing} `=`: the engine ignores the line")
            elif mode not in MODES:
                at = len(left) + 2 + len(right) - len(right.lstrip(BLANKS))
                message = f"unknown implementation mode `{mode}`: the engine ignores the line"
                known = f"one of {', '.join(MODES)}"
                self._fault("unknown-implmode", number, at, message, known, mode, _NEAR_MODES.of(mode))
            else:
                self.entries.append(OptionName(name, by_type, number, column, mode=mode))
                (self.types if by_type else self.nodes).setdefault(name, mode)
                before = first.setdefault((name, by_type), number)
                if before != number:
                    message = f"line {before} also sets a mode for `{name}` and wins"
                    self._fault("repeated-line", number, column, message, word=name)

    @classmethod
    def read(cls, path: str) -> OpPrecision:
        """:raises Refused: if the file cannot be read"""
        return cls(option_lines(path), path)

    def unmatched(self, graph: OptionGraph) -> list[OptionFileFault]:
        return not_in_graph(self.entries, graph)

    def _fault(
        self,
        name: str,
        line: int,
        column: int,
        message: str,
        hint: str | None = None,
        word: str = "",
        near: Sequence[str] = (),
    ) -> None:
        self.faults.append(OptionFileFault(name, line, column, message, False, meant(near) or hint, word, near))
