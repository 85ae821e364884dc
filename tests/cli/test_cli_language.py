"""Chinese output: for which locales and terminals."""

from __future__ import annotations

import subprocess
import sys

import pytest
from cli_support import Run

CHINESE, ENGLISH = "引擎", "the engine"


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({"OPSINFO_LANG": "zh"}, CHINESE),
        ({"OPSINFO_LANG": "zh_CN"}, CHINESE),
        ({"OPSINFO_LANG": "zh-Hans"}, CHINESE),
        ({"OPSINFO_LANG": "zh_CN.UTF-8", "LC_ALL": "en_US.UTF-8"}, CHINESE),
        ({"OPSINFO_LANG": "en", "LC_ALL": "zh_CN.UTF-8"}, ENGLISH),
        ({"OPSINFO_LANG": None, "LANG": "zh_CN.UTF-8"}, CHINESE),
        ({"OPSINFO_LANG": "", "LC_MESSAGES": "zh_CN.UTF-8", "LANG": "C.UTF-8"}, CHINESE),
        ({"OPSINFO_LANG": None, "LC_ALL": "C.UTF-8", "LANG": "zh_CN.UTF-8"}, ENGLISH),
        ({"OPSINFO_LANG": None, "LC_MESSAGES": "en_US.UTF-8", "LANG": "zh_CN.UTF-8"}, ENGLISH),
        ({"OPSINFO_LANG": None, "LANG": "de_DE.UTF-8"}, ENGLISH),
        ({"OPSINFO_LANG": None, "LANG": None}, ENGLISH),
    ],
    ids=[
        "OPSINFO_LANG is zh",
        "OPSINFO_LANG is zh_CN",
        "OPSINFO_LANG is zh-Hans",
        "OPSINFO_LANG zh wins over an English locale",
        "OPSINFO_LANG en wins over a Chinese locale",
        "LANG is Chinese",
        "LC_MESSAGES is Chinese",
        "LC_ALL wins over LANG",
        "LC_MESSAGES wins over LANG",
        "LANG is German",
        "nothing is set",
    ],
)
def test_the_language_is_that_of_opsinfo_lang_or_the_locale(
    opsinfo: Run, env: dict[str, str | None], expected: str
) -> None:
    ran = opsinfo("explain", "M003", env={"LC_ALL": None, "LC_MESSAGES": None, **env})
    assert (ran.code, ran.err) == (0, "")
    assert expected in ran.out.splitlines()[0]
    assert ran.out.startswith("M003 contradiction")


@pytest.mark.parametrize("subject", ["shadowed", "mixlists"])
def test_a_gbk_terminal_shows_the_same_chinese(program: list[str], environment: dict[str, str], subject: str) -> None:
    def output(**env: str) -> bytes:
        chosen = {**environment, "OPSINFO_LANG": "", **env}
        done = subprocess.run([*program, "explain", subject], env=chosen, capture_output=True, check=True)
        assert done.stderr == b""
        return done.stdout

    gbk = output(LANG="zh_CN.GBK", LC_ALL="zh_CN.GBK", PYTHONIOENCODING="gbk").decode("gbk")
    assert gbk == output(LC_ALL="zh_CN.UTF-8").decode("utf-8")
    assert "算子" in gbk
    assert "\\u" not in gbk


@pytest.mark.process
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "big5"])
def test_a_terminal_without_the_characters_gets_english(opsinfo: Run, encoding: str) -> None:
    plain = opsinfo("explain", "shadowed")
    by_locale = opsinfo(
        "explain", "shadowed", env={"OPSINFO_LANG": "", "LC_ALL": "zh_CN.UTF-8", "PYTHONIOENCODING": encoding}
    )
    assert (by_locale.out, by_locale.err) == (plain.out, "")
    asked = opsinfo("explain", "shadowed", env={"OPSINFO_LANG": "zh", "PYTHONIOENCODING": encoding})
    assert asked.out == plain.out
    assert "cannot show `zh`" in asked.err
    assert asked.err.count("\n") == 1


def test_an_unknown_language_is_reported(opsinfo: Run) -> None:
    ran = opsinfo("explain", "shadowed", env={"OPSINFO_LANG": "cn"})
    assert ran.code == 0
    assert ENGLISH in ran.out
    assert "`cn`" in ran.err
    assert "zh" in ran.err


def test_lists_and_json_are_english_in_any_language(opsinfo: Run) -> None:
    for words in ((), ("--format", "json"), ("shadowed", "--format", "json")):
        chinese = opsinfo("explain", *words, env={"OPSINFO_LANG": "zh"})
        assert (chinese.out, chinese.err) == (opsinfo("explain", *words).out, "")
        assert chinese.out.isascii()


def test_chinese_texts_are_loaded_only_on_request(environment: dict[str, str]) -> None:
    code = (
        "import contextlib, io, sys\n"
        "from opsinfo_cli.app import main\n"
        "paths = []\n"
        "sys.addaudithook(lambda event, words: event == 'open' and paths.append(str(words[0])))\n"
        "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit): main(['explain', 'M003'])\n"
        "print(any(path.endswith('zh.toml') for path in paths))\n"
    )
    for language, loaded in (("en", "False\n"), ("zh", "True\n")):
        env = {**environment, "OPSINFO_LANG": language}
        assert subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True).stdout == loaded
