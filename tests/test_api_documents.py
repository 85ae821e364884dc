"""What `to_dict()` of each result returns fits the published schemas, and is the document of the command."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from contract import SCHEMAS
from jsonschema import Draft202012Validator

from opsinfo_cli import (
    Install,
    Library,
    Mixlist,
    OpsinfoError,
    Store,
    Target,
    apply,
    backups,
    convert,
    decide,
    diff,
    fmt,
    list_systems,
    merge,
    move,
    qualify,
    read_system,
    reapply,
    restore,
    snapshot,
    validate,
)

ROOT = Path(__file__).resolve().parent.parent
CONFIG = "fixtures/opp/built-in/op_impl/ai_core/tbe/config"
LIBRARY = f"{CONFIG}/ascend910/aic-ascend910-ops-info.json"


def types_in(value: Any) -> set[type]:
    inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return {type(value)}.union(*map(types_in, inner))


def fits(document: Any, name: str) -> dict[str, Any]:
    """Return a document that fits a schema, as JSON has it."""
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text("utf-8"))
    plain: dict[str, Any] = json.loads(json.dumps(document))
    Draft202012Validator(schema).validate(plain)
    assert types_in(document) <= {dict, list, tuple, str, int, float, bool, type(None)}, "the values are plain"
    return plain


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working directory with the fixtures, and a vault that is not the user's."""
    monkeypatch.setenv("OPSINFO_BACKUP_DIR", str(tmp_path / "vault"))
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "fixtures").symlink_to(ROOT / "fixtures")
    monkeypatch.chdir(tmp_path / "work")


Opsinfo = Callable[..., Any]
"""Run the command line."""


def of_command(opsinfo: Opsinfo, *words: str) -> dict[str, Any]:
    document: dict[str, Any] = opsinfo(*words, "--format", "json", cwd=Path.cwd()).json
    return document


@pytest.mark.parametrize("text", [LIBRARY, f"{CONFIG}/ascend910b", "fixtures/opp@ascend910b"])
def test_the_operators_of_a_target_are_the_documents_of_list_and_show(opsinfo: Opsinfo, text: str) -> None:
    target = Target.open(text)
    assert fits(target.to_dict(), "output-list") == of_command(opsinfo, "list", text)
    mixlist = "fixtures/mixlists/good/several-operators.json"
    described = fits(target.describe(["Conv2D", "Add"], mixlist), "output-show")
    assert described == of_command(opsinfo, "show", text, "Conv2D", "Add", "--mixlist", mixlist)


@pytest.mark.parametrize(
    "opened",
    [
        lambda: Library.read(LIBRARY),
        lambda: Store.read(f"{CONFIG}/ascend910b"),
        lambda: Install.open("fixtures/opp", "ascend910b"),
        lambda: Library.read(LIBRARY).operators.stores[0],
        lambda: Path(LIBRARY),
    ],
)
def test_every_open_target_is_a_target(opened: Callable[[], Any]) -> None:
    target = Target.open(opened())
    document = fits(target.to_dict(), "output-list")
    assert document["operators"]
    assert document == Target.open(target).to_dict()


def test_unreadable_op_types_of_sources_are_in_the_document(tmp_path: Path) -> None:
    (tmp_path / "add_def.cpp").write_text(
        "namespace ops { class Add : public OpDef { public: explicit Add(const char *name) : OpDef(name) {\n"
        'this->AICore().AddConfig("ascend910b"); } }; OP_ADD(Add);\n'
        "class Bad : public OpDef { public: explicit Bad(const char *name) : OpDef(name) {\n"
        'if (Unknown()) { this->AICore().AddConfig("ascend910b"); } } }; OP_ADD(Bad); }\n'
    )
    document = fits(Target.open(tmp_path).to_dict(), "output-list")
    assert [each["name"] for each in document["unreadable"]] == ["Bad"]


def test_a_mixlist_is_its_lists_and_can_be_made_of_them() -> None:
    mixlist = Mixlist.read("fixtures/mixlists/good/several-operators.json")
    lists = fits(mixlist.to_dict(), "mixlist")
    assert Mixlist.of(lists).marks == mixlist.marks


