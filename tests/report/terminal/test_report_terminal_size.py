"""The size of a terminal, if the terminal does not know it and if the caller overrides it."""

from __future__ import annotations

import shutil

import pytest

from opsinfo_cli.report.terminal.output import terminal_size


@pytest.mark.parametrize(
    ("known", "size"), [((0, 0), (80, 24)), ((100, 0), (100, 24)), ((0, 50), (80, 50)), ((100, 50), (100, 50))]
)
def test_a_size_that_is_not_known_is_the_usual_one(
    monkeypatch: pytest.MonkeyPatch, known: tuple[int, int], size: tuple[int, int]
) -> None:
    """A terminal of a container or a remote command often has the size 0."""
    monkeypatch.setattr(shutil, "get_terminal_size", lambda: known)
    assert terminal_size() == size


def test_the_environment_overrides_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "33")
    monkeypatch.setenv("LINES", "44")
    assert terminal_size() == (33, 44)
