"""Findings for the tests of report formats."""

from __future__ import annotations

from opsinfo_cli.core.cann.repository import Repository
from opsinfo_cli.core.check.baseline import fingerprinted
from opsinfo_cli.core.check.checked import Checked
from opsinfo_cli.core.check.finding import CheckedKind, FileVerdict, Finding, Fix, Outcome
from opsinfo_cli.core.check.rules import RULES
from opsinfo_cli.core.text.patch import Edit
from opsinfo_cli.core.text.source import Place
from opsinfo_cli.errors import OpsinfoError, Refused

ROOT = "/repository"
NASTY = 'a 100%, "b": <c> & \x1b[31m ]]> \x00 \ufffe \udcff ::error::\r\n算子 ##[error]'


def finding(name: str = "unknown-operator", line: int = 3, path: str = f"{ROOT}/a.json", **more: object) -> Finding:
    values: dict[str, object] = {"hint": "did you mean `Add`?", "pointer": f"/black-list/to-add/{line}", **more}
    end = values.pop("end", Place(line, 12))
    return Finding(RULES[name], str(values.pop("message", "`Ad` is no op type")), path, Place(line, 7), end, **values)  # type: ignore[arg-type]


def checked(findings: list[Finding], *failures: OpsinfoError, strict: bool = False, **files: CheckedKind) -> Checked:
    """:param files: further files by name and kind"""
    kinds: dict[str, CheckedKind] = {
        **{each.path: "mixlist" for each in findings},
        **{f"{ROOT}/{name}.json": kind for name, kind in files.items()},
    }
    outcome = Outcome(findings, [FileVerdict(path, kind, True) for path, kind in kinds.items()], list(failures))
    made = Checked(**vars(outcome), repository=Repository(ROOT), strict=strict)
    made.findings = fingerprinted(findings, made.relative)
    return made


def many(count: int) -> list[Finding]:
    """Findings of every rule, in ten files and on separate lines; every third message repeats another."""
    names = list(RULES)
    fix = Fix((Edit(6, 10, "Add"),))
    places = ((Place(1, 7), Place(1, 11)),)
    return [
        finding(
            names[index % len(names)], 1 + index // 10, f"{ROOT}/文/{index % 10} x.json", message=f"said {index // 3}"
        )
        if index % 2
        else finding(names[index % len(names)], 1 + index, message=f"said {index}", fix=fix, places=places)
        for index in range(count)
    ]


SITUATIONS: dict[str, Checked] = {
    "nothing": checked([], clean="mixlist"),
    "one-error": checked([finding()]),
    "one-of-each-severity": checked(
        [finding("bom", 1, hint=None), finding("no-effect", 4), finding("contradiction", 9), finding(line=2)]
    ),
    "span-of-several-lines": checked([finding("wrong-type", end=Place(5, 2), hint=None)]),
    "no-place": checked(
        [
            Finding(RULES["stray-json"], "it is a copy", f"{ROOT}/config/x"),
            Finding(RULES["both-modes"], "two", "--precision-mode"),
        ]
    ),
    "outside-the-repository": checked([finding(path="/elsewhere/b.json")]),
    "everything-to-escape": checked([finding(path=f"{ROOT}/a:b,c%d 文.json", message=NASTY, hint=NASTY)]),
    "more-than-github-shows": checked(
        [
            *(finding("no-effect", n) for n in range(1, 16)),
            *(finding(line=n) for n in range(1, 26)),
            finding("contradiction", 99),
        ]
    ),
    "more-notices-than-github-shows": checked([finding("bom", n, hint=None) for n in range(1, 13)]),
    "unreadable": checked([finding()], Refused("Permission denied", name="unreadable", path=f"{ROOT}/c.json")),
}