def test_a_difference_is_the_document_of_diff(opsinfo: Opsinfo) -> None:
    a, b = LIBRARY, f"{CONFIG}/ascend910b"
    found = diff(Library.read(a), Path(b), sections=True)
    assert found
    assert fits(found.to_dict(), "output-diff") == of_command(opsinfo, "diff", a, b, "--sections")
    mixlist = "fixtures/mixlists/good/several-operators.json"
    assert fits(diff(mixlist, Mixlist.of({})).to_dict(), "output-diff")["counts"]["only_in_a"] == 6


def test_findings_are_the_document_of_validate(opsinfo: Opsinfo) -> None:
    paths = [
        "fixtures/mixlists/good/unknown-wrong-case.json",
        "fixtures/mixlists/bad/unknown-list-grey.json",
        "no.json",
    ]
    outcome = validate(*paths, against=Install.open("fixtures/opp", "ascend910b"))
    document = fits(outcome.to_dict(), "output-validate")
    assert document["error"]["name"] == "unreadable"
    assert fits(validate(paths[0]).to_dict(), "output-validate")["against"] == []
    shown = of_command(opsinfo, "validate", *paths, "--against", "fixtures/opp@ascend910b")

    assert {**document, "baseline": None, "fixes": None} == shown


def test_changes_are_the_documents_of_the_commands() -> None:
    target = "fixtures/opp@ascend910b"
    made = move("m.json", {"Mul": "black", "SwiGlu": "black"}, against=target, create=True)
    assert fits(made.to_dict(), "output-move")["change"] == made.change
    planned = move("m.json", match="Soft*", to="white", against=target, dry_run=True)
    document = fits(planned.to_dict(), "output-move")
    assert (document["dry_run"], [each["to"] for each in document["changed"]]) == (True, ["white"] * 2)
    with pytest.warns(UserWarning, match="unknown operator `Nope` is left out"):
        ignored = move("m.json", ["Add", "Nope"], "black", against=target, ignore_unknown=True)
    assert fits(ignored.to_dict(), "output-move")["ignored"] == ["Nope"]
    kept = fits(backups("m.json").to_dict(), "output-backups")["backups"]
    assert [each["sha256"] is None for each in kept] == [True, False]
    assert kept[1]["change"] == ignored.change
    undone = restore(Path("m.json"))
    assert fits(undone.to_dict(), "output-restore")["restored"] == [
        {"path": "m.json", "id": undone.files[0].entry.id, "sha256": undone.files[0].sha256}
    ]
    assert fits(backups(prune=1, dry_run=True).to_dict(), "output-backups")["pruned"] == []


def test_a_mixlist_is_applied_and_lost_moves_are_repeated(opsinfo: Opsinfo) -> None:
    vendor = Path(LIBRARY).read_bytes()
    Path("aic-ascend910-ops-info.json").write_bytes(vendor)
    mixlist = Mixlist.of({"black-list": {"to-add": ["Add", "Nope"]}})
    with pytest.warns(UserWarning, match="unknown operator `Nope`"):
        strict = apply("aic-ascend910-ops-info.json", mixlist, strict=True)
    assert fits(strict.to_dict(), "output-move")["ignored"] == ["Nope"]
    assert Path("aic-ascend910-ops-info.json").read_bytes() == vendor
    with pytest.warns(UserWarning, match="unknown operator `Nope`"):
        copied = apply(Library.read("aic-ascend910-ops-info.json"), mixlist, output="copy.json")
    assert fits(copied.to_dict(), "output-move")["command"] == "apply"
    assert Library.read("copy.json").operators["Add"].policy == "black"
    assert Path("aic-ascend910-ops-info.json").read_bytes() == vendor
    move("aic-ascend910-ops-info.json", "Add", "black")
    Path("aic-ascend910-ops-info.json").write_bytes(vendor.replace(b'"Add"', b'"Add" ', 1))
    again = reapply()
    assert fits(again.to_dict(), "output-move")["changed"][0]["name"] == "Add"
    assert reapply("aic-ascend910-ops-info.json").files == []


