"""The rows of a table: one task on the device each, read line by line.

msprof writes `op_summary_*.csv`, and torch_npu makes `kernel_details.csv` of it, with other names for some columns.
Which columns there are, and in which order, depends on the version and on options, so all are known by name.
Sources: Ascend/msprof analysis/csrc/application/summary/op_summary_assembler.cpp and
analysis/msconfig/msprof_export_data_config.py; Ascend/pytorch
torch_npu/profiler/analysis/prof_common_func/_csv_headers.py.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from typing import Annotated, Literal, NamedTuple, TypeAlias

from ...core.cann.dtype_names import canonical
from ...core.document import Count, LineNumber, Schema, internal
from ...errors import Damaged, Refused, counted
from ...opening import folders_above, unreadable
from ..csv_rows import csv_rows

Microseconds: TypeAlias = Annotated[float, Schema(minimum=0)]
Dtypes = tuple[Annotated[str | None, Schema(examples=["float16", "float32", "bfloat16"])], ...]


@dataclass(frozen=True)
class KernelRow:
    """One row."""

    name: str
    """The name of the node or call."""
    type: str
    """The op type; unknown if the table does not have it."""
    line: LineNumber
    """The line of the row, from 1."""
    microseconds: Microseconds
    """Its time in microseconds."""
    inputs: Dtypes
    """The dtype of each input; empty if the table does not have them."""
    outputs: Dtypes
    """The dtype of each output; empty if the table does not have them."""
    device: str | None
    """The device; null if the table does not have it."""
    step: str | None
    """The step; null if the table does not have it."""
    core: Annotated[str | None, Schema(examples=["AI_CORE"])]
    """What it ran on; null if the table does not have it."""
    file: str
    """The table."""


class DeviceTask(NamedTuple):
    """One row.

    :param type: the op type; ``unknown`` if the table does not have it
    :param core: what the task ran on, such as ``AI_CORE`` or ``HCCL``; empty if unknown
    :param inputs: dtypes, None for an absent tensor; None if the table does not have them
    :param hf32: whether HF32 is enabled for it; None if the table does not have it
    """

    name: str
    type: str
    core: str
    microseconds: float
    inputs: Dtypes | None
    outputs: Dtypes | None
    hf32: bool | None
    device: str
    step: str
    line: int

    def row(self, path: str) -> KernelRow:
        return KernelRow(
            self.name,
            self.type,
            self.line,
            round(self.microseconds, 3),
            self.inputs or (),
            self.outputs or (),
            self.device or None,
            self.step or None,
            self.core or None,
            path,
        )

    @property
    def is_aclnn(self) -> bool:
        """Whether it is from a call of aclnn, as in eager mode, and not a node of a graph."""
        return self.name.startswith("aclnn")


Format: TypeAlias = Literal["kernel_details", "op_summary"]
FORMATS: dict[Format, tuple[str, ...]] = {
    "kernel_details": ("name", "type", "duration", "accelerator core"),
    "op_summary": ("op name", "op type", "task duration", "task type"),
}
"""Format -> its columns, lower case and without `(us)`: name, type, time, core; the core may be missing."""
_OTHERS = ("input data types", "output data types", "hf32 eligible")
_DEVICE, _STEP = ("device_id", "device id"), ("step id", "infer id")
_ABSENT = ("", "N/A")
_HF32 = {"YES": True, "NO": False}
_LONGEST_TIME = 1e15
"""In microseconds, 31 years: times are added up."""

UNKNOWN = "unknown"


@dataclass
class TaskTable:
    """One table."""  # each iteration reads the file again; format, rows and skipped are of the last one

    path: str
    """Its path, as given or below the folder given."""
    format: Format = "op_summary"
    """Whose table it is: of torch_npu or of msprof."""
    rows: Count = 0
    """Number of rows."""
    skipped: Count = 0
    """Number of these without a time."""
    seen: Callable[[int], None] | None = internal(None)
    """Called with the bytes of each part that was read."""

    def __iter__(self) -> Iterator[DeviceTask]:
        """:raises Refused: if the file cannot be read, is no such table, or has a row that cannot be read"""
        self.rows = self.skipped = 0
        yield from self._kernels(csv_rows(self.path, self._no_table, self.seen))

    def _no_table(self, message: str, line: int | None) -> Refused:
        hint = "give kernel_details.csv of torch_npu or op_summary_*.csv of msprof, in UTF-8, with commas"
        return Refused(message, name="not-a-profile", path=self.path, line=line, hint=hint)

    def _kernels(self, rows: Iterator[tuple[int, list[str]]]) -> Iterator[DeviceTask]:
        line, header = next(rows, (None, []))
        columns = self._columns(header, line)
        for line, cells in rows:
            if len(cells) < len(header) or any(cells[len(header) :]):
                message = f"{counted(len(cells), 'cell')} in a table of {len(header)} columns"
                hint = "the line is cut or damaged: export the table again, or remove the line"
                raise Damaged(message, path=self.path, line=line, hint=hint)
            text = cells[columns.time].strip()
            try:
                microseconds = float(text)
            except ValueError:
                if text in _ABSENT:
                    self.rows += 1
                    self.skipped += 1
                elif cells != header:  # of a second table in the file
                    raise self._bad_time(header[columns.time], text, line) from None
                continue
            if not 0 <= microseconds < _LONGEST_TIME:
                raise self._bad_time(header[columns.time], text, line)
            self.rows += 1
            name, type_ = cells[columns.name].strip(), cells[columns.type].strip()
            if type_ in _ABSENT:  # in a name of aclnn it is the last part: aclnnMatmul_MatMulCommon_MatMulV2
                last = name.rpartition("_")[2]
                type_ = last if name.startswith("aclnn") and last not in ("", name) else UNKNOWN
            yield DeviceTask(
                name,
                type_,
                _word(cells, columns.core),
                microseconds,
                None if columns.inputs is None else _dtypes(cells[columns.inputs]),
                None if columns.outputs is None else _dtypes(cells[columns.outputs]),
                _HF32.get(_word(cells, columns.hf32)),
                _word(cells, columns.device),
                _word(cells, columns.step),
                line,
            )

    def _columns(self, header: list[str], line: int | None) -> _TaskColumns:
        names = {name.strip().lower().removesuffix("(us)"): at for at, name in enumerate(header)}
        for self.format, (name, type_, time, core) in FORMATS.items():
            if name in names and type_ in names and time in names:
                others = [names.get(name) for name in (core, *_OTHERS)]
                places = [next((names[word] for word in words if word in names), None) for words in (_DEVICE, _STEP)]
                return _TaskColumns(names[name], names[type_], names[time], *others, *places)
        if line is None:
            raise self._no_table("the file is empty", None)
        known = " or ".join(", ".join(f"`{word}`" for word in words[:3]) for words in FORMATS.values())
        raise self._no_table(f"not a table of tasks: its first line does not have the columns {known}", line)

    def _bad_time(self, column: str, text: str, line: int) -> Damaged:
        message = f"`{text}` in the column `{column.strip()}` is not a time in microseconds"
        return Damaged(message, path=self.path, line=line, hint="export the table again, or remove the line")


class _TaskColumns(NamedTuple):
    """The place of each column in a row; None if the table does not have it."""

    name: int
    type: int
    time: int
    core: int | None
    inputs: int | None
    outputs: int | None
    hf32: int | None
    device: int | None
    step: int | None


def _word(cells: list[str], at: int | None) -> str:
    """Return a cell; empty if it is absent."""
    word = "" if at is None else cells[at].strip()
    return "" if word in _ABSENT else word


@lru_cache(maxsize=4096)
def _dtypes(text: str) -> Dtypes | None:
    """Return the dtypes of a cell; the same ones come again and again.

    >>> _dtypes("DT_BF16;FLOAT_;DT_UNDEFINED"), _dtypes("N/A")
    (('bfloat16', 'float32', None), None)
    """
    words = text.strip().strip('"').split(";")
    if len(words) == 1 and words[0].strip() in _ABSENT:
        return None
    return tuple(_SHORT.get(word, word) or None for word in (canonical(word.strip().rstrip("_")) for word in words))


_SHORT = {"f16": "float16", "fp16": "float16", "half": "float16", "f32": "float32", "fp32": "float32", "n/a": ""}


_TORCH_FOLDER = "ASCEND_PROFILER_OUTPUT"
_TORCH = f"{os.sep}{_TORCH_FOLDER}{os.sep}kernel_details"
_DATABASES = re.compile(r"(?:msprof_\d+|ascend_(?:pytorch|mindspore)_profiler(?:_\d+)?)\.db")
"""What msprof and the frameworks write instead of tables, or beside them (Ascend/msprof 9ba1ac7b, docs)."""
_NAMES = re.compile(r"(kernel_details|op_summary)[\w.-]*\.csv")
_EXPORT = re.compile(r"op_summary(?P<numbers>(?:_\d{1,9}){0,3})(?:_slice_(?P<slice>\d{1,9}))?_(?P<stamp>\d{14})\.csv")
"""A table of msprof: the numbers of device, model and iteration, the slice, the second in which it was written.

