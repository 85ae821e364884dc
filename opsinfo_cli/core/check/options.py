"""Rules on the files of compiler options beside a mixlist: keep_dtype, customize_dtypes, op_precision."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from ...near_names import NearNames, meant
from ..cann.file_kind import OptionKind, is_option_name, mostly_fits
from ..cann.op_names import translated_types
from ..cann.option_files import OP_TYPE, PASCAL_CASE, CustomizeDtypes, KeepDtype, OpPrecision
from ..package_data import package_data
from ..text.patch import Edit
from ..text.source import Source, read_bytes
from .finding import Finding, Fix, at
from .mixlist import listed, near_names_of
from .rules import Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from .mixlist import MixlistTarget
    from .models import Models, OpenModels


class OptionLine(NamedTuple):
    """A line that names a node or an op type.

    :param start: the offset of the name
    :param value: the mode, or the dtypes as text
    """

    name: str
    is_type: bool
    start: int
    value: str


_READERS: Mapping[OptionKind, Callable[[list[str]], KeepDtype | CustomizeDtypes | OpPrecision]] = {
    "keep_dtype": KeepDtype,
    "customize_dtypes": CustomizeDtypes,
    "op_precision": OpPrecision,
}


class OptionFile:
    """The lines of a file, as the compiler reads them.

    :ivar content: what the compiler reads of it
    :ivar entries: the lines that name something, in order; of equal names the first one wins
    """

    def __init__(self, kind: OptionKind, source: Source) -> None:
        self.kind = kind
        self.source = source
        self.lines = source.text.split("\n")
        self.starts = [0, *accumulate(len(line) + 1 for line in self.lines)]
        self.content = _READERS[kind](self.lines[:-1] if self.lines[-1] == "" else self.lines)
        self.entries: list[OptionLine] = []
        for each in self.content.entries:
            line = self.lines[each.line - 1]
            column = line.find(each.name, len(OP_TYPE) if line.lstrip().startswith(OP_TYPE) else 0)
            value = each.mode or str(each.dtypes)
            self.entries.append(OptionLine(each.name, each.is_type, self.starts[each.line - 1] + column, value))

    @cached_property
    def values(self) -> dict[tuple[bool, str], str]:
        """What the compiler takes: the value of each op type (true) and node (false)."""
        return {(entry.is_type, entry.name): entry.value for entry in reversed(self.entries)}

    def drop_line(self, number: int, is_safe: bool) -> Fix:
        end = min(self.starts[number], len(self.source.text))
        return Fix((Edit(self.starts[number - 1], end, ""),), is_safe)


@dataclass
class OptionCheck:
    """The check of one file.

    :param targets: whose op types the file may name
    :param models: whose nodes the file may name
    :param open_models: gives the rules on dtypes, also without models
    """

    file: OptionFile
    targets: Sequence[MixlistTarget]
    models: Models | None
    open_models: OpenModels | None = None

    def findings(self) -> Iterator[Finding]:
        if self.file.source.bom:
            text = "the file begins with a byte order mark, which the compiler reads as part of the first line"
            fix = Fix(drops_bom=True, is_safe=False)
            yield self.at("ignored-line", (0, 0), text, "save the file without it", fix)
        yield from faulty_lines(self)
        if self.file.kind == "keep_dtype":
            yield from keep_dtype_lines(self)
        yield from names_unknown(self)
        if self.file.kind == "op_precision":
            yield from modes_not_known_to_types(self)
        if isinstance(self.file.content, CustomizeDtypes):
            assert self.open_models is not None
            models = self.models or self.open_models((), {})
            refused = models.refused_by_columns(self.file.content, self.targets)
            for entry in self.file.entries:
                if entry[:2] in refused:
                    message, hint = refused[entry[:2]]
                    yield self.at_name("refused-by-columns", entry, message, hint=hint)

    def at(
        self,
        rule: str,
        span: tuple[int, int],
        message: str,
        hint: str | None = None,
        fix: Fix | None = None,
        severity: Severity | None = None,
    ) -> Finding:
        fix = fix if self.is_ours else None
        return at(rule, self.file.source, span, message, hint=hint, fix=fix, severity=severity)

    def at_name(
        self, rule: str, entry: OptionLine, message: str, near: Sequence[str] = (), hint: str | None = None
    ) -> Finding:
        """Return a finding at a name. If one name is near and the file lacks it, the fix renames it."""
        span = entry.start, entry.start + len(entry.name)
        fix = None
        if len(near) == 1 and (entry.is_type, near[0]) not in self.file.values:
            fix = Fix((Edit(*span, near[0]),), is_safe=False, renames=(entry.name, near[0]))
        severity: Severity | None = "warning" if rule == "unknown-operator" else None
        return self.at(rule, span, message, meant(near) or hint, fix, severity)

    @cached_property
    def is_ours(self) -> bool:
        """Whether the file may be edited."""
        return mostly_fits(self.file.kind, self.file.source.text)

    @cached_property
    def types(self) -> NearNames:
        return near_names_of(self.targets)

    @cached_property
    def nodes(self) -> dict[str, set[str]]:
        """The op types of the nodes of all models by name, and by the names of the operators fused into them."""
        nodes: dict[str, set[str]] = {}
        for model in self.models or ():
            for node in model.graph:
                for name in (node.name, *node.fused_names):
                    nodes.setdefault(name, set()).add(node.type)
        return nodes


def names_unknown(check: OptionCheck) -> Iterator[Finding]:
    """Yield unknown-operator, not-in-model and unknown-node."""
    nodes = NearNames(check.nodes)
    first = {(entry.is_type, entry.name): entry for entry in reversed(check.file.entries)}
    for entry in sorted(first.values(), key=lambda entry: entry.start):  # a repeated line is a finding of its own
        if check.file.kind == "keep_dtype" and _is_no_name(entry):
            continue
        is_known = any(
            entry.name in target.target.operators or entry.name in target.target.other_engines
            for target in check.targets
        )
        # a graph may also have op types of models before fusion, which no library has
        if entry.is_type and check.targets and not is_known and entry.name not in translated_types():
            message = f"unknown operator `{entry.name}` in {listed(check.targets)}; the compiler ignores it"
            yield check.at_name("unknown-operator", entry, message, check.types.of(entry.name))
        elif entry.is_type and check.models and not any(entry.name in model.possible for model in check.models):
            message = f"no node of {listed(check.models)} has the op type `{entry.name}`"
            yield check.at_name("not-in-model", entry, message)
        elif not entry.is_type and check.models and entry.name not in check.nodes:
            fused = check.file.kind != "keep_dtype" and any(model.is_predicted for model in check.models)
            hint = "fusion may create it: a dump or a compiled model shows it" if fused else None
            message = f"{listed(check.models)} has no node `{entry.name}`"
            yield check.at_name("unknown-node", entry, message, nodes.of(entry.name), hint)


_RULES = {"unknown-implmode": "unknown-implmode", "repeated-line": "repeated-line", "duplicate-name": "repeated-line"}
"""Rules of faults by their name; others are refused or ignored lines."""


def faulty_lines(check: OptionCheck) -> Iterator[Finding]:
    """Yield unknown-implmode, repeated-line, refused-line and ignored-line for what the readers report."""
    file = check.file
    first: dict[str, int] = {}
    for number, text in enumerate(file.lines, 1):
        first.setdefault(text.strip(), number)
    for fault in file.content.faults:
        line, start = file.lines[fault.line - 1], file.starts[fault.line - 1]
        column = line.find(fault.word, fault.column - 1) if fault.word else min(fault.column - 1, len(line))
        span = start + column, start + (column + len(fault.word) if fault.word else max(len(line), column + 1))
        rule = _RULES.get(fault.name) or ("refused-line" if fault.refuses else "ignored-line")
        fix = None
        if rule == "repeated-line":
            fix = file.drop_line(fault.line, is_safe=first[line.strip()] < fault.line)
        elif fault.refuses and (not line.strip() or line.startswith("#")):
            fix = file.drop_line(fault.line, is_safe=True)
        elif len(fault.near) == 1:
            fix = Fix((Edit(*span, fault.near[0]),), is_safe=False)
        yield check.at(rule, span, fault.message, fault.hint, fix)


def keep_dtype_lines(check: OptionCheck) -> Iterator[Finding]:
    """Yield ignored-line for comments, refused-line for a wrong op type, and repeated-line."""
    file = check.file
    types = {op_type for model in check.models or () for op_type in model.graph.types}
    seen: dict[tuple[bool, str], int] = {}
    for entry in file.entries:
        span, number = (entry.start, entry.start + len(entry.name)), file.source.place(entry.start).line
        first = seen.setdefault((entry.is_type, entry.name), number)
        if _is_no_name(entry) and not entry.is_type:
            message = "the file has no comments: the compiler takes this for the name of a node"
            yield check.at("ignored-line", span, message, "remove the line", file.drop_line(number, is_safe=True))
        elif _is_no_name(entry) and entry.name not in types:
            message = f"`{entry.name}` is not an op type in PascalCase: the compiler refuses the file (E10003)"
            yield check.at_name("refused-line", entry, message, check.types.of(entry.name))
        elif first != number:
            is_word = re.fullmatch("[A-Za-z]+", entry.name) and not is_option_name(file.source.path)
            fix = None if is_word else file.drop_line(number, is_safe=True)  # a list of words may be another tool's
            yield check.at("repeated-line", span, f"line {first} also has `{entry.name}`", fix=fix)


def _is_no_name(entry: OptionLine) -> bool:
    """Return whether an entry of keep_dtype is an op type that is not in PascalCase, or a comment."""
    return not PASCAL_CASE.fullmatch(entry.name) if entry.is_type else entry.name.startswith("#")


_LISTED_MODES = "built-in/op_impl/ai_core/tbe/impl_mode/all_ops_impl_mode.ini"


def modes_not_known_to_types(check: OptionCheck) -> Iterator[Finding]:
    listed = _listed_modes(check.targets)
    judged = {mode for modes in listed.values() for mode in modes}
    for entry in check.file.entries:
        types = {entry.name} if entry.is_type else check.nodes.get(entry.name, set())
        lacking = [name for name in sorted(types) if entry.value not in listed.get(name, (entry.value,))]
        if lacking and entry.value in judged:
            known = ", ".join(f"`{mode}`" for mode in sorted(listed[lacking[0]]))
            message = f"`{lacking[0]}` does not have the mode `{entry.value}`; the engine ignores it"
            start = check.file.source.text.index(entry.value, check.file.source.text.index("=", entry.start))
            yield check.at("mode-not-known-to-type", (start, start + len(entry.value)), message, f"it has {known}")


def _listed_modes(targets: Sequence[MixlistTarget]) -> Mapping[str, frozenset[str]]:
    """Return the modes by op type: those of the first install that lists them, else the public ones."""
    for target in targets:
        install = target.target.install
        path = os.path.join(install.root, _LISTED_MODES) if install else ""
        if os.path.isfile(path):
            pairs = (line.partition("=") for line in read_bytes(path).decode("utf-8", "replace").splitlines())
            return {
                name.strip(): frozenset(modes.strip().split(","))
                for name, equals, modes in pairs
                if equals and modes.strip() != "optional"
            }
    public = package_data("opsinfo_cli.core.cann", "implementation-modes")["modes"]
    return {name: frozenset(modes.split(",")) for name, modes in public.items()}
