"""Hugging Face's Trainer, also below LLaMA-Factory: a dictionary of loss and gradient norm every few steps."""

from __future__ import annotations

import re

from ..count import Overflows
from ..log_format import LogFormat, Strength
from ..steps import Steps

_LOSS = re.compile(rb"[\"'](train_|eval_)?loss[\"']: ?[\"']?([^\s\"',}]{1,30})")
_OTHERS = re.compile(rb"[\"'](?:learning_rate|lr|epoch|current_steps|grad_norm)[\"']: ")
_GRADIENT = re.compile(rb"grad_norm[\"']: ?[\"']?[\d.]*[1-9]")
"""A loss that is not a number has no gradient that is one above 0."""
_NOT_OURS = (b'"mode"', b"num_updates")
"""MMCV and fairseq have such dictionaries, too."""


class HuggingFaceTrainer(LogFormat):
    """`{'loss': 1.23, 'grad_norm': 0.7, 'learning_rate': 1e-05, 'epoch': 0.1}`, since version 5 with values in quotes;
    LLaMA-Factory's `trainer_log.jsonl` (`{"current_steps": 5, ..., "loss": 1.23, "lr": 1e-05, ...}`); the
    `log_history` of `trainer_state.json`; ms-swift's `'global_step/max_steps': '5/93'` in the dictionary.

    Source: huggingface/transformers, src/transformers/trainer.py, _maybe_log_save_evaluate, and trainer_callback.py,
    ProgressCallback.on_log and TrainerState; hiyouga/LLaMA-Factory, src/llamafactory/train/callbacks.py, LogCallback;
    modelscope/ms-swift, swift/trainers, whose callback adds the step.

    The trainer prints no overflow. With `logging_nan_inf_filter`, its default, a loss that is NaN counts as the average
    of the other steps of its entry, so that an entry of such steps alone has a loss of exactly 0.0.
    """

    name = "hf_trainer"
    reads = "Hugging Face's Trainer, LLaMA-Factory (`{'loss': ..., 'grad_norm': ..., 'learning_rate': ...}`)"
    strength = Strength.LOSS
    marks = (b"loss'", b'loss"', b'"log_history"')

    def __init__(self) -> None:
        super().__init__()
        self._is_state = False
        self.found.silent = "Hugging Face's trainer prints no overflow"

    def line(self, line: bytes, steps: Steps, at: int, copies: int) -> None:
        self._is_state = self._is_state or b'"log_history"' in line
        loss = _LOSS.search(line)
        if loss is None or any(word in line for word in _NOT_OURS):
            return
        if self._is_state or _OTHERS.search(line):
            self.lines += copies
            is_zero = not loss[1] and not loss[2].strip(b"-0.") and not _GRADIENT.search(line)
            self.found.zeros += copies * is_zero

    @property
    def counts(self) -> bool:
        return False

    def tally(self, steps: int | None, ranks: int | None) -> Overflows:
        return Overflows(0, 0, steps, 0, "no messages")
