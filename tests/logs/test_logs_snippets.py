"""What the lines of a snippet print is what `qualify` reads: they run with stand-ins for the frameworks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from io import StringIO
from types import SimpleNamespace
from typing import Any

import pytest
from log_reading import evidence_of

from opsinfo_cli.core.cann.precision_mode import MODES
from opsinfo_cli.core.cann.snippet import default_mode, snippet, snippet_names
from opsinfo_cli.errors import UsageFault

STEPS = 40
OVERFLOWS = (3, 4, 11)


def scales() -> Iterator[tuple[int, bool, float]]:
    """The steps of a run: number, whether it overflowed, the scale after it."""
    scale = 65536.0
    for step in range(1, STEPS + 1):
        scale /= 2.0 if step in OVERFLOWS else 1.0
        yield step, step in OVERFLOWS, scale


def tf1(lines: str, run: dict[str, Any]) -> Callable[[int, bool, float], None]:
    train = SimpleNamespace(SessionRunHook=object, SessionRunArgs=list)
    exec(lines, run | {"tf": SimpleNamespace(compat=SimpleNamespace(v1=SimpleNamespace(train=train)))}, run)
    hook = run["PrintOverflow"]()
    assert hook.before_run(None) == ["overflow_status_reduce_all:0", "loss_scale:0"]
    return lambda step, overflow, scale: hook.after_run(None, SimpleNamespace(results=[not overflow, scale]))


def tf2(lines: str, run: dict[str, Any]) -> Callable[[int, bool, float], None]:
    callbacks = SimpleNamespace(Callback=object)
    exec(lines, run | {"tf": SimpleNamespace(keras=SimpleNamespace(callbacks=callbacks))}, run)
    callback = run["PrintScale"]()

    def step_end(step: int, overflow: bool, scale: float) -> None:
        callback.model = SimpleNamespace(optimizer=SimpleNamespace(loss_scale=scale))
        callback.on_train_batch_end(step)

    return step_end


def mindspore(lines: str, run: dict[str, Any]) -> Callable[[int, bool, float], None]:
    exec(lines, run | {"ms": SimpleNamespace(train=SimpleNamespace(Callback=object))}, run)

    def step_end(step: int, overflow: bool, scale: float) -> None:
        arguments = SimpleNamespace(cur_step_num=step, net_outputs=(0.5, overflow, scale))
        run["PrintOverflow"]().step_end(SimpleNamespace(original_args=lambda: arguments))

    return step_end


def in_a_loop(lines: str, run: dict[str, Any]) -> Callable[[int, bool, float], None]:
    def step_end(step: int, overflow: bool, scale: float) -> None:
        scaler = SimpleNamespace(get_scale=lambda: scale)
        amp = SimpleNamespace(state_dict=lambda: {"loss_scaler0": {"loss_scale": scale}})
        exec(lines, {"step": step, "scaler": scaler, "amp": amp})

    return step_end


RUNS = {"tf1": tf1, "tf2": tf2, "mindspore": mindspore, "apex": in_a_loop, "torch": in_a_loop}


@pytest.mark.parametrize("name", snippet_names())
def test_a_run_with_the_lines_prints_what_qualify_counts(name: str) -> None:
    lines = snippet(name, default_mode(name), None).prints
    assert bool(lines) is (name in RUNS)
    if not lines:
        return
    step_end = RUNS[name](lines, {})
    log = StringIO()
    with redirect_stdout(log):
        for step in scales():
            step_end(*step)
    found = evidence_of(log.getvalue().encode())
    assert (found.count.low, found.count.high, found.count.steps) == (len(OVERFLOWS), len(OVERFLOWS), STEPS)
    assert found.count.proof


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("torch", "Gradient overflow. Skipping step\nLoss scaler reducing loss scale to {}\n"),
        ("apex", "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to {}\n"),
    ],
)
def test_the_messages_of_the_scaler_itself_are_not_counted_twice(name: str, message: str) -> None:
    step_end = RUNS[name](snippet(name, default_mode(name), None).prints, {})
    log = StringIO()
    with redirect_stdout(log):
        for step, overflow, scale in scales():
            print(message.format(scale) if overflow else "", end="")
            step_end(step, overflow, scale)
    found = evidence_of(log.getvalue().encode())
    assert (found.count.low, found.count.high, found.count.steps) == (len(OVERFLOWS), len(OVERFLOWS), STEPS)


def test_bfloat16_prints_no_scale() -> None:
    assert snippet("torch", MODES["mixed_bfloat16"], None).prints == ""


@pytest.mark.parametrize("name", ["apex", "mindspore"])
@pytest.mark.parametrize("level", ["O0", "O1", "O2", "O3"])
def test_every_level_of_a_system_can_be_set(name: str, level: str) -> None:
    assert f'level="{level}"' in snippet(name, default_mode(name), None, level).text


def test_a_level_that_a_system_lacks_is_refused() -> None:
    assert 'amp_level="auto"' in snippet("mindspore", default_mode("mindspore"), None, "auto").text
    with pytest.raises(UsageFault, match="apex has no level `auto`"):
        snippet("apex", default_mode("apex"), None, "auto")
