"""The house: which room imports which, who draws, who writes."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "opsinfo_cli"
ROOMS = ("core", "lab", "logs", "systems")
FLOORS = {
    "core": ("commands", "terminal", "merge", "check", "change", "compare", "cann", "text"),
    "lab": ("commands", "bisect", "simulate", "graph", "profile", "numbers"),
    "logs": ("commands", ""),
    "systems": ("commands", ""),
}
"""The folders of each room; one imports only from those that follow it."""
SHARED = {"arguments", "errors", "near_names", "opening", "version", "core.package_data", "core.document"}
"""Modules that every room and floor may import."""
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if "schemas" not in path.parts)


def name_of(path: Path) -> str:
    """A module's dotted name; a package's is that of its folder."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(tree_of(path)))


def room_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else ""


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """(line, absolute dotted name) of every import of a module, also inside functions."""
    package = ["opsinfo_cli", *path.relative_to(PACKAGE).parts[:-1]]
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, name.name) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            stem = ".".join([*base, *([node.module] if node.module else [])])
            yield node.lineno, stem
            yield from ((node.lineno, f"{stem}.{name.name}") for name in node.names)


def own_imports(path: Path) -> Iterator[tuple[int, str]]:
    """(line, dotted name below the package) of the imports from the package itself."""
    for line, name in imported(path):
        if name.startswith("opsinfo_cli."):
            yield line, name.removeprefix("opsinfo_cli.")


def floor_of(name: str) -> str:
    """The folder of a room that a module is in, or the module itself if it is in none."""
    room, _, rest = name.partition(".")
    floor = rest.partition(".")[0]
    return floor if floor in FLOORS[room] else ""


def test_core_imports_no_other_room_and_the_others_only_core() -> None:
    wrong = [
        f"{path}:{line}: {name}"
        for path in MODULES
        if room_of(path)
        for line, name in own_imports(path)
        if name.partition(".")[0] in {*ROOMS, "app"} - {room_of(path), "core"}
    ]
    assert wrong == []


def test_a_floor_imports_only_from_those_below_it() -> None:
    wrong = []
    for path in MODULES:
        room = room_of(path)
        mine = floor_of(name_of(path).removeprefix("opsinfo_cli.")) if room else ""
        for line, name in own_imports(path):
            if room != name.partition(".")[0] or any(f"{name}.".startswith(f"{each}.") for each in SHARED):
                continue
            floors = FLOORS[room]
            other = floor_of(name)
            if mine in floors and other in floors and floors.index(other) < floors.index(mine):
                wrong.append(f"{path}:{line}: {name}")
    assert wrong == []


def test_the_map_of_the_architecture_shows_the_floors_in_their_order() -> None:
    picture = (ROOT / "docs/architecture.md").read_text("utf-8").split("```")[1]
    for room in ("core", "lab"):
        shown = re.split(r"^(?=\S)", picture, flags=re.MULTILINE)
        (lines,) = (part for part in shown if part.startswith(f"{room}/"))
        floors = [name.removesuffix("/").removesuffix(".py") for name in re.findall(r"^  (\S+)", lines, re.MULTILINE)]
        assert [name for name in floors if name in FLOORS[room]] == list(FLOORS[room])
    modules = {path.name for path in MODULES}
    assert [name for name in re.findall(r"\w+\.py", picture) if name not in modules] == []


def test_errors_are_shown_below_all_types() -> None:
    assert list(own_imports(PACKAGE / "errors.py")) == []


def test_the_front_door_is_imported_by_none() -> None:
    doors = [path for path in MODULES for _, name in own_imports(path) if name.partition(".")[0] == "app"]
    assert doors == [PACKAGE / "__main__.py"] * len(doors)


def test_every_folder_is_a_room() -> None:
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders <= {*ROOMS, "schemas"}


FRONT = ("core/terminal/", "core/commands/", "lab/commands/", "logs/commands/", "systems/commands/", "app.py")


def test_only_the_front_imports_click_and_one_module_draws_with_rich() -> None:
    drawn = {path: {name.split(".")[0] for _, name in imported(path)} & {"click", "rich"} for path in MODULES}
    assert [path.name for path, names in drawn.items() if "rich" in names] == ["drawing.py"]
    clicking = [path.relative_to(PACKAGE).as_posix() for path, names in drawn.items() if "click" in names]
    assert [path for path in clicking if not path.startswith(FRONT)] == []


def reached(command: Path) -> set[str]:
    """The modules that a module imports, directly or through others."""
    graph, waiting, seen = imports(), [name_of(command)], set[str]()
    while waiting:
        for name in graph.get(waiting.pop(), set()) - seen:
            seen.add(name)
            waiting.append(name)
    return seen


def test_the_commands_of_the_editor_reach_no_module_of_another_room() -> None:
    others = tuple(f"opsinfo_cli.{room}." for room in ROOMS[1:])
    for command in (PACKAGE / "core/commands").glob("*.py"):
        assert [name for name in reached(command) if name.startswith(others)] == [], command


PLUG_INS = {
    "logs/formats": "logs",
    "systems/systems": "systems",
    "lab/graph/fusions/passes": "lab/graph",
    "core/check/reports": "core",
}
"""Folders that hold plug-ins and nothing else, and the folders whose other modules must not name one."""


