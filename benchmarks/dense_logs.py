"""Logs in which every line counts, one for each format: `qualify` must read every line."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import count

Line = Callable[[int, random.Random], str]


def _repeated(line: Line) -> Callable[[random.Random], Iterator[str]]:
    def lines(chance: random.Random) -> Iterator[str]:
        return (line(step, chance) for step in count(1))

    return lines


def mindformers(step: int, chance: random.Random) -> str:
    """One flag per step; one in a thousand overflows."""
    return (
        "2024-05-01 12:00:00,123 - mindformers[mindformers/core/callback/callback.py:330] - INFO - "
        f"{{ Epoch:[{(step - 1) // 1000 + 1:3d}/999], step:[{(step - 1) % 1000 + 1:5d}/ 1000], "
        f"loss: {chance.uniform(1, 9):.3f}, per_step_time: {chance.randint(90, 1100)}ms, lr: 1e-05, "
        f"overflow cond: {chance.random() < 0.001}, loss_scale: 65536.0, global_norm: [{chance.random():.4f}], "
        f"train_throughput_per_npu: {chance.uniform(0, 20):.3f}T\n"
    )


def tensorflow(step: int, chance: random.Random) -> str:
    """The script of BERT."""
    flag = int(chance.random() < 0.999)
    loss = chance.uniform(1, 9)
    return f"INFO:tensorflow:Step = {step} total loss = {loss:.4f} Loss scale = 6.5536e+04 isFinite = {flag}\n"


def averaged_flags(step: int, chance: random.Random) -> str:
    """MindSpore's faster_rcnn_ssod: the share of overflows since the line before."""
    share = chance.choice(("0.0", "0.0", "0.0", "0.01", "0.02", "0.11"))
    return (
        f"2022-05-01 12:00:00,123:INFO: epoch[{step // 1000}], iter[{step}], loss:{chance.uniform(1, 9):.4f}, "
        f"overflow: {share}, scaling_sens: {512 << step // 1000 % 4}.0\n"
    )


def mindyolo(step: int, chance: random.Random) -> str:
    """Every step that is logged overflows."""
    return (
        f"2023-05-01 12:00:00,123 [INFO] Epoch 1/300, Step {step}/90000000, imgsize (640, 640), "
        f"loss: {chance.uniform(1, 9):.4f}\n"
        "2023-05-01 12:00:00,123 [WARNING] overflow, drop step, loss scale adjust to 1.0\n"
    )


def fairseq(step: int, chance: random.Random) -> str:
    return (
        f"2021-03-01 10:00:00 | INFO | train_inner | epoch 001: {step:6d} / 9000 loss={chance.uniform(1, 9):.3f}, "
        f"ppl=1100.5, wps=3000, num_updates={step}, lr=1.2e-05, gnorm=2.1, loss_scale=128, train_wall=12\n"
    )


def swin(step: int, chance: random.Random) -> str:
    return (
        f"[2021-10-01 10:00:00 swin] (main.py 235): INFO Train: [{step // 1000}/300][{step % 1000}/1000]\teta 1:07 "
        f"lr 0.000001\ttime 0.4 ({chance.random():.4f})\tloss {chance.uniform(1, 9):.4f} (6.9)\tgrad_norm 1.4 (1.5)\t"
        "loss_scale 65536.0000 (65536.0000)\tmem 7000MB\n"
    )


def mmcv(step: int, chance: random.Random) -> str:
    return (
        f'{{"mode": "train", "epoch": {step // 1000 + 1}, "iter": {step % 1000}, "lr": 0.001, "memory": 5000, '
        f'"data_time": 0.01, "loss_scale": 512.0, "loss": {chance.uniform(1, 9):.5f}, "time": {chance.random():.5f}}}\n'
    )


def deepspeed(step: int, chance: random.Random) -> str:
    return (
        "[2023-04-28 06:51:33,912] [INFO] [logging.py:96:log_dist] [Rank 0] "
        f"step={step}, skipped={step // 100}, lr=[9.65e-06, 9.65e-06], mom=[(0.9, 0.95), (0.9, 0.95)]\n"
    )


def fused_at_its_floor(step: int, chance: random.Random) -> str:
    """A failed run of DeepSpeed without ZeRO on 8 ranks: every step overflows at the same scale."""
    at = "[2023-04-28 06:51:33,912] [INFO]"
    return (
        f"{at} [fused_optimizer.py:344:_update_scale] \nGrad overflow on iteration {step - 1}\n"
        f"{at} [fused_optimizer.py:345:_update_scale] Reducing dynamic loss scale from 1.0 to 1.0\n"
    ) * 8 + (
        f"{at} [logging.py:96:log_dist] [Rank 0] Overflow detected. Skipping step. Attempted loss scale: 1.0, "
        f"reducing to 1.0\n{at} [logging.py:96:log_dist] [Rank 0] step={step}, skipped={step}, lr=[9.65e-06]\n"
    )


def apex_at_its_floor(step: int, chance: random.Random) -> str:
    """A failed run: every step overflows at the same scale."""
    return (
        "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to 1.0\n"
        f"Epoch: [0][{step}/90000000]\tTime 0.345 ({chance.random():.3f})\tData 0.012 (0.010)\tLoss nan (nan)\n"
    )


def torch_npu_at_its_floor(step: int, chance: random.Random) -> str:
    return "Gradient overflow. Skipping step\nLoss scaler reducing loss scale to 1.0\n"


def fp16_optimizer(step: int, chance: random.Random) -> str:
    """Every step overflows, on 8 ranks."""
    return f"Grad overflow on iteration  {step}\nUsing dynamic loss scale of 1\n" * 8


DENSE = {
    "mindformers": (_repeated(mindformers), "overflow cond"),
    "averaged-flags": (_repeated(averaged_flags), "overflow"),
    "mindyolo": (_repeated(mindyolo), "overflow"),
    "tensorflow": (_repeated(tensorflow), "isFinite"),
    "fairseq": (_repeated(fairseq), "num_updates"),
    "swin": (_repeated(swin), "loss_scale"),
    "mmcv": (_repeated(mmcv), "loss_scale"),
    "deepspeed": (_repeated(deepspeed), "skipped="),
    "deepspeed-floor": (_repeated(fused_at_its_floor), "skipped=|dynamic loss scale|Overflow detected"),
    "apex-floor": (_repeated(apex_at_its_floor), "Gradient overflow|Epoch"),
    "torch-npu-floor": (_repeated(torch_npu_at_its_floor), "Gradient overflow|Loss scaler"),
    "fp16-optimizer": (_repeated(fp16_optimizer), "Grad overflow|loss scale"),
}
"""Name -> (what makes its lines, the words that it is compared with)."""
