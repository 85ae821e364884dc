"""Lines of logs, and windows of them, as examples for properties."""

from __future__ import annotations

from hypothesis import strategies as st

DICTIONARY = b"0: {'training_steps': %d, 'loss': 1.5, 'global_steps': %d, 'skipped_steps': %d, 'x': 0}"
UPDATES = b"0: {'global_steps': %d, 'skipped_steps': %d}"
MEGATRON = b" iteration %8d/ 900 | lr: 1E-05 | loss scale: %s | grad norm: 0.2 | number of skipped iterations: %3d |"
NO_SCALE = b" iteration %8d/ 900 | lr: 1E-05 | number of skipped iterations: %3d |"
ODD = [
    b"'skipped_steps': 3",
    b"'training_steps': 7",
    b"'global_steps': 8 then text",
    b"skipped_steps unknown",
    b" iteration 5 | nothing",
    b"number of skipped iterations: 9",
    b"loss scale: 12.0",
    b"",
]

steps = st.integers(1, 40)
skips = st.sampled_from([0, 0, 0, 1, 2])
dictionaries = st.one_of(
    st.builds(lambda step, skip: DICTIONARY % (step, step - skip, skip), steps, skips), st.sampled_from(ODD)
)
updates = st.one_of(st.builds(lambda step, skip: UPDATES % (step, skip), steps, skips), st.sampled_from(ODD))
scales = st.sampled_from([b"65536.0", b"65536.0", b"32768.0", b"-1.0", b"inf"])
megatrons = st.one_of(
    st.builds(lambda step, scale, skip: MEGATRON % (step, scale, skip), steps, scales, skips),
    st.builds(lambda step, skip: NO_SCALE % (step, skip), steps, skips),
    st.sampled_from(ODD),
)
ends = st.sampled_from([b"\n", b"\n", b"\n", b" ", b"\r\n"])


steady = st.builds(
    lambda kind, start, skip, many: b"".join(
        {0: DICTIONARY % (at, at, skip), 1: UPDATES % (at, skip), 2: MEGATRON % (at, b"65536.0", skip)}[kind] + b"\n"
        for at in range(start, start + many)
    ),
    st.integers(0, 2),
    steps,
    skips,
    st.integers(1, 5),
)


MINDFORMERS = (
    b"- INFO - { Epoch:[%3d/  3], step:[%5d/%5d], loss: 2.3, per_step_time: 512ms, overflow cond: %s, loss_scale: %s, "
    b"global_norm: [1.2]"
)
flags = st.builds(
    lambda epoch, step, total, over, scale: MINDFORMERS % (epoch, step, total, over, scale),
    st.integers(1, 2),
    steps,
    st.sampled_from([40, 40, 40, 50]),
    st.sampled_from([b"False", b"False", b"False", b"True"]),
    scales,
)
flagged = st.one_of(
    flags,
    st.sampled_from([b"step: 3, overflow: True, scale: 4", b"iter 7 ", b"Epoch 9 step:[2/9], ", b"scale: 3 ", b""]),
)
clean = st.builds(
    lambda epoch, start, many: b"".join(
        MINDFORMERS % (epoch, at, 40, b"False", b"1024.0") + b"\n" for at in range(start, start + many)
    ),
    st.integers(1, 3),
    steps,
    st.integers(1, 5),
)


def windows_of(line: st.SearchStrategy[bytes]) -> st.SearchStrategy[list[bytes]]:
    """Windows of lines, some of them with steps in order and run together in one line or not."""
    text = st.lists(st.tuples(line, ends), max_size=8).map(lambda pairs: b"".join(a + b for a, b in pairs))
    return st.lists(st.one_of(text, steady, clean), max_size=6)


others = st.sampled_from(
    [
        b"epoch: 1 step: 3, outputs are (Tensor(shape=[1], dtype=Float32, [ 1.0]), Tensor(shape=[], dtype=Bool, True), "
        b"Tensor(shape=[], dtype=Float32, 65536))",
        b"step: 4, overflow: 0.11, scaling_sens: 100.5",
        b"step: 5, overflow: 1, scale: 8",
        b"overflow, drop step, loss scale adjust to 8.0",
        b"global_step:7,lossscale:8.0,overflow_status_reduce_all:False",
        b"Step = 8 total loss = 1.2 Loss scale = 8.0 isFinite = 0",
        b"Step = 9 total loss = 1.2 Loss scale = 4.0 isFinite = 5",
        b"Find overflow in this step, skip apply gradients, loss scale value=8",
        b"Apply gradients, loss scale value=8 Apply gradients, loss scale value=4",
        b"| epoch 001:     3 / 90 loss=1, num_updates=3, lr=1, loss_scale=8.0, wall=2",
        b"| epoch 001:     4 / 90 loss=1, num_updates=4, lr=1, wall=2",
        b"| WARNING: overflow detected, setting loss scale to: 8.0",
        b"Train: [0/3][4/9] loss_scale 8.0 (9.0)",
        b'{"mode": "train", "iter": 3, "loss_scale": 8.0}',
        b"| 3/40 [00:01, 2.1it/s] loss_scale 8.0",
        b"Grad overflow on iteration  3",
        b"Grad overflow on iteration  35",
        b"step=3, skipped=1",
    ]
)

LINES = st.one_of(dictionaries, updates, megatrons, flagged, others)
