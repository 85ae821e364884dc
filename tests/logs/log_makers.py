"""Logs in the form of each stack, with overflows at chosen steps."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

Steps = Collection[int]
Maker = Callable[[int, Steps], str]


class Step(NamedTuple):
    """:param over: whether it overflows
    :param before: the scale used in it
    :param after: the scale after it
    """

    number: int
    over: bool
    before: float
    after: float


def scales(steps: int, overflows: Steps, start: float = 65536.0) -> Iterator[Step]:
    scale = start
    for number in range(1, steps + 1):
        after = scale / 2 if number in overflows else scale
        yield Step(number, number in overflows, scale, after)
        scale = after


def messages(
    steps: int, overflows: Steps, overflow: Callable[[Step], str], progress: Callable[[Step], str], every: int = 10
) -> str:
    """A message at each overflow, and a line of progress every few steps."""
    parts = []
    for step in scales(steps, overflows):
        if step.over:
            parts.append(overflow(step))
        if step.number % every == 0:
            parts.append(progress(step))
    return "".join(parts)


OPTIONS = "opt_level              : {level}\ncast_model_type        : None\nloss_scale             : {scale}\n"


def apex_block(level: str = "O1", scale: str = "dynamic") -> str:
    defaults = OPTIONS.format(level=level, scale="dynamic")
    return (
        f"Selected optimization level {level}:  ...\n\nDefaults for this optimization level are:\n{defaults}"
        "Processing user overrides (additional kwargs that are not None)...\n"
        f"After processing overrides, optimization options are:\n{OPTIONS.format(level=level, scale=scale)}"
    )


def apex(steps: int, overflows: Steps, ranks: int = 1) -> str:
    return apex_block() + messages(
        steps,
        overflows,
        lambda at: f"Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to {at.after}\n" * ranks,
        lambda at: f"Epoch: [0][{at.number}/{steps}]\tTime 0.345 (0.350)\tLoss 2.1 (2.2)\n",
    )


def torch_npu(steps: int, overflows: Steps, ranks: int = 1) -> str:
    def overflow(at: Step) -> str:
        reduces = f"Loss scaler reducing loss scale to {at.after}"
        return "Gradient overflow. Skipping step" * ranks + "\n" + reduces * ranks + "\n"

    def progress(at: Step) -> str:
        return f"\r {100 * at.number // steps}%|███  | {at.number}/{steps} [13:55:57<86:19:20, 1.4it/s]"

    return messages(steps, overflows, overflow, progress, 50) + "\n"


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
    return messages(
        steps,
        overflows,
        lambda at: f"Found inf or nan, current scale is: {at.before}, decrease to: {at.before}*0.5\n",
        lambda at: f"[2024/01/01 10:00:00] ppcls INFO: global_step: {at.number}, lr: 0.01, loss: 2.1\n",
    )


def mindformers(steps: int, overflows: Steps, each: int = 100) -> str:
    return "".join(
        "2024-05-01 12:00:00,123 - mindformers[mindformers/core/callback/callback.py:330] - INFO - "
        f"{{ Epoch:[{(step - 1) // each + 1:3d}/{steps // each:3d}], step:[{(step - 1) % each + 1:5d}/{each:5d}], "
        f"loss: 2.123, per_step_time: 345ms, lr: 1e-05, overflow cond: {over}, loss_scale: {before}, "
        "global_norm: [1.2], train_throughput_per_npu: 12.3T\n"
        for step, over, before, _ in scales(steps, overflows)
    )


def tf_hook(steps: int, overflows: Steps) -> str:
    return "".join(
        f"Find overflow in this step, skip apply gradients, loss scale value={before:.0f}\n"
        if over
        else f"Apply gradients, loss scale value={before:.0f}\n"
        for _, over, before, _ in scales(steps, overflows)
    )


def nvidia_bert(steps: int, overflows: Steps) -> str:
    parts, skipped = [], 0
    for step, over, _, _ in scales(steps, overflows):
        skipped += over
        parts.append(
            f"0: {{'training_steps': {step}, 'average_loss': 1.4, 'step_loss': 1.5, 'learning_rate': 0.00035, 'seq/s': "
            f"824.9, 'global_steps': {step - skipped}, 'samples_trained': 0, 'skipped_steps': {skipped}, "
            "'timestamp': 1593138513.4}\n"
        )
    return "".join(parts)


def fp16_optimizer(steps: int, overflows: Steps, ranks: int = 8) -> str:
    def overflow(at: Step) -> str:
        return f"Grad overflow on iteration  {at.number}\nUsing dynamic loss scale of {at.after}\n" * ranks

    def progress(at: Step) -> str:
        line = f"eta: 4:44:47  iter: {at.number}  loss: 2.2191 (3.9322)  lr: 0.002000"
        return f"2020-06-20 trainer INFO: {line}\n"

    return messages(steps, overflows, overflow, progress, 20)


def gnmt(steps: int, overflows: Steps, ranks: int = 16) -> str:
    parts = [apex_block("O2")]
    for step, over, _, after in scales(steps, overflows):
        if (step - 1) % 10 == 0 or step == steps:
            parts.append(f"0: TRAIN [0][{step - 1}/{steps}]\tTime 0.354 (0.354)\tTok/s 3661 (3661)\tLR 4.500e-05\n")
        if over:
            parts += [f"Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to {after}\n"] * ranks
    parts.append("0: TEST [0][0/1]\tTime 0.145 (0.145)\tDecoder iters 61.0 (61.0)\tTok/s 6769 (6769)\n")
    return "".join(parts)


def bmtrain(steps: int, overflows: Steps) -> str:
    return messages(
        steps,
        overflows,
        lambda at: f"Gradient overflow, change scale from {at.before:f} to {at.after:f}\n",
        lambda at: f"| Iter: {at.number:6d} | loss: 2.1 | lr: 3e-05, scale: {at.after:10.4f} | time: 0.5\n",
    )


def openai(steps: int, overflows: Steps) -> str:
    """A table after each ten steps, with the mean of the exponent that it shows."""
    parts, exponent, sum_of_ten = [], 16.0, 0.0
    for number in range(1, steps + 1):
        sum_of_ten += exponent
        if number in overflows:
            exponent -= 1
            parts.append(f"Found NaN, decreased lg_loss_scale to {exponent}\n")
        else:
            exponent += 0.001
        if number % 10 == 0:
            rows = (("lg_loss_scale", sum_of_ten / 10), ("loss", 2.1), ("step", float(number)))
            parts += ["-" * 29 + "\n", *(f"| {name:13} | {value:<9.3g} |\n" for name, value in rows), "-" * 29 + "\n"]
            sum_of_ten = 0.0
    return "".join(parts)


MAKERS: dict[str, tuple[str, Maker]] = {
    "apex": ("apex", apex),
    "torch_npu": ("torch_npu", torch_npu),
    "deepspeed": ("deepspeed", deepspeed),
    "megatron": ("megatron", megatron),
    "fairseq": ("fairseq", fairseq),
    "paddle": ("paddle", paddle),
    "mindformers": ("mindspore", mindformers),
    "tf-hook": ("tf_npu", tf_hook),
    "nvidia-bert": ("named_values", nvidia_bert),
    "fp16-optimizer": ("fp16_optimizer", fp16_optimizer),
    "gnmt": ("apex", gnmt),
    "bmtrain": ("bmtrain", bmtrain),
    "openai": ("openai", openai),
}
"""Name -> (the reader for it, its maker)."""