def test_a_driver_names_no_plug_in() -> None:
    for folder, around in PLUG_INS.items():
        names = {path.stem for path in (PACKAGE / folder).glob("*.py")} - {"__init__"}
        prefix = "opsinfo_cli." + folder.replace("/", ".")
        drivers = [path for path in (PACKAGE / around).rglob("*.py") if folder not in path.as_posix()]
        named = [
            (path.name, name)
            for path in drivers
            for _, name in imported(path)
            if name.startswith(f"{prefix}.") and name.removeprefix(f"{prefix}.").split(".")[0] in names
        ]
        assert named == [], folder


WRITING_MODES = set("wax+")
WRITING_FLAGS = {"O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND"}
WRITING_CALLS = {
    *("write_text", "write_bytes", "touch", "mkstemp", "mkdtemp", "NamedTemporaryFile", "TemporaryFile"),
    *("makedirs", "mkdir", "unlink", "rmdir", "rename", "renames", "symlink", "link", "chmod", "chown", "truncate"),
    *("copy2", "copyfile", "copytree", "rmtree", "move"),
}
RUN_FOLDER = {
    *(f"lab/bisect/{name}.py" for name in ("trial_process", "journal", "run_folder", "places/many", "places/ray"))
}
"""Modules that write the journal and the trials of a search in its run folder, and in that of a trial on a node."""
OWNERS = {"os", "shutil", "tempfile", "Path", "pathlib"}


def writes(path: Path) -> Iterator[tuple[int, str]]:
    for node in nodes_of(path):
        if isinstance(node, ast.Attribute) and node.attr in WRITING_FLAGS:
            yield node.lineno, node.attr
        if not isinstance(node, ast.Call):
            continue
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if name in ("open", "fdopen") and _opens_for_writing(node, function):
            yield node.lineno, ast.unparse(node)
        if name in ("write_text", "write_bytes") and not ast.unparse(function).startswith("formatter."):
            yield node.lineno, ast.unparse(node)
        owner = function.value if isinstance(function, ast.Attribute) else None
        if name in WRITING_CALLS and isinstance(owner, ast.Name) and owner.id in OWNERS:
            yield node.lineno, ast.unparse(node)


def is_null(path: Path, line: int) -> bool:
    """Whether a line of a module is about the null device."""
    return "devnull" in path.read_text("utf-8").splitlines()[line - 1]


def _opens_for_writing(node: ast.Call, function: ast.expr) -> bool:
    values: list[Any] = [each.value for each in node.keywords if each.arg == "mode"]
    at = 0 if isinstance(function, ast.Attribute) and ast.unparse(function.value) not in ("os", "io") else 1
    values += node.args[at : at + 1]
    modes = [each.value for each in values if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    return any(set(mode) & WRITING_MODES and len(mode) <= 3 for mode in modes)


def test_only_change_writes() -> None:
    others = [path for path in MODULES if not path.is_relative_to(PACKAGE / "core/change")]
    others = [path for path in others if str(path.relative_to(PACKAGE)) not in RUN_FOLDER]
    assert [f"{path}:{line}: {text}" for path in others for line, text in writes(path) if not is_null(path, line)] == []


def test_data_is_read_as_resources_so_that_the_package_runs_from_a_zip() -> None:
    """A checkout has its schemas beside the package."""
    named = {
        path for path in MODULES for node in nodes_of(path) if isinstance(node, ast.Name) and node.id == "__file__"
    }
    assert {str(path.relative_to(PACKAGE)) for path in named} == {"core/check/schema.py"}


def imports() -> dict[str, set[str]]:
    """The modules of the package that each of them imports, in functions and for type checkers too."""
    names = {name_of(path) for path in MODULES}
    found: dict[str, set[str]] = {}
    for path in MODULES:
        mine = found.setdefault(name_of(path), set())
        for _, name in imported(path):
            mine |= {name} & names
        packages = {name for name in mine if any(other.startswith(f"{name}.") for other in mine)}
        mine -= packages  # `from .package import module` imports the module
        mine.discard(name_of(path))
    return found


def circles(graph: Mapping[str, set[str]]) -> Iterator[list[str]]:
    """Sets of modules that reach each other."""
    reached: dict[str, set[str]] = {}
    for start in graph:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            for following in graph.get(waiting.pop(), set()) - seen:
                seen.add(following)
                waiting.append(following)
        reached[start] = seen
    for start in sorted(graph):
        circle = sorted(other for other in reached[start] if start in reached[other])
        if circle and circle[0] == start:
            yield circle


def test_a_circle_through_a_third_module_is_found() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}
    assert list(circles(graph)) == [["a", "b", "c"]]


def test_no_two_modules_import_each_other_directly_or_through_others() -> None:
    assert list(circles(imports())) == []


def names_in(path: Path) -> set[str]:
    """The names that a module imports or defines, also in classes."""
    found = set[str]()
    for node in nodes_of(path):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {(each.asname or each.name).partition(".")[0] for each in node.names}
        elif isinstance(node, ast.ClassDef):
            found.add(node.name)
    return found


def test_docstrings_name_exceptions_that_exist() -> None:
    known = {*vars(builtins), *names_in(PACKAGE / "errors.py")}
    wrong = []
    for path in MODULES:
        for node in nodes_of(path):
            if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                continue
            for name in re.findall(r":raises ([^:]*)", ast.get_docstring(node) or ""):
                if name.partition(".")[0] not in known | names_in(path):
                    wrong.append(f"{path}: {name} in {getattr(node, 'name', 'the module')}")
    assert wrong == []
