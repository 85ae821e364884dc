"""OpDef sources of tests, and what is read of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from opsinfo_cli.core.cann.opdef.find import find_sources
from opsinfo_cli.core.cann.opdef.reading import Reading, Row, read_sources

PORTS = """
        this->Input("x").DataType({ge::DT_FLOAT16, ge::DT_FLOAT}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Output("y").DataType({ge::DT_FLOAT16, ge::DT_FLOAT}).Format({ge::FORMAT_ND, ge::FORMAT_ND});"""


def source(body: str, name: str = "Op", before: str = "", members: str = "", base: str = "OpDef") -> str:
    """A source that registers one op type, with the statements of its constructor from line 7 on."""
    return f"""#include "register/op_def_registry.h"
namespace ops {{ {before}
class {name} : public {base} {{
public:
    explicit {name}(const char* name) : {base}(name)
    {{
{body}
    }}
    {members}
}};
OP_ADD({name});
}}
"""


class Program(NamedTuple):
    """A source of ``opdef_programs.txt``.

    :param policy: that a compiler makes
    :param is_read: else it is refused
    """

    line: int
    text: str
    policy: str
    is_read: bool


def _programs() -> Iterator[Program]:
    before = members = ""
    lines = Path(__file__).with_name("opdef_programs.txt").read_text().splitlines()
    for number, line in enumerate(lines, 1):
        kind, _, rest = line.replace("\N{SYMBOL FOR NEWLINE}", "\n").partition(" ")
        if kind == "before":
            before, members = rest.strip(), ""
        elif kind == "members":
            members = rest.strip()
        elif kind and kind != "#":
            word, _, body = rest.partition(" ")
            flag = "c.PrecisionReduceFlag(on);" if re.search(r"\bon\b", body + before) else ""
            body = f'OpAICoreConfig c; bool on = true; {body} {flag} AICore().AddConfig("ascend910b", c);'
            yield Program(number, source(body, before=before, members=members), kind, word == "read")


def read(folder: Path, text: str) -> Reading:
    """What is read of a project with one file."""
    path = folder / "op_host" / "op_def.cpp"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return read_sources([str(path)], str(folder))


def row(folder: Path, body: str, chip: str = "ascend910b", **parts: str) -> Row:
    """The row of the one chip of an op type that can be read."""
    reading = read(folder, source(body, **parts))
    assert reading.unreadable == []
    (found,) = [each for each in reading.rows if each.chip == chip]
    return found


def reason(folder: Path, body: str, **parts: str) -> tuple[int, str]:
    """Line and reason of an op type that cannot be read."""
    reading = read(folder, source(body, **parts))
    assert reading.rows == []
    (found,) = reading.unreadable
    assert found.name == parts.get("name", "Op")
    return found.line, found.reason


def columns(entry: Mapping[str, Mapping[str, str]], key: str = "dtype") -> dict[str, str | None]:
    """Port -> its line of a key."""
    return {section: keys.get(key) for section, keys in entry.items() if section.startswith(("input", "output"))}


def of_folder(folder: Path, files: Mapping[str, str]) -> Reading:
    """What is read of a project with some files."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return read_sources(find_sources(str(folder)).files, str(folder))


PROGRAMS = list(_programs())
