"""Files that a configuration may write, its allowed owners, and limits of parsing."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from opsinfo_cli.change import output_file
from opsinfo_cli.change.filesystem import FileSystem
from opsinfo_cli.check.check_result import CheckResult
from opsinfo_cli.check.checker import Checker
from opsinfo_cli.cli.validation import config_trust
from opsinfo_cli.cli.validation.config_trust import (
    require_inside,
    require_owner,
    require_report_place,
    write_report_of,
)
from opsinfo_cli.cli.validation.toml_text import MAX_SIZE, parsed_toml
from opsinfo_cli.errors import UsageFault
from opsinfo_cli.model.repository import Repository
from opsinfo_cli.report.formats.findings_json import findings_document
from opsinfo_cli.report.formats.render import rendered
from opsinfo_cli.text.source import Source


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A configuration in a folder of a repository, with a file outside that must not change."""
    folder = tmp_path / "repository" / "lists"
    folder.mkdir(parents=True)
    (tmp_path / "repository" / ".git").mkdir()
    (tmp_path / ".bashrc").write_text("alias ll='ls -l'\n")
    (folder / "opsinfo.toml").write_text("")
    return folder / "opsinfo.toml"


def refused(config: Path, format_: str, path: Path) -> str:
    with pytest.raises(UsageFault) as caught:
        require_report_place(str(config), format_, str(path))
    return caught.value.name


OUTSIDE = ["../../.bashrc", "../../new.json", "../.git/hooks/post-checkout", "../../repository-too/x.json"]


@pytest.mark.parametrize("path", OUTSIDE)
def test_a_configuration_cannot_name_a_report_outside_its_repository(config: Path, path: str) -> None:
    assert refused(config, "json", config.parent / path) == "config-writes-outside"


def test_a_link_out_of_the_repository_is_followed_before_the_place_is_judged(config: Path, tmp_path: Path) -> None:
    (config.parent / "report.json").symlink_to(tmp_path / ".bashrc")
    (config.parent / "out").symlink_to(tmp_path)
    assert refused(config, "json", config.parent / "report.json") == "config-writes-outside"
    assert refused(config, "json", config.parent / "out" / "new.json") == "config-writes-outside"