Source: Ascend/msprof 9ba1ac7b
- analysis/common_func/file_slice_helper.py:53-110: slices of 1,000,000 rows; each has the time when it is written, and
  the first may have no number
- analysis/csrc/infrastructure/dump_tools/csv_tool/csv_writer.cpp:67-90: one time for all slices
- analysis/msinterface/msprof_output_summary.py:243-285: the tables of devices become one
"""
_MERGED = "mindstudio_profiler_output"


class TableFiles(NamedTuple):
    """The tables of the given paths, and what was passed over: (path, why)."""

    paths: list[str]
    passed_over: list[tuple[str, str]]


def find_tables(given: tuple[str, ...]) -> TableFiles:
    """Return files as they are, and of folders the tables below them, each row once.

    torch_npu makes `kernel_details.csv` of the op_summary files beside its folder. msprof writes an op_summary for
    every export, and merges those of devices.

    :raises Refused: if a folder holds no table, or cannot be read
    """
    tables = TableFiles([], [])
    first: dict[str, str] = {}
    databases: list[str] = []
    for path in given:
        files = list(_files_below(path)) if os.path.isdir(path) else [path]
        if os.path.isdir(path):
            databases += [file for file in files if file.endswith(".db")]
        csv_files = [file for file in files if file not in databases]
        if not csv_files:
            hint = "tables are called kernel_details*.csv and op_summary*.csv"
            if files:
                hint += f"; {os.path.basename(files[0])} is a database, which is not read: export tables"
            raise Refused("the folder has no profile table", name="not-a-profile", path=path, hint=hint)
        for file in csv_files:
            if first.setdefault(os.path.realpath(file), file) is not file:
                tables.passed_over.append((file, "given twice"))
    paths = {os.path.abspath(path): path for path in first.values()}
    named = {os.path.abspath(path) for path in given}
    elsewhere: dict[str, str] = {}
    for path, why in _rows_elsewhere(list(paths)):
        if path not in named:
            elsewhere.setdefault(path, why)
    tables.passed_over.extend((paths.get(path, os.path.relpath(path)), why) for path, why in elsewhere.items())
    with_tables = {folder for path in paths for folder in folders_above(path)}
    for database in databases:  # its tables are beside it, of torch_npu beside the folders of the run
        folder = os.path.dirname(os.path.abspath(database))
        above = os.path.dirname(folder)
        if (above if os.path.isdir(os.path.join(above, _TORCH_FOLDER)) else folder) not in with_tables:
            tables.passed_over.append((database, "a database: its rows are in no table"))
    tables.paths.extend(shown for path, shown in paths.items() if path not in elsewhere)
    return tables


def _files_below(folder: str) -> Iterator[str]:
    """Yield tables and databases.

    :raises Refused: if a folder cannot be read
    """

    def refuse(error: OSError) -> None:
        raise unreadable(error, error.filename)

    for place, folders, names in os.walk(folder, onerror=refuse):
        folders.sort()
        own = [
            os.path.join(place, name) for name in sorted(names) if _NAMES.fullmatch(name) or _DATABASES.fullmatch(name)
        ]
        yield from filter(os.path.isfile, own)


def _rows_elsewhere(tables: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the tables whose rows are in other tables, and slices that are missing, with the reason."""
    roots = {os.path.dirname(os.path.dirname(path)) for path in tables if _TORCH in path}
    exports: dict[str, dict[str, list[tuple[str, int, str]]]] = {}
    for path in tables:
        if match := _EXPORT.fullmatch(os.path.basename(path)):
            own = exports.setdefault(os.path.dirname(path), {}).setdefault(match["numbers"], [])
            own.append((match["stamp"], int(match["slice"] or 0), path))
    merged = {os.path.dirname(place) for place in exports if os.path.basename(place) == _MERGED}
    for place, by_numbers in exports.items():
        is_merged = os.path.basename(place) == "summary" and os.path.dirname(os.path.dirname(place)) in merged
        for numbers, files in by_numbers.items():
            last: dict[int, str] = {}
            before = -1
            for _, number, path in sorted(files):
                if number <= before:  # the times of an export do not decrease: a number that does begins another one
                    last = {}
                last[number] = path
                before = number
            kept = set(last.values())
            yield from ((path, "an earlier export of the same run") for *_, path in files if path not in kept)
            if is_merged or (numbers and "" in by_numbers):
                why = f"{_MERGED} has its rows" if is_merged else "the table without a device number has its rows"
                yield from ((path, why) for path in kept)
            elif len(last) <= max(last):
                missing = next(number for number in count() if number not in last)
                yield f"{place}/op_summary{numbers}_slice_{missing}_*.csv", "it is missing: the sums lack its rows"
    for path in tables:
        if "op_summary" in os.path.basename(path) and any(root in roots for root in folders_above(path)):
            yield path, "kernel_details.csv has its rows"
