"""Replay the commits of a checkout as merge requests: what `validate --base` says of each, and how long it takes.

    python benchmarks/replay.py CHECKOUT                      commits that touch OpDef sources, newest first
    python benchmarks/replay.py CHECKOUT --head b4f2fb1d -n 20 --whole
    python benchmarks/replay.py CHECKOUT --second             hold the policies against a second reading

Nothing is fetched. The commits are checked out in a worktree of their own, which is removed at the end. Of a commit the
folders of the operators that it touches are checked, or with --whole the whole tree. One line a commit: id, seconds of
processor time, findings by name; then a line for each policy that is new, changed or removed.

The second reading is made with tree-sitter-cpp (not a dependency): of each source that a commit touches it takes the
classes, the configurations that `AddConfig` gets and the flags set on them, and nothing else. What it cannot read it
leaves out and counts. A line `only here` or `only there` is a policy on which the two do not agree; exit status 1.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from opsinfo_cli import validate

LEFT_OUT = {"op_kernel", "op_kernel_aicpu", "test", "tests", "examples", "example", "template", "templates"}
POLICIES = ("new-policy", "changed-policy", "removed-policy")


class Change(NamedTuple):
    """:param before, after: the policy, or None if there is none"""

    name: str
    chip: str
    before: str | None
    after: str | None

    def __str__(self) -> str:
        return f"{self.name}@{self.chip}: {self.before or '-'} -> {self.after or '-'}"


def git(folder: str, *words: str) -> str:
    done = subprocess.run(["git", "-C", folder, *words], capture_output=True, check=True)
    return done.stdout.decode("utf-8", "replace")


def commits_of(checkout: str, head: str, count: int | None) -> list[str]:
    limit = [] if count is None else ["-n", str(count)]
    return git(checkout, "log", "--no-merges", "--format=%H", *limit, head, "--", "*_def.cpp").split()


def touched(folder: str, commit: str) -> list[str]:
    """The files that a commit touches, as git names them."""
    return git(folder, "diff", "--name-only", "-z", "--no-renames", f"{commit}~1", commit).split("\0")[:-1]


def folders_of(folder: str, files: list[str]) -> list[str]:
    """The folders of the operators, or what is left of them: none lies in another."""
    found = set()
    for file in files:
        if file.endswith((".cpp", ".cc", ".h", ".hpp", ".inc")) and "/op_host/" in f"/{file}":
            if LEFT_OUT.intersection(file.split("/")):  # a folder that is named is checked, whatever its name
                continue
            parent = f"/{file}".split("/op_host/")[0].lstrip("/")
            while parent and not os.path.isdir(os.path.join(folder, parent)):
                parent = os.path.dirname(parent)
            found.add(parent or ".")
    return [each for each in sorted(found) if not any(each != other and is_below(each, other) for other in found)]


def is_below(path: str, folder: str) -> bool:
    return folder == "." or path.startswith(f"{folder}/")


FOUND = re.compile(
    r"`(?P<name>[^`]+)`(?: is new)?(?: on (?P<chip>\w+))?(?:: | becomes | is removed)(?P<after>\w+)?"
    r".*?(?:it was (?P<before>\w+))?$"
)


def change_of(finding: Any) -> Change:
    match = FOUND.match(finding.message)
    assert match, finding.message
    return Change(match["name"], match["chip"] or "", match["before"], match["after"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout")
    parser.add_argument("--head", default="HEAD")
    parser.add_argument("-n", type=int, dest="count", help="the number of commits")
    parser.add_argument("--whole", action="store_true", help="check the whole tree")
    parser.add_argument("--second", action="store_true", help="hold the policies against tree-sitter-cpp")
    given = parser.parse_args()
    commits = commits_of(given.checkout, given.head, given.count)
    totals: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as parent:
        folder = os.path.join(parent, "replayed")
        git(given.checkout, "worktree", "add", "--quiet", "--detach", folder, commits[0])
        try:
            for commit in commits:
                totals.update(replay(folder, commit, given.whole, given.second))
                totals["commits"] += 1
        finally:
            os.chdir("/")
            git(given.checkout, "worktree", "remove", "--force", folder)
    print(", ".join(f"{count} {name}" for name, count in sorted(totals.items())))
    return int(bool(totals["only here"] or totals["only there"]))


def replay(folder: str, commit: str, whole: bool, second: bool) -> Iterator[str]:
    """Print one commit, and yield what is counted."""
    git(folder, "checkout", "--quiet", "--force", commit)
    os.chdir(folder)
    files = touched(folder, commit)
    paths = ["."] if whole else folders_of(folder, files)
    start = time.process_time()
    checked = validate(*paths, base=f"{commit}~1") if paths else None
    seconds = time.process_time() - start
    findings = checked.findings if checked else []
    names = Counter(finding.rule.name for finding in findings)
    said = ", ".join(f"{count} {name}" for name, count in sorted(names.items()))
    failures = [error for error in (checked.failures if checked else []) if error.name != "nothing-to-check"]
    failed = "".join(f"; {error.message}" for error in failures)
    print(f"{commit[:12]} {seconds:.1f} s: {said or 'nothing'}{failed}", flush=True)
    yield from names.elements()
    if failed:
        yield "failures"
    changes = {change_of(finding) for finding in findings if finding.rule.name in POLICIES}
    for change in sorted(changes, key=str):
        print(f"  {change}")
    if second:
        import tree_sitter_policies

        expected, unread = tree_sitter_policies.changes(folder, commit, files)
        yield from ("op types that the second reading cannot read" for _ in unread)
        ours = {each for each in changes if each.name not in unread}
        theirs = {Change(*each) for each in expected}
        for where, only in (("only here", ours - theirs), ("only there", theirs - ours)):
            for change in sorted(only, key=str):
                print(f"  {where}: {change}")
                yield where
        yield from ("agreed" for _ in ours & theirs)


if __name__ == "__main__":
    sys.exit(main())