def test_without_a_repository_the_folder_of_the_configuration_is_the_limit(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    config = folder / "opsinfo.toml"
    config.write_text("")
    assert require_inside(str(config), str(folder / "x.json"), "a report") == str(folder.resolve() / "x.json")
    assert refused(config, "json", tmp_path / "a" / "x.json") == "config-writes-outside"


def report_text(format_: str) -> str:
    checker = Checker(kind="mixlist")
    checker.file("m.json", b'{"grey-list": {}}')
    checked = CheckResult(checker.outcome, Repository("/"))
    finding = checked.outcome.findings[0]
    object.__setattr__(finding, "fingerprint", "0" * 32)
    document = {"schema_version": 1, "command": "validate", **findings_document(checked, [])}
    return rendered(format_, checked, document)


@pytest.mark.parametrize("format_", ["json", "sarif", "gitlab", "junit"])
def test_a_configuration_may_replace_an_opsinfo_report_in_the_same_format(config: Path, format_: str) -> None:
    path = config.parent / "report"
    require_report_place(str(config), format_, str(path))
    path.write_text(report_text(format_))
    require_report_place(str(config), format_, str(path))
    for other in {"json", "sarif", "gitlab", "junit", "concise", "text", "github"} - {format_}:
        assert refused(config, other, path) == "config-overwrites"


@pytest.mark.parametrize(
    "text",
    ["", "#!/bin/sh\n", "{}", "[1]", '{"runs": []}', '[{"check_name": "E501"}]', "\0\xff"],
    ids=["empty", "script", "empty object", "array", "object like SARIF", "array like GitLab", "binary"],
)
@pytest.mark.parametrize("format_", ["json", "sarif", "gitlab", "junit", "concise"])
def test_a_configuration_cannot_overwrite_a_file_that_is_not_a_report(config: Path, format_: str, text: str) -> None:
    path = config.parent / "setup.sh"
    path.write_bytes(text.encode("latin-1"))
    assert refused(config, format_, path) == "config-overwrites"


class Swapping(FileSystem):
    """Runs an action of another user once, right before the report's temp is opened."""

    def __init__(self, act: Callable[[], object]) -> None:
        super().__init__()
        self.act: Callable[[], object] | None = act

    def open(self, path: str, flags: int, mode: int = 0o600) -> int:
        if flags & os.O_CREAT and self.act:
            act, self.act = self.act, None
            act()
        return super().open(path, flags, mode)


def written_while(act: Callable[[], object], config: Path, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output_file, "FileSystem", lambda: Swapping(act))
    write_report_of(str(config), "json", str(path), b"{}")


def test_a_folder_swapped_for_a_link_while_a_report_is_written_is_not_followed(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = config.parent / "out"
    out.mkdir()
    victim = tmp_path / "report.json"
    victim.write_text("theirs")

    def swap() -> None:
        out.rename(config.parent / "moved")
        out.symlink_to(tmp_path)

    written_while(swap, config, out / "report.json", monkeypatch)
    assert victim.read_text() == "theirs"
    assert (config.parent / "moved" / "report.json").read_bytes() == b"{}"


def test_a_file_put_at_the_place_of_a_report_meanwhile_is_not_overwritten(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = config.parent / "report.json"
    path.write_text(report_text("json"))
    with pytest.raises(UsageFault) as caught:
        written_while(lambda: path.write_text("theirs"), config, path, monkeypatch)
    assert (caught.value.name, path.read_text()) == ("config-overwrites", "theirs")
    assert sorted(os.listdir(path.parent)) == ["opsinfo.toml", "report.json"]


def test_a_link_put_at_the_place_of_a_report_meanwhile_is_not_followed(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = config.parent / "report.json"
    with pytest.raises(UsageFault):
        written_while(lambda: path.symlink_to(tmp_path / ".bashrc"), config, path, monkeypatch)
    assert (tmp_path / ".bashrc").read_text() == "alias ll='ls -l'\n"


def test_a_report_of_a_configuration_keeps_the_mode_of_the_one_it_replaces(config: Path) -> None:
    path = config.parent / "report.json"
    path.write_text(report_text("json"))
    path.chmod(0o640)
    write_report_of(str(config), "json", str(path), b"{}")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"{}", 0o640)


@pytest.fixture
def strangers(config: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The configuration, for a user who does not own it."""
    monkeypatch.setattr(config_trust.os, "geteuid", lambda: config.stat().st_uid + 1)
    monkeypatch.setattr(config_trust, "_trusted", lambda environ: {config.stat().st_uid + 1})
    return config


def test_a_configuration_of_another_user_is_refused_with_how_to_allow_it(strangers: Path) -> None:
    with pytest.raises(UsageFault) as caught:
        require_owner(str(strangers), {})
    assert caught.value.name == "config-owner"
    assert f"OPSINFO_SAFE_DIRECTORY={strangers.parent.resolve()}" in str(caught.value.hint)


@pytest.mark.parametrize(
    "allowed",
    ["{folder}", "/elsewhere:{folder}", "*", "{folder}/"],
    ids=["the folder", "second of two", "any folder", "trailing slash"],
)
def test_a_configuration_in_a_safe_directory_is_used(strangers: Path, allowed: str) -> None:
    require_owner(str(strangers), {"OPSINFO_SAFE_DIRECTORY": allowed.format(folder=strangers.parent)})


@pytest.mark.parametrize(
    "allowed",
    ["", "/elsewhere", "{folder}/..", "relative"],
    ids=["empty", "another folder", "path with dots", "relative path"],
)
def test_a_configuration_elsewhere_is_not_used(strangers: Path, allowed: str) -> None:
    with pytest.raises(UsageFault):
        require_owner(str(strangers), {"OPSINFO_SAFE_DIRECTORY": allowed.format(folder=strangers.parent)})


def test_sudo_keeps_the_callers_own_files_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config_trust.os, "geteuid", lambda: 0)
    assert config_trust._trusted({"SUDO_UID": "1000"}) == {0, 1000}
    assert config_trust._trusted({"SUDO_UID": "x"}) == {0}
    monkeypatch.setattr(config_trust.os, "geteuid", lambda: 1001)
    assert config_trust._trusted({"SUDO_UID": "1000"}) == {0, 1001}


def test_the_users_own_configuration_lists_safe_directories(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "home" / "opsinfo" / "opsinfo.toml"
    own.parent.mkdir(parents=True)
    own.write_text(f"safe-directory = [{json.dumps(str(config.parent))}]\n")
    environ = {"XDG_CONFIG_HOME": str(tmp_path / "home")}
    assert config_trust._is_safe(str(config.parent.resolve()), environ)
    monkeypatch.setattr(config_trust, "_trusted", lambda environ: {os.geteuid() + 1})
    assert not config_trust._is_safe(str(config.parent.resolve()), environ), "the list of another user"


BOMBS = {
    "a dotted key of thousands of parts": "a" + ".a" * 30_000 + " = 1\n",
    "a table of thousands of parts": "[a" + ".a" * 30_000 + "]\n",
    "deeply nested arrays": "a = " + "[" * 5000 + "]" * 5000,
    "unclosed inline tables": "a = " + "{b = " * 5000,
    "an integer of 6,000 digits": "a = " + "1" * 6000,
    "an integer of 6,000 digits with underscores": "a = " + "1_1" * 3000,
    "a text of megabytes": "#" * (MAX_SIZE + 1),
    "unclosed quotes": 'a = "' * 9999,
    "not TOML": "a = ",
}


@pytest.mark.parametrize("situation", BOMBS)
def test_a_hostile_toml_is_a_usage_fault(situation: str) -> None:
    with pytest.raises(UsageFault):
        parsed_toml(Source(BOMBS[situation].encode(), "opsinfo.toml"))


def test_harmless_text_that_looks_hostile_is_read() -> None:
    text = f'''against = ["{"a." * 500}json", '{"[" * 500}']  # {"[" * 500}
report = ["sarif:x"]
a.b.c = 1.5
text = """{"{" * 500} "quoted" {"1" * 5000}"""
other = \'\'\'{"[" * 100} ''{"." * 100}\'\'\'
'''
    parsed = parsed_toml(Source(text.encode(), "opsinfo.toml"))
    assert parsed["a"]["b"]["c"] == 1.5
    assert len(parsed["text"]) > 5500
