"""The table: each job, a peer that does the same, and the limit of their ratio."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from data import Data
from peers import Peers
from workplace import ROOT, Workplace

__all__ = ["Row", "Skipped", "bench_rows"]

HERE = Path(__file__).resolve().parent
POLICY_ROWS = (
    "reduce inputs as $file ({}; . + $file) | . as $all | keys[] | [., "
    '({"true": "white", "false": "black"}[$all[.].precision_reduce.flag // ""] // "gray")] | @tsv'
)
"""A jq program: name and policy of every op type, sorted; for equal names the one of the later file."""


class Skipped(Exception):
    """A row that cannot be measured here, with the reason."""


def _nothing() -> None:
    pass


def _alike(ours: str, peer: str) -> None:
    pass


@dataclass(frozen=True)
class Row:
    """:param prepare: run before each process, not counted
    :param compare: raises if the two did not do the same work; called with their outputs
    :param require: raises Skipped
    :param codes: accepted exit statuses
    """

    name: str
    peer_name: str
    ours: list[str]
    peer: list[str]
    must: float
    aim: float
    prepare: Callable[[], None] = _nothing
    compare: Callable[[str, str], None] = _alike
    require: Callable[[], None] = _nothing
    environment: dict[str, str] = field(default_factory=dict)
    codes: tuple[int, ...] = (0,)


def bench_rows(place: Workplace, peers: Peers, data: Data) -> Iterator[Row]:
    yield _list_row(place, peers, data)
    yield _validate_row(place, peers, data)
    yield from _move_rows(place, peers, data)
    yield _diff_row(place, peers, data)
    yield from _start_rows(place, data)
    yield _floor_row(place, data)


def _needs(peers: Peers, name: str) -> Callable[[], None]:
    def require() -> None:
        if peers.find(name) is None:
            raise Skipped(f"{name} is not installed")

    return require


def _columns(text: str, count: int) -> list[list[str]]:
    return [line.split("\t")[:count] for line in text.splitlines()]


def _list_row(place: Workplace, peers: Peers, data: Data) -> Row:
    def compare(ours: str, peer: str) -> None:
        if _columns(ours, 2) != _columns(peer, 2):
            raise SystemExit("list: jq does not print the same names and policies")

    jq = peers.find("jq") or "jq"
    peer = [jq, "-rn", POLICY_ROWS, *map(str, data.files)]
    ours = place.opsinfo("list", data.store_910b)
    return Row("list", "jq, same rows", ours, peer, 1.2, 0.9, compare=compare, require=_needs(peers, "jq"))


def _validate_row(place: Workplace, peers: Peers, data: Data) -> Row:
    tool = peers.find("check-jsonschema") or "check-jsonschema"
    schema = ROOT / "schemas" / "ops-info-library.schema.json"
    peer = [tool, "--schemafile", str(schema), *map(str, data.files)]
    ours = place.opsinfo("validate", data.store_910b)
    return Row("validate", "check-jsonschema", ours, peer, 0.5, 0.35, require=_needs(peers, "check-jsonschema"))


def _move_rows(place: Workplace, peers: Peers, data: Data) -> Iterator[Row]:
    pristine, work = data.largest, place.folder / "move"
    target, backup, made = work / pristine.name, work / "backup", work / "made"
    name = next(name for name, entry in json.loads(pristine.read_bytes()).items() if "precision_reduce" not in entry)

    def prepare() -> None:
        """Restore the delivered file, remove the vault, and wait for writes of earlier processes."""
        for folder in (work, place.vault):
            shutil.rmtree(folder, ignore_errors=True)
        work.mkdir()
        shutil.copyfile(pristine, target)
        os.sync()

    moved: list[object] = []

    def compare(ours: str, peer: str) -> None:
        """The peer ran last, so its file exists; make opsinfo's file again."""
        moved.append(json.loads(target.read_bytes()))
        prepare()
        subprocess.run(place.opsinfo("move", target, name, "--to", "black"), env=place.environment, check=True,
                       capture_output=True)  # fmt: skip
        moved.append(json.loads(target.read_bytes()))
        if moved[0] != moved[1] or moved[0] == json.loads(pristine.read_bytes()):
            raise SystemExit("move: the two do not end in the same document")
        moved.clear()

    ours = place.opsinfo("move", target, name, "--to", "black")
    edit = f'.[{json.dumps(name)}].precision_reduce.flag = "false"'
    jq = shlex.join([peers.find("jq") or "jq", "--indent", "4", edit, str(target)])
    steps = f"cp {shlex.quote(str(target))} {shlex.quote(str(backup))} && {jq} > {shlex.quote(str(made))}"
    shell = ["sh", "-c", f"{steps} && mv {shlex.quote(str(made))} {shlex.quote(str(target))}"]
    yield Row("move", "cp, jq, mv", ours, shell, 1.4, 1.0, prepare, compare, _needs(peers, "jq"))
    script = [place.python, str(HERE / "usual_edit.py"), str(target), str(backup), name, "false"]
    yield Row("move", "the usual script", ours, script, 1.4, 1.0, prepare, compare)


def _diff_row(place: Workplace, peers: Peers, data: Data) -> Row:
    def compare(ours: str, peer: str) -> None:
        named = {line[2:].split("\t")[0] for line in peer.splitlines() if line[:2] in ("< ", "> ")}
        if {columns[1] for columns in _columns(ours, 2)} != named:
            raise SystemExit("diff: the two do not name the same op types")

    def extract(files: list[Path], out: str) -> str:
        return shlex.join([jq, "-rn", POLICY_ROWS, *map(str, files)]) + f" > {out}"

    jq = peers.find("jq") or "jq"
    a = extract(sorted(data.store_910.glob("*.json")), "a.rows")
    b = extract(data.files, "b.rows")
    ours = place.opsinfo("diff", data.store_910, data.store_910b)
    peer = ["sh", "-c", f"{a} && {b} && diff a.rows b.rows"]
    require = _needs(peers, "jq")
    return Row("diff", "jq, jq, diff", ours, peer, 0.8, 0.5, compare=compare, require=require, codes=(1,))


def _start_rows(place: Workplace, data: Data) -> Iterator[Row]:
    peer = [place.python, "-c", "import click"]
    yield Row("--help", "import click", place.opsinfo("--help"), peer, 1.4, 1.15)
    typed = {
        "_OPSINFO_COMPLETE": "bash_complete",
        "COMP_WORDS": "opsinfo show ascend910b MatMul",
        "COMP_CWORD": "3",
        "ASCEND_OPP_PATH": str(data.opp_910b),
    }

    def compare(ours: str, peer: str) -> None:
        if "MatMul" not in ours:
            raise Skipped("no op type is completed")

    ours = place.opsinfo()
    yield Row("completion", "import click", ours, peer, 1.4, 1.15, compare=compare, environment=typed)


def _floor_row(place: Workplace, data: Data) -> Row:
    """The minimum for a Python process: the printed bytes were made before."""
    ours = place.opsinfo("list", data.store_910b, "--format", "json")
    ready = place.folder / "list.json"

    def require() -> None:
        ready.write_bytes(subprocess.run(ours, env=place.environment, check=True, capture_output=True).stdout)

    def compare(mine: str, its: str) -> None:
        if mine != its:
            raise SystemExit("list --format json: the floor does not print the same bytes")

    peer = [place.python, str(HERE / "floor.py"), str(ready), *map(str, data.files)]
    return Row("list --format json", "json.loads and print", ours, peer, 2.0, 1.5, compare=compare, require=require)
