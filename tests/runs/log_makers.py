"""Logs as each stack prints them, with overflows where a test wants them (interop facts, section 5)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

Steps = Collection[int]
Maker = Callable[[int, Steps], str]


def scales(steps: int, overflows: Steps, start: float = 65536.0) -> Iterator[tuple[int, bool, float, float]]:
    """(step, overflow, scale used in it, scale after it)"""
    scale = start
    for step in range(1, steps + 1):
        after = scale / 2 if step in overflows else scale
        yield step, step in overflows, scale, after
        scale = after


OPTIONS = "opt_level              : {level}\ncast_model_type        : None\nloss_scale             : {scale}\n"


def apex_block(level: str = "O1", scale: str = "dynamic") -> str:
    defaults = OPTIONS.format(level=level, scale="dynamic")
    return (
        f"Selected optimization level {level}:  ...\n\nDefaults for this optimization level are:\n{defaults}"
        "Processing user overrides (additional kwargs that are not None)...\n"
        f"After processing overrides, optimization options are:\n{OPTIONS.format(level=level, scale=scale)}"
    )


def apex(steps: int, overflows: Steps, ranks: int = 1) -> str:
    parts = [apex_block()]
    for step, over, _, after in scales(steps, overflows):
        if over:
            parts += [f"Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to {after}\n"] * ranks
        if step % 10 == 0:
            parts.append(f"Epoch: [0][{step}/{steps}]\tTime 0.345 (0.350)\tLoss 2.1 (2.2)\n")
    return "".join(parts)


def torch_npu(steps: int, overflows: Steps, ranks: int = 1) -> str:
    parts = []
    for step, over, _, after in scales(steps, overflows):
        if over:
            parts.append("Gradient overflow. Skipping step" * ranks + "\n")
            parts.append(f"Loss scaler reducing loss scale to {after}" * ranks + "\n")
        if step % 50 == 0:
            parts.append(f"\r {100 * step // steps}%|███  | {step}/{steps} [13:55:57<86:19:20, 1.4it/s]")
    return "".join(parts) + "\n"


def deepspeed(steps: int, overflows: Steps) -> str:
    parts, skipped = [], 0
    for step, over, before, after in scales(steps, overflows):
        if over:
            skipped += 1
            parts.append(
                "[2023-04-28 06:51:30,648] [INFO] [loss_scaler.py:181:update_scale] [deepspeed] OVERFLOW! Rank 0 "
                f"Skipping step. Attempted loss scale: {before:.0f}, reducing to {after:.0f}\n"
            )
        if step % 10 == 0:
            parts.append(
                "[2023-04-28 06:51:33,912] [INFO] [logging.py:96:log_dist] [Rank 0] "
                f"step={step}, skipped={skipped}, lr=[9.65e-06, 9.65e-06], mom=[(0.9, 0.95), (0.9, 0.95)]\n"
            )
    return "".join(parts)


def megatron(steps: int, overflows: Steps, interval: int = 10, first: int = 1) -> str:
    parts = ["  fp16 ............................................ True\n"]
    parts.append("  loss_scale ...................................... None\n")
    skipped = 0
    for step, over, _, after in scales(steps, overflows, 4294967296.0):
        skipped += over
        if step % interval == 0 and step >= first:
            parts.append(
                f" iteration {step:8d}/{steps:8d} | consumed samples: {step * 8:12d} | elapsed time per iteration (ms)"
                f": 126.3 | learning rate: 1.365E-05 | global batch size: {8:5d} | lm loss: 2.382640E+00 | loss scale: "
                f"{after:.1f} | grad norm: 0.227 | number of skipped iterations: {skipped:3d} | "
                "number of nan iterations:   0 |\n"
            )
        skipped = 0 if step % interval == 0 else skipped
    return "".join(parts)


def fairseq(steps: int, overflows: Steps) -> str:
    parts, updates = [], 0
    for step, over, _, after in scales(steps, overflows, 128.0):
        updates += not over
        if over:
            parts.append(
                "2021-03-01 10:00:00 | INFO | fairseq.trainer | NOTE: gradient overflow detected, ignoring gradient, "
                f"setting loss scale to: {after}\n"
            )
        elif updates % 10 == 0 or step == steps:
            parts.append(
                f"2021-03-01 10:00:00 | INFO | train_inner | epoch 001: {updates:6d} / 9000 loss=10.1, ppl=1100.5, "
                f"wps=3000, num_updates={updates}, lr=1.2e-05, gnorm=2.1, loss_scale={after:g}, train_wall=12\n"
            )
    return "".join(parts)


def paddle(steps: int, overflows: Steps) -> str:
    parts = []
    for step, over, before, _ in scales(steps, overflows):
        if over:
            parts.append(f"Found inf or nan, current scale is: {before}, decrease to: {before}*0.5\n")
        if step % 10 == 0:
            parts.append(f"[2024/01/01 10:00:00] ppcls INFO: global_step: {step}, lr: 0.01, loss: 2.1\n")
    return "".join(parts)


def mindformers(steps: int, overflows: Steps, each: int = 100) -> str:
    return "".join(
        "2024-05-01 12:00:00,123 - mindformers[mindformers/core/callback/callback.py:330] - INFO - "
        f"{{ Epoch:[{(step - 1) // each + 1:3d}/{steps // each:3d}], step:[{(step - 1) % each + 1:5d}/{each:5d}], "
        f"loss: 2.123, per_step_time: 345ms, lr: 1e-05, overflow cond: {over}, loss_scale: {before}, "
        "global_norm: [1.2], train_throughput_per_npu: 12.3T\n"
        for step, over, before, _ in scales(steps, overflows)
    )


def mindspore_bert(steps: int, overflows: Steps) -> str:
    return "".join(
        f"epoch: 1, current epoch percent: 0.100, step: {step}, outputs are (Tensor(shape=[1], dtype=Float32, "
        f"[ 1.06e+01]), Tensor(shape=[], dtype=Bool, {over}), Tensor(shape=[], dtype=Float32, {before:g}))\n"
        for step, over, before, _ in scales(steps, overflows)
    )


def mindspore_words(steps: int, overflows: Steps) -> str:
    return "".join(
        f"epoch: 1 step: {step}, loss is 1.2, overflow is {over}, loss scale is {before}\n"
        for step, over, before, _ in scales(steps, overflows)
    )


def tf_hourglass(steps: int, overflows: Steps) -> str:
    return "".join(
        f"global_step:{step},lossscale:{before},overflow_status_reduce_all:{not over}\n"
        for step, over, before, _ in scales(steps, overflows)
    )


def tf_bert(steps: int, overflows: Steps) -> str:
    return "".join(
        f"INFO:tensorflow:Step = {step} total loss = 1.2 Loss scale = {before:.4e} isFinite = {int(not over)}\n"
        for step, over, before, _ in scales(steps, overflows)
    )


def tf_hook(steps: int, overflows: Steps) -> str:
    return "".join(
        f"Find overflow in this step, skip apply gradients, loss scale value={before:.0f}\n"
        if over
        else f"Apply gradients, loss scale value={before:.0f}\n"
        for _, over, before, _ in scales(steps, overflows)
    )


MAKERS: dict[str, tuple[str, Maker]] = {
    "apex": ("apex", apex),
    "torch_npu": ("torch_npu", torch_npu),
    "deepspeed": ("deepspeed", deepspeed),
    "megatron": ("megatron", megatron),
    "fairseq": ("fairseq", fairseq),
    "paddle": ("paddle", paddle),
    "mindformers": ("mindspore", mindformers),
    "mindspore-bert": ("mindspore", mindspore_bert),
    "mindspore-words": ("mindspore", mindspore_words),
    "tf-hourglass": ("tf_npu", tf_hourglass),
    "tf-bert": ("tf_npu", tf_bert),
    "tf-hook": ("tf_npu", tf_hook),
}
"""Name -> (the reader that must understand it, what makes it)."""
