"""Made-up logs in which each message shows another scale than the one before, so that each is a change to follow."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import count, pairwise

_AT = "[2023-04-28 06:51:33,912] [INFO]"
_ZERO = _AT + " [loss_scaler.py:183:update_scale] [deepspeed] OVERFLOW! Rank 0 Skipping step. "
_ATTEMPTED = "Attempted loss scale: {before}, reducing to {after}\n"
_FUSED = _AT + " [fused_optimizer.py:345:_update_scale] "
_FAIRSEQ = "2021-03-01 10:00:00 | INFO | "
_NOTE = (
    _FAIRSEQ + "fairseq.trainer | NOTE: gradient overflow detected, ignoring gradient, setting loss scale to: {after}\n"
)
_UPDATE = (
    _FAIRSEQ + "train_inner | epoch 001: {step} / 9000 loss=3.1, num_updates={step}, loss_scale={after}, wall=12\n"
)
_APEX = "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to {after}\n"
_NOT_RUN = "[2023-05-01 10:00:00] [ WARNING] - optimizer not run, scale_before: {before}, scale_after: {after}\n"

MOVING = {
    "apex": _APEX,
    "apex with steps": _APEX + "Epoch: [0][{step}/90000000]\tTime 0.345 (0.345)\tLoss nan (nan)\n",
    "torch_npu": "Gradient overflow. Skipping step\nLoss scaler reducing loss scale to {after}\n",
    "torch_npu, falls and rises": "Loss scaler reducing loss scale to {after}\n"
    "Loss scaler increasing loss scale to {before}\n",
    "fp16_optimizer": "Grad overflow on iteration  {step}\nUsing dynamic loss scale of {after}\n",
    "fairseq, messages": _NOTE,
    "fairseq, old messages": "| WARNING: overflow detected, setting loss scale to: {after}\n",
    "fairseq, updates": _UPDATE,
    "fairseq, both": _NOTE + _UPDATE,
    "bmtrain": "Gradient overflow, change scale from {before} to {after}\n",
    "paddle": "Found inf or nan, current scale is: {before}, decrease to: {before}*0.5\n",
    "paddlenlp": _NOT_RUN,
    "paddlenlp with steps": _NOT_RUN + "[2023-05-01 10:00:00] [    INFO] - loss: 9.1, global_step: {step}\n",
    "deepspeed": _ZERO + _ATTEMPTED,
    "deepspeed with a counter": _ZERO + _ATTEMPTED + _AT + " [Rank 0] step={step}, skipped={step}, lr=[9.65e-06]\n",
    "deepspeed with steps": _ZERO + _ATTEMPTED + "steps: {step} loss: 3.1 iter time (s): 1.2\n",
    "deepspeed, fused": _FUSED
    + "Reducing dynamic loss scale from {before} to {after}\n"
    + _AT
    + " [Rank 0] Overflow detected. Skipping step. "
    + _ATTEMPTED,
    "deepspeed, unfused": _AT + " fp16 dynamic loss scale overflow! Skipping step. " + _ATTEMPTED,
    "swin": "INFO Train: [3/300][{step}/90000000]\tloss 3.1 (6.9)\tloss_scale {after} ({after})\tmem 7000MB\n",
    "mmcv": '{{"mode": "train", "epoch": 1, "iter": {step}, "lr": 0.001, "loss_scale": {after}, "loss": 3.1}}\n',
    "megatron": " iteration {step}/90000000 | loss scale: {after} | number of skipped iterations:   0 |\n",
    "mindspore": "INFO: epoch[3], iter[{step}], loss:3.1, overflow: 0.0, scaling_sens: {after}\n",
    "mindformers": "- INFO - {{ Epoch:[1/9], step:[{step}/90000000], overflow cond: True, loss_scale: {after}\n",
    "mindyolo": "2023-05-01 12:00:00,123 [WARNING] overflow, drop step, loss scale adjust to {after}\n",
    "tensorflow": "INFO:tensorflow:Step = {step} total loss = 3.1 Loss scale = {after} isFinite = 0\n",
}
"""Format -> its lines for a step, with the scale before and after it."""


def in_turn(chance: random.Random) -> Iterator[float]:
    while True:
        yield from (2.0**power for power in range(16, 6, -1))


def walk(chance: random.Random) -> Iterator[float]:
    power = 12
    while True:
        power = min(24, max(0, power + chance.choice((-1, 1))))
        yield 2.0**power


def at_random(chance: random.Random) -> Iterator[float]:
    while True:
        yield 2.0 ** chance.randint(0, 24)


def never_twice(chance: random.Random) -> Iterator[float]:
    return (1e9 - 7.5 * number for number in count())


MOVES: dict[str, Callable[[random.Random], Iterator[float]]] = {
    "in turn": in_turn,
    "walk": walk,
    "random": at_random,
    "never twice": never_twice,
}


def moving(name: str, moves: str, chance: random.Random) -> Iterator[str]:
    """Yield the lines of a format with scales that move in some way."""
    for step, (before, after) in enumerate(pairwise(MOVES[moves](chance)), 1):
        yield MOVING[name].format(step=step, before=before, after=after)
