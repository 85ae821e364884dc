"""The readers, most telling first: what counts its own steps goes before what only complains."""

from __future__ import annotations

from .apex import Apex
from .deepspeed import DeepSpeed
from .fairseq import Fairseq
from .megatron import Megatron
from .mindspore import MindSpore
from .paddle import Paddle
from .reader import Evidence, Reader
from .tf_npu import TfNpu
from .torch_npu import TorchNpu

__all__ = ["READERS", "Evidence", "Reader"]

READERS: tuple[type[Reader], ...] = (Megatron, DeepSpeed, MindSpore, TfNpu, Fairseq, Apex, TorchNpu, Paddle)
