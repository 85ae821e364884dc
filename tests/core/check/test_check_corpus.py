"""Mixlists that shipped with models, checked against the libraries of their time."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from check_support import Checker

from opsinfo_cli import validate
from opsinfo_cli.core.cann.target import resolve
from opsinfo_cli.core.cann.targets.found import TargetOptions
from opsinfo_cli.core.check.mixlist import MixlistTarget


def judged(corpus: Path) -> dict[str, Checker]:
    against = MixlistTarget(resolve(str(corpus / "cann-910b/opp"), TargetOptions(soc="ascend910b"), {}))
    found = {}
    for path in sorted((corpus / "mixlists").glob("*.json")):
        checker = Checker(against=[against], kind="mixlist")
        checker.check_paths([str(path)])
        found[path.stem] = checker
    return found


def test_every_mixlist_is_judged_and_none_crashes(corpus: Path) -> None:
    found = judged(corpus)
    assert len(found) == 26
    for checker in found.values():
        assert checker.failures == []
        assert len(checker.outcome.files) == 1


def test_the_misspelt_matmul_is_accepted_by_the_engine_and_named(corpus: Path) -> None:
    outcome = judged(corpus)["mixmatch_ID0804"].outcome
    assert outcome.files[0].engine_accepts
    (finding,) = [each for each in outcome.findings if each.rule.name == "unknown-operator"]
    assert finding.severity == "error"
    assert "`MatMu1V2`" in finding.message
    assert "`MatMulV2`" in str(finding.hint)


def test_comments_as_in_the_manual_are_refused(corpus: Path) -> None:
    outcome = judged(corpus)["SYMNET_ID1292"].outcome
    assert not outcome.files[0].engine_accepts
    names = Counter(finding.rule.name for finding in outcome.findings)
    assert names["comment"] == 2
    assert names["unknown-operator"] == 1


def test_the_real_stores_have_no_errors(corpus: Path) -> None:
    checker = Checker()
    checker.check_paths([str(corpus / "cann-910b")])
    assert [each for each in checker.outcome.findings if each.severity == "error"] == []
    names = Counter(finding.rule.name for finding in checker.outcome.findings)
    assert names["shadowed"] == 14


FOREIGN: dict[str, set[str | None]] = {
    "array_json_is_no_library": {None, "a description of single operators for atc or msopgen"},
    "jsonc_op_key": {None},
    "aicpu_library": {"a library of AI CPU"},
    "binary_info": {"an index of compiled kernels"},
}


@pytest.mark.parametrize("case", FOREIGN)
def test_files_of_other_tools_are_passed_over_in_a_folder_and_named_for_what_they_are(case: str, corpus: Path) -> None:
    folder = corpus / "cases" / case
    if not folder.is_dir():
        pytest.skip("the corpus has no such case")
    checker = Checker()
    checker.check_paths([str(folder)])
    assert (checker.outcome.files, [error.name for error in checker.failures]) == ([], ["nothing-to-check"])
    named = [validate(path) for path in folder.glob("*.json")]
    said = {outcome.failures[0].message.removesuffix("; it has no policy") for outcome in named}
    assert said == {what or "neither a library nor a mixlist" for what in FOREIGN[case]}
