"""Overflow flags, counters of skipped steps and messages of a skipped step, whoever prints them."""

from __future__ import annotations

import re
from dataclasses import replace

from ..count import Overflows
from ..counters import Counters
from ..log_format import FlagFormat, Strength
from ..losses import shows_loss
from ..occurrences import Occurrences
from ..steps import Steps, step_field

_VALUE = rb"(?:[\"']?\s{0,2}[:=|]\s{0,12}|\s(?=[\w.]{1,16}\s?(?:$|[|,;)])))[\[\"'(]{0,2}"
_FLAG = re.compile(
    rb"(?<![\w/.-])(?P<key>[\w/.-]{0,40}(?:found_inf|overflow(?:ed)?|inf_or_nan|non_?finite|skipped(?:_step|_update)?))"
    + _VALUE
    + rb"(?P<flag>True|False|true|false|[01](?:\.0{1,8})?)(?![\w.])"
)
_COUNTER = re.compile(
    rb"(?<![\w/.-])(?P<key>[\w/.-]{0,40}(?:skipped[ _](?:steps|updates|iters|iterations|batches)"
    rb"|skip_(?:steps|batches|iters|count)|num_skipped|overflow_(?:count|steps)|overflows|nan_steps))"
    + _VALUE
    + rb"(?P<number>\d{1,15})(?:\.0{1,8})?(?![\w.])"
)
_MESSAGE = re.compile(
    rb"(?i)skip(?:ping|ped|s)?\s{0,2}(?:this |the |current )?(?P<what>optimizer[ _]step|optimization step|weight update"
    rb"|parameter update|update|step|iteration|batch)(?!\w|[\"']?\s?[:=])"
)
_CAUSE = re.compile(rb"(?i)overflow|(?<![a-z])(?:inf|nan)(?![a-z])|infinit|non-?finite|not finite")


class NamedValues(FlagFormat):
    """`"step": 5, "found_inf": 1.0`, `overflow=True`, `skipped_steps: 3`, and messages such as `Found overflow. Skip
    step`, `grad norm is nan, skipping optimizer step`.

    Source: hpcaitech/ColossalAI, colossalai/zero/low_level/low_level_optim.py, step (a message of each rank, or of the
    first); mlcommons/training_results_v0.7, NVIDIA/benchmarks/bert/implementations/pytorch/run_pretraining.py, whose
    `training_steps` include the skipped ones; for the others no framework is named: the name of the value says what it
    is. A counter that rises again and again, or by more than the steps, is cumulative; another one may be reset at its
    lines.
    """

    name = "named_values"
    reads = "named values of any framework (`found_inf`, `overflow`, `skipped_steps`), messages of a skipped step"
    strength = Strength.NAMED
    marks = (b"found_inf", b"verflow", b"inf_or_nan", b"finite", b"kip", b"nan_steps")
    is_general = True

    def __init__(self) -> None:
        super().__init__()
        self._messages = Occurrences()
        self._key = b""
        """The name of the first value."""
        self._counters, self._totals = Counters(cumulative=False), Counters(cumulative=True)
        """The lines with a counter, by step, else by number of the entry, for either kind of counter."""
        self._newest = self._most = self._rises = 0
        self._falls = self._is_cumulative = self._is_from_zero = False

    def line(self, line: bytes, steps: Steps, at: int, copies: int) -> None:
        field = step_field(line)
        step = field.step if field and not field.length else None
        is_entry = field is not None or shows_loss(line)
        if is_entry and (counter := _COUNTER.search(line)):
            self._key = self._key or counter["key"]
            self.lines += copies
            if b"training_steps" in line and counter["number"].strip(
                b"0"
            ):  # NVIDIA's BERT: a static scale does not skip
                self.found.scaling, self.found.level = "dynamic", "fp16"
            self._add_counter(field.step if field else self.lines, int(counter["number"]))
        elif is_entry and (flag := _FLAG.search(line)):
            self._key = self._key or flag["key"]
            self.lines += copies
            self.add_flag(step, flag["flag"][:1] in (b"T", b"t", b"1"), None, copies)
        elif (message := _MESSAGE.search(line)) and (b"ptimizer" in message[0] or _CAUSE.search(line)):
            self.lines += copies
            steps.upto(at)
            self._messages.add(None, steps.at, steps.spacing, copies)

    def _add_counter(self, step: int, number: int) -> None:
        before = self._counters.lines
        self._is_from_zero |= not before and step == 0
        step += self._is_from_zero
        made = step - self._counters.last_step
        self._totals.add(step, number)
        if self._counters.add(step, number) and before:
            self._falls |= number < self._newest
            self._rises += number > self._newest
            self._is_cumulative |= 0 < made < number
        self._newest = number
        self._most = max(self._most, number)

    @property
    def numbers_steps(self) -> bool:
        return self._counters.lines > 0 or (self.flags.printed > 0 and super().numbers_steps)

    def tally(self, steps: int | None, ranks: int | None) -> Overflows:
        key = self._key.decode("ascii", "replace")
        steps = steps or self.steps_printed
        if self._counters.lines:
            proof, basis = "the log prints a counter", f"the printed counter `{key}`"
            if not self._falls and (self._is_cumulative or self._rises > 1):
                basis += " (cumulative)"
                if not steps:
                    return Overflows(self._newest, self._newest, None, 0, basis, proof=proof)
                count = self._totals.count(max(steps, self._totals.last_step))  # from the start of the run
                return replace(count, basis=basis, proof=proof)
            count = self._counters.count(steps)
            basis += " (reset at its lines)" if self._falls else " (cumulative, or reset at its lines)"
            high = max(count.high if steps else count.low, self._most)
            count = replace(count, low=self._most, high=high, steps=steps, calibrating=0, basis=basis, proof=proof)
            return count if steps else replace(count, logged=None, doubt=None)  # entries are no steps
        if self.flags.printed:
            count = super().tally(steps, ranks)
            return count.with_note(f"the flag is `{key}`")
        return self._messages.count(steps, ranks)
