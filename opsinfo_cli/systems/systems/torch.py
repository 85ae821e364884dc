"""PyTorch's autocast; its lists are compiled in."""

from ..system import System

SYSTEMS = (
    System("torch-amp", "torch.amp, CUDA", "torch", facts="torch_amp", by_overload=True),
    System("torch-npu", "torch_npu autocast", "torch", facts="torch_npu", by_overload=True),
)