def test_mixlists_are_merged_mended_and_checked_against_a_snapshot(opsinfo: Opsinfo) -> None:
    Path("a.jsonc").write_text('{"black-list": {"to-add": ["Add", "Mul",]}} // ours\n')
    Path("b.json").write_text('{"white-list": {"to-add": ["Add", "Nope"]}}')
    Path("t.opsinfo.json").write_text(snapshot("fixtures/opp@ascend910b"))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        made = merge(["a.jsonc", Path("b.json")], against="t.opsinfo.json", minimize=True)
    assert [str(each.message).partition(";")[0] for each in said] == [
        "`Add`: black-list.to-add in a.jsonc, white-list.to-add in b.json",
        "`Nope` is not an op type of t.opsinfo.json",
    ]
    document = fits(made.to_dict(), "output-merge")
    shown = of_command(opsinfo, "merge", "a.jsonc", "b.json", "--against", "t.opsinfo.json", "--minimize")
    assert document == shown
    assert json.loads(made.text) == document["mixlist"]
    written = fmt("a.jsonc", output="a.json")
    assert fits(written.to_dict(), "output-move")["command"] == "fmt"
    assert sorted(Mixlist.read("a.json").marks) == ["Add", "Mul"]
    assert fmt(["a.json"]).files[0].patch.edits == ()


def test_the_soundness_of_logs_is_the_document_of_qualify(opsinfo: Opsinfo) -> None:
    lines = [
        "Selected optimization level O1",
        "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to 8.0",
    ]
    for name in ("one.log", "two.log"):
        lines.append("loss 0.5 Acc@1 76.1")
        Path(name).write_text("\n".join(lines))
    words = ("one.log", "two.log", "--metric", "Acc@1 ([0-9.]+)", "--steps", "900", "--amp", "O2")
    found = qualify(["one.log", Path("two.log")], metric="Acc@1 ([0-9.]+)", steps=900, amp="O2")
    document = fits(found.to_dict(), "output-qualify")
    assert document == of_command(opsinfo, "qualify", *words)
    assert document["agreement"]["number"] == 2
    with pytest.raises(OpsinfoError, match="is not a known level"):
        qualify("one.log", amp="O9")


def test_systems_are_the_documents_of_their_commands(opsinfo: Opsinfo) -> None:
    for system in list_systems():
        fits(system.to_dict(), "output-systems-show")
    shown = fits(read_system("apex:O1").to_dict(), "output-systems-show")
    assert shown == of_command(opsinfo, "systems", "show", "apex:O1")
    decided = fits(decide("apex:O1", ["bmm:float16,float32", "nmm"]).to_dict(), "output-systems-decide")
    assert decided == of_command(opsinfo, "systems", "decide", "--system", "apex:O1", "bmm:float16,float32", "nmm")
    on_ascend = decide("ascend:mixed_float16", "Add", against=Path("fixtures/opp@ascend910b"), mixlist=Mixlist.of({}))
    assert fits(on_ascend.to_dict(), "output-systems-decide")["decisions"][0]["outcome"] == "not-known"
    with pytest.raises(OpsinfoError, match="are for Ascend"):
        decide("apex:O1", "bmm", own="float16")


def test_a_conversion_is_the_document_of_convert(opsinfo: Opsinfo) -> None:
    target = "fixtures/opp@ascend910b"
    Path("bf16.txt").write_text("matmul\nlinear\nnot_there\n")
    words = ("--from", "habana-hmp", "--to", "mixlist", "--against", target, "bf16.txt")
    found = convert("habana-hmp", "mixlist", Path("bf16.txt"), against=target)
    document = fits(found.to_dict(), "output-systems-convert")
    assert document == of_command(opsinfo, "systems", "convert", *words)
    assert [each["name"] for each in document["entries"]["dropped"]] == ["not_there"]
    mixlist = Mixlist.of({"black-list": {"to-add": ["MatMulV2"]}})
    made = convert("mixlist", "keep-dtype", mixlist)
    assert list(made.texts.values()) == ["OpType::MatMulV2\n"]
    with pytest.raises(OpsinfoError, match="has no built-in lists"):
        convert("mixlist", "keep-dtype")
