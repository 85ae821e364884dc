"""The readers, best evidence first: formats with a step counter come before those with messages only."""

from __future__ import annotations

from .apex import Apex
from .bmtrain import BMTrain
from .deepspeed import DeepSpeed
from .fairseq import Fairseq
from .fp16_optimizer import Fp16Optimizer
from .megatron import Megatron
from .mindspore import MindSpore
from .paddle import Paddle
from .reader import Reader
from .scale_column import ScaleColumn
from .step_dictionary import StepDictionary
from .tf_npu import TfNpu
from .torch_npu import TorchNpu

READERS: tuple[type[Reader], ...] = (
    Megatron,
    DeepSpeed,
    StepDictionary,
    MindSpore,
    TfNpu,
    Fairseq,
    Fp16Optimizer,
    Apex,
    TorchNpu,
    Paddle,
    BMTrain,
    ScaleColumn,
)
