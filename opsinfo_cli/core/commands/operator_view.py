"""The answer of `show`: all details of operators."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from ..cann.entry import Columns, Entry, TensorColumns
from ..cann.operator_rows import OperatorRow, Standing
from ..cann.target import Target
from ..terminal.answer import Answer, Block, Either, Line, Lines, Place, Span, Tree
from ..terminal.escape import cell_width, shown
from .configuration_view import configuration_text
from .operators_view import below, row_document, target_document

if TYPE_CHECKING:
    from typing import Any


class Details:
    """
    :param entry: the one that decides
    :param reasons: why the op type is on its list, one sentence each
    """

    def __init__(self, row: OperatorRow, entry: Entry, reasons: list[str]) -> None:
        self.row = row
        self.entry = entry
        self.columns = Columns(entry)
        self.reasons = reasons


class Part(NamedTuple):
    """A line under a heading; equal headings follow each other."""

    heading: str
    words: list[Span | Place]


def show_answer(target: Target, operators: Sequence[Details]) -> Answer:
    documents = [{**row_document(each.row), **tensors_document(each.columns)} for each in operators]
    return Answer(
        lambda: {"target": target_document(target), "operators": documents},
        lambda: [Either(lambda: [_tree(each, target) for each in operators], lambda: [_lines(operators)])],
        texts={
            "opdef": lambda: configuration_text(target.soc, [(each.row, each.entry.sections) for each in operators])
        },
    )


def tensors_document(columns: Columns) -> dict[str, Any]:
    return {
        "inputs": [_tensor_document(tensor) for tensor in columns.inputs],
        "outputs": [_tensor_document(tensor) for tensor in columns.outputs],
        "can_be_black": columns.can_be_black(),
        "can_be_white": columns.can_be_white(),
    }


def _tensor_document(tensor: TensorColumns) -> dict[str, Any]:
    return {"name": tensor.name, "param_type": tensor.param_type, "dtypes": list(tensor.dtypes)}


def _heading(row: OperatorRow) -> Line:
    policy = str(row.policy)
    return [Span(f"{row.name}  "), Span(policy, policy)]  # type: ignore[arg-type]


def _tree(details: Details, target: Target) -> Block:
    branches = []
    for heading, parts in groupby(_parts(details, lambda path: below(path, target.path)), lambda part: part.heading):
        lines = [part.words for part in parts]
        if heading in ("inputs", "outputs"):
            branches.append(Tree(heading, [Tree(line) for line in lines]))
        else:
            branches += [Tree([Span(f"{heading}: ", "dim"), *line]) for line in lines]
    return Tree(_heading(details.row), branches)


def _lines(operators: Sequence[Details]) -> Block:
    lines: list[Line] = []
    for details in operators:
        lines += [""] * bool(lines) + [_heading(details.row)]
        before = ""
        for heading, words in _parts(details, str):
            lines.append([Span(f"  {heading if heading != before else '':<9} "), *words])
            before = heading if heading in ("why", "inputs", "outputs") else ""
    return Lines(lines)


def _parts(details: Details, path_of: Callable[[str], str]) -> Iterator[Part]:
    """Yield policy, reasons, entries, dtypes, and possible policies.

    :param path_of: returns how a path is shown
    """
    row, columns, reasons = details.row, details.columns, details.reasons

    def place(entry: OperatorRow | Standing, effect: str = "") -> list[Span | Place]:
        policy = f", {entry.policy}" if isinstance(entry, Standing) else ""
        store = f" ({entry.store})" if entry.store else ""
        gap = "" if policy or not store else " "
        return [Place(path_of(entry.file or ""), f":{entry.line}{policy}{gap}{store}{effect}")]

    yield from (Part("why", [Span(reason)]) for reason in reasons)
    yield Part("entry", place(row))
    yield from (Part("shadowed", place(entry, ", never read")) for entry in row.shadowed)
    yield from (Part("also in", place(entry, ", used if the first refuses a node")) for entry in row.also_in)
    if details.entry.unread:
        yield Part("dtypes", [Span(f"could not be read: {details.entry.unread}")])
        return
    yield from (Part("inputs", [Span(text)]) for text in _tensors(columns.inputs))
    yield from (Part("outputs", [Span(text)]) for text in _tensors(columns.outputs))
    yield Part("black", [Span(_POSSIBLE_BLACK[str(columns.can_be_black())])])
    yield Part("white", [Span(_POSSIBLE_WHITE[str(columns.can_be_white())])])


def _tensors(tensors: Sequence[TensorColumns]) -> Iterator[str]:
    width = max((cell_width(shown(tensor.name)) for tensor in tensors), default=0)
    for tensor in tensors:
        dtypes = ", ".join(dict.fromkeys(tensor.dtypes)) or "chosen by the kernel"
        padding = " " * (width - cell_width(shown(tensor.name)))
        yield f"{tensor.name}{padding}  {tensor.param_type:<8}  {dtypes}"


_BY_KERNEL = "unknown here: the kernel chooses its dtypes when compiling"
_POSSIBLE_BLACK = {
    "yes": "possible",
    "no": "not possible: no float32 among its input columns; black makes it unsupported for float32 input",
    "kernel": _BY_KERNEL,
}
_POSSIBLE_WHITE = {
    "yes": "possible",
    "no": "without effect: no float16 or bfloat16 among its columns",
    "kernel": _BY_KERNEL,
}
