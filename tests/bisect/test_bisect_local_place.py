"""Trials as processes of this machine."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from opsinfo_cli.bisect.places import local
from opsinfo_cli.bisect.places.local import LocalPlace
from opsinfo_cli.bisect.places.place import Trial
from opsinfo_cli.errors import Stopped

pytestmark = pytest.mark.process


@pytest.fixture
def stops() -> Iterator[None]:
    """Have SIGTERM raise, as the program does."""

    def stop(number: int, _: FrameType | None) -> None:
        raise Stopped(number)

    before = signal.signal(signal.SIGTERM, stop)
    yield
    signal.signal(signal.SIGTERM, before)


def test_a_process_that_is_being_started_when_a_signal_comes_is_ended_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stops: None
) -> None:
    started: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen

    def interrupted(*arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
        started.append(popen(*arguments, **options))
        os.kill(os.getpid(), signal.SIGTERM)
        return started[-1]

    monkeypatch.setattr(local.subprocess, "Popen", interrupted)
    place = LocalPlace(os.environ)
    with pytest.raises(Stopped):
        place.start(Trial(1, frozenset(), {}, str(tmp_path), ["sleep", "600"], None))
    place.stop()
    assert started[0].poll() == -signal.SIGKILL


def test_a_trial_does_not_inherit_blocked_signals(tmp_path: Path, stops: None) -> None:
    place = LocalPlace(os.environ)
    place.start(Trial(1, frozenset(), {}, str(tmp_path), ["sh", "-c", "kill -TERM $$; sleep 600"], None))
    [(_, end)] = place.wait(60)
    assert end.signal == signal.SIGTERM
