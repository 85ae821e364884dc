"""The truth of a training log, counted without the package, in a few lines per format.

Each function takes the log and the number of ranks that print, which is known from the description of the system, and
returns (overflowed steps, all steps); None for what the log does not contain. `scales` returns the scales as printed.
"""

from __future__ import annotations

import re
from collections.abc import Callable

Truth = tuple[int | None, int | None]


def last(pattern: bytes, data: bytes) -> int | None:
    found = re.findall(pattern, data)
    return int(found[-1]) if found else None


def fairseq(data: bytes, ranks: int) -> Truth:
    overflows = data.count(b"overflow detected,") // ranks
    return overflows, (last(rb"num_updates[= ](\d+)", data) or 0) + overflows


def apex_messages(data: bytes, ranks: int) -> int:
    return round(data.count(b"Skipping step, loss scaler 0") / ranks)


def gnmt(data: bytes, ranks: int) -> Truth:
    """Whole epochs by their length; the last one is whole too, because the evaluation follows it."""
    lengths = re.findall(rb"TRAIN \[(\d+)\]\[\d+/(\d+)\]", data)
    return apex_messages(data, ranks), (int(lengths[-1][0]) + 1) * int(lengths[-1][1])


def maskrcnn(data: bytes, ranks: int) -> Truth:
    return apex_messages(data, ranks), last(rb"iter: (\d+) ", data)


def rnnt(data: bytes, ranks: int) -> Truth:
    epoch, step, length = re.findall(rb"epoch +(\d+) \| iter +(\d+)/ *(\d+)", data)[-1]
    return apex_messages(data, ranks), (int(epoch) - 1) * int(length) + int(step)


def bert(data: bytes, ranks: int) -> Truth:
    """Steps up to the last evaluation, which is what the log prints."""
    return apex_messages(data, ranks), last(rb"global_steps[\"': =]+(\d+)", data)


def fp16_optimizer(data: bytes, ranks: int) -> Truth:
    return data.count(b"Grad overflow on iteration") // ranks, last(rb"iter: (\d+) ", data)


def megatron(data: bytes, ranks: int) -> Truth:
    skipped = re.findall(rb"skipped iterations: +(\d+) ", data)
    return sum(map(int, skipped)), last(rb"iteration +(\d+)/", data)


def deepspeed(data: bytes, ranks: int) -> Truth:
    """Messages of rank 0; steps from the progress bar of Hugging Face."""
    return data.count(b"OVERFLOW! Rank 0 Skipping"), last(rb"\| (\d+)/\d+ \[[0-9:]+<", data)


def deepspeed_counter(data: bytes, ranks: int) -> Truth:
    return last(rb"step=\d+, skipped=(\d+)", data), last(rb"step=(\d+), skipped", data)


def nothing(data: bytes, ranks: int) -> Truth:
    """The log has no message, no counter, and no flag of each step."""
    return None, None


TRUTHS: dict[str, Callable[[bytes, int], Truth]] = {
    each.__name__: each
    for each in (
        fairseq,
        gnmt,
        maskrcnn,
        rnnt,
        bert,
        fp16_optimizer,
        megatron,
        deepspeed,
        deepspeed_counter,
        nothing,
    )
}

NUMBER = rb"([0-9.]+(?:e[-+]?[0-9]+)?)"
APEX = rb"reducing loss scale to " + NUMBER
DEEPSPEED = rb"reducing to " + NUMBER + rb"|dynamic loss scale from [0-9.]+ to " + NUMBER + rb"\n"
SCALES = {
    "fairseq": rb"setting loss scale to: " + NUMBER + rb"|\bloss_scale\"?[=:| ]{1,2}\"?" + NUMBER,
    **dict.fromkeys(("gnmt", "maskrcnn", "rnnt", "bert"), APEX),
    "megatron": rb"loss scale: " + NUMBER,
    **dict.fromkeys(("deepspeed", "deepspeed_counter"), DEEPSPEED),
    "fp16_optimizer": rb"Using dynamic loss scale of  " + NUMBER + rb"\n",
}


def scales(format_name: str, data: bytes) -> list[float]:
    """Return the scales in order; nothing if a message of `Using dynamic loss scale of` is not a line of its own."""
    whole = re.findall(rb"(?m)^Using dynamic loss scale of  [0-9.]+$", data)
    if format_name not in SCALES or len(whole) < data.count(b"Using dynamic loss scale of"):
        return []
    found = re.finditer(SCALES[format_name], data)
    return [float(next(number for number in match.groups() if number)) for match in found]
