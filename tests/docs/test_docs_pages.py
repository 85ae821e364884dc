"""README, guide and site: commands, links, and two languages in step."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
READMES = ("README.md", "README.zh-CN.md")
PAIRS = (
    READMES,
    ("docs/guide.md", "docs/guide.zh-CN.md"),
    ("docs/agents.md", "docs/agents.zh-CN.md"),
    ("docs/wrong-on-npu.md", "docs/wrong-on-npu.zh-CN.md"),
    ("docs/ci.md", "docs/ci.zh-CN.md"),
    ("docs/operators.md", "docs/operators.zh-CN.md"),
)
GENERATED = ("findings.md", "reference.md", "glossary.md")
VENV = "python3 -m venv .venv && "


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", READMES)
def test_the_first_screen_of_a_readme_shows_a_mixlist_how_to_pass_it_and_one_way_to_install(page: str) -> None:
    first = "\n".join(text_of(page).splitlines()[:50])
    (shown,) = re.findall(r"^```json\n(.*?)^```$", first, re.MULTILINE | re.DOTALL)
    assert json.loads(shown) == json.loads(text_of("fixtures/ops_info.json"))
    for word in ("--modify_mixlist=ops_info.json", '["modify_mixlist"]', "ge.exec.modify_mixlist=ops_info.json"):
        assert word in first
    assert len(re.findall(r"pip install \.(?!\[)", text_of(page))) == 1
    assert not re.search(r"pipx|uv tool", text_of(page))


@pytest.mark.parametrize("page", [*READMES, "docs/guide.md", "docs/guide.zh-CN.md", "docs/index.md"])
def test_a_first_page_begins_with_the_cann_that_is_installed(page: str) -> None:
    first = "\n".join(text_of(page).splitlines()[:65])
    assert "set_env.sh" in first
    assert "opsinfo socs\nopsinfo list ascend910b\n```" in first


@pytest.mark.parametrize("page", READMES)
def test_readme_shows_two_commands_that_begin_with_a_virtual_environment(page: str) -> None:
    commands = re.findall(r"^\$ (.+)$", text_of(page), re.MULTILINE)
    assert len(commands) == 2
    assert all(command.startswith(VENV) for command in commands)
    assert ".venv/bin/opsinfo list fixtures/opp" in commands[0]
    assert commands[1].endswith(".venv/bin/python -m pytest -n auto")


def test_the_test_command_is_the_one_that_ci_runs() -> None:
    (expression,) = re.findall(r"sed -n '(s/[^']+)' README\.md", text_of(".ci/tests"))
    done = subprocess.run(["sed", "-n", expression, "README.md"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == re.findall(r"^\$ (.+)$", text_of("README.md"), re.MULTILINE)


@pytest.mark.parametrize(
    ("what", "pattern"),
    [
        ("commands and code in blocks, and what they print", r"^```.*?^```$"),
        ("commands in the text", r"`(opsinfo [^`]+)`"),
        ("shown commands", r"<!-- output of: (.+?) -->"),
        ("depths of headings", r"^(#+) "),
        ("items of lists", r"^(\d*[-.]) "),
    ],
    ids=["code blocks", "commands in the text", "shown commands", "headings", "list items"],
)
@pytest.mark.parametrize("pair", PAIRS, ids=[english for english, _ in PAIRS])
def test_pages_in_two_languages_show_the_same_in_the_same_order(pair: tuple[str, str], what: str, pattern: str) -> None:
    found = [re.findall(pattern, text_of(page), re.MULTILINE | re.DOTALL) for page in pair]
    assert found[0] or what in ("items of lists", "shown commands")
    assert found[0] == found[1], what


@pytest.mark.parametrize("pair", [*PAIRS, ("docs/findings.md", "docs/findings.zh-CN.md")], ids=lambda pair: pair[0])
def test_pages_in_two_languages_link_to_each_other(pair: tuple[str, str]) -> None:
    top = [text_of(page)[:300] for page in pair]
    assert f"[中文]({Path(pair[1]).name})" in top[0]
    assert f"[English]({Path(pair[0]).name})" in top[1]


def test_every_link_of_a_page_leads_somewhere() -> None:
    for path in [*ROOT.glob("*.md"), *DOCS.glob("*.md")]:
        text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
            assert (path.parent / target).exists(), f"{path.name}: {target}"


def test_the_data_files_that_pages_name_exist() -> None:
    named = {
        name for page in DOCS.glob("*.md") for name in re.findall(r"`([\w/]+/data/\w+\.json)`", page.read_text("utf-8"))
    }
    assert [name for name in named if not (ROOT / "opsinfo_cli" / name).exists()] == []
    assert "core/cann/data/chips.json" in named


def test_no_page_names_a_package_host_or_a_path_of_one_machine() -> None:
    shown = [
        path for path in ROOT.rglob("*.md") if not any(part.startswith(".") for part in path.relative_to(ROOT).parts)
    ]
    text = "\n".join(path.read_text(encoding="utf-8") for path in shown)
    assert not re.search(r"pypi\.org|files\.pythonhosted|/tmp/|/home/[a-z]", text)


@pytest.mark.parametrize(
    ("link", "pages", "said"),
    [
        ("#nowhere", (), "#nowhere"),
        ("gone.md", (), "gone.md"),
        ("/guide/", (), "/guide/"),
        ("../elsewhere/", (), "../elsewhere/"),
        ("#page", ("hidden.md",), "hidden.md"),
        ("#page", (), ""),
    ],
    ids=["dead anchor", "dead link", "absolute link", "link out of the site", "page left out", "nothing wrong"],
)
def test_the_site_refuses(tmp_path: Path, link: str, pages: tuple[str, ...], said: str) -> None:
    """The step `docs` of CI runs this, after it built the site itself."""
    done = site_of(tmp_path, dict.fromkeys(("index.md", *pages), f"# Page\n\n[there]({link})\n"))
    assert done.returncode == bool(said), done.stderr
    assert said in done.stdout + done.stderr


def test_the_site_has_the_scripts_that_a_page_links_and_not_those_that_make_pages(tmp_path: Path) -> None:
    page = "# Page\n\n[there](checks/compare.py)\n"
    done = site_of(tmp_path, {"index.md": page, "checks/compare.py": "", "generate.py": ""})
    assert done.returncode == 0, done.stderr
    site = tmp_path / "build/site"
    assert ((site / "checks/compare.py").exists(), (site / "generate.py").exists()) == (True, False)


def site_of(folder: Path, files: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Build the site of other files with this configuration."""
    pytest.importorskip("mkdocs", reason="mkdocs builds the site (the extra `docs`)")
    for name, text in files.items():
        path = folder / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    configured = re.sub(r"^nav:\n(?:  .*\n)+", "nav:\n  - index.md\n", text_of("mkdocs.yml"), flags=re.MULTILINE)
    (folder / "mkdocs.yml").write_text(configured)
    words = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
