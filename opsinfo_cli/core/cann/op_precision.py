"""Files that set implementation modes: ``--op_precision_mode``, and those of an install's ``impl_mode`` folder.

A line is ``NAME=MODE``, below ``[ByOpType]`` (the default) or ``[ByNodeName]``; a line that begins with ``#`` is a
comment. The engine refuses no line: it ignores a wrong one without a message to the user, and of equal names the first
one wins. Source: hicann/ge ffdcbc9f, compiler/engines/nn_engine/utils/common/config_parser/
op_impl_mode_config_parser.cc:324-394.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...near_names import NearNames, meant, near_names
from .option_files import OptionFileFault, OptionName, not_in_graph, option_lines
from .policy import BLANKS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .option_files import OptionGraph

HEADINGS = {"[ByOpType]": True, "[ByNodeName]": False}
"""The headings, and whether the lines below name op types."""
MODES = (
    *("high_performance", "high_precision", "enable_float_32_execution", "enable_hi_float_32_execution"),
    *("support_out_of_bound_index", "super_performance", "norm_class", "keep_fp16"),
)
"""The modes that the engine takes (kSupportImpyType, the same file, line 56)."""
_NEAR_MODES = NearNames(MODES)


class OpPrecision:
    """The content of a file.

    :ivar types: the mode of each op type, and ``nodes`` of each node; the first line of a name wins
    :ivar lines: every line that sets a known mode, those that lose included
    :ivar faults: lines that have no effect: ``unknown-implmode``, ``repeated-line``, ``bad-line``
    """

    def __init__(self, lines: list[str], path: str = "op_precision.ini") -> None:
        self.path = path
        self.types: dict[str, str] = {}
        self.nodes: dict[str, str] = {}
        self.lines: list[OptionName] = []
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
                self.lines.append(OptionName(name, by_type, number, column, mode=mode))
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
        return not_in_graph(self.lines, graph)

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
