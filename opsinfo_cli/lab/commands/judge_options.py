"""Judge a model by the options of the command line, for all commands that take a model and a target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import click

from ...core.cann.input_shapes import ShapesOf, parse_shapes, stated_shapes
from ...core.cann.mixlist import Mixlist
from ...core.cann.targets.found import TargetOptions
from ...core.terminal.atc_option import atc_in_use, atc_option, atc_words
from ...core.terminal.config import too_many_configured
from ...core.terminal.console import Console
from ...core.terminal.open import accepted_mixlist, open_against, report_doubts
from ...core.terminal.params import FILE, MODE, TARGET, Choice, Word, advanced, bundle, option, together
from ...errors import UsageFault
from ..graph.api import prepare_model
from ..graph.atc_options import NO_OPTIONS, AtcOptions
from ..graph.graph import ModelGraph
from ..graph.implmode import ALLOW_HF32, SPELLED_HF32
from ..graph.judge.modes import judge_mode
from ..graph.prepare import PreparedModel
from ..graph.result import Answer

DEFAULT_MODE = "mixed_float16"


@dataclass(frozen=True)
class JudgeOptions:
    """How to judge a model.

    :param mode: a precision mode; None: ``mixed_float16``, or the dtypes of the file
    """

    against: str | None = None
    mode: str | None = None
    mixlist: str | None = None
    keep_dtype: str | None = None
    customize_dtypes: str | None = None
    atc: AtcOptions = NO_OPTIONS
    no_fusion: tuple[str, ...] = ()

    def require_mode(self) -> None:
        """:raises UsageFault: if there is no such mode"""
        judge_mode(self.mode or DEFAULT_MODE)


MODEL = Word("MODEL", reads=True)
model_argument = click.argument("model", type=MODEL, required=False)
"""The model, which ``--atc`` may name."""


def _fusions(_: click.Context, __: click.Parameter) -> list[str]:
    from ..graph.fusions.fuse import ALL, RULES

    return [ALL, *RULES]


def require_model(model: str | None) -> str:
    """:raises UsageFault: if neither the line nor the command of ``--atc`` names a model"""
    if model is None:
        message = "the command of --atc has no --model" if atc_in_use() else "MODEL is missing"
        raise UsageFault(message, name="needs-model", hint="give a model, or --atc with your command of atc")
    return model


def shapes_of(texts: Sequence[str]) -> ShapesOf | None:
    """Return what a model is read with for the values of ``--shape``.

    :raises UsageFault: if one has another form
    """
    return partial(stated_shapes, parse_shapes(texts)) if texts else None


allow_hf32_option = advanced(
    "--allow-hf32",
    type=Choice([*ALLOW_HF32, *SPELLED_HF32]),
    help="HF32 instead of float32 for convolutions (first digit) and matrix products (second).  [default: 10]",
)
_atc_options = bundle(
    "atc",
    AtcOptions,
    advanced("--op-precision-mode", type=FILE, help="Implementation modes, as atc --op_precision_mode."),
    allow_hf32_option,
)
_judging = bundle(
    "judging",
    JudgeOptions,
    option("--against", type=TARGET, help="Judge by the policies and dtypes of this target."),
    option("--precision-mode", "mode", type=MODE, help=f"Judge in this precision mode.  [default: {DEFAULT_MODE}]"),
    option("--mixlist", type=FILE, help="Judge with this mixlist."),
    option("--keep-dtype", type=FILE, help="Judge with this keep_dtype file."),
    option("--customize-dtypes", type=FILE, help="Judge with this customize_dtypes file."),
    _atc_options,
    advanced(
        "--no-fusion",
        type=Word("NAME", _fusions),
        multiple=True,
        help="Leave out a fusion that runs before dtypes are chosen, or all; repeatable.",
    ),
)


judge_options = together(atc_option, _judging)


class JudgedModel(NamedTuple):
    """A model, its judge options, and the answer."""

    graph: ModelGraph
    options: JudgeOptions
    answer: Answer
    prepared: PreparedModel
    mixlist: Mixlist | None


def judge_model(
    graph: ModelGraph, options: JudgeOptions, target_options: TargetOptions, console: Console
) -> JudgedModel:
    """Judge a graph.

    :raises UsageFault: if an option is wrong or a target is missing
    :raises Refused: if a file cannot be read, or the engine refuses it
    """
    graph = graph.compiled_by(atc_words())
    if options.against is None:
        raise UsageFault(
            "--against TARGET is required: its policies and dtypes decide",
            name="needs-target",
            hint=too_many_configured("against") or "TARGET is a library, a CANN install, a snapshot of one, or a chip",
        )
    target = open_against(options.against, console, target_options)
    report_doubts(target, console)
    if options.mode is None:
        console.note(f"precision mode {DEFAULT_MODE}, the default; --precision-mode MODE chooses another")
        options = replace(options, mode=DEFAULT_MODE)
    mode = judge_mode(options.mode or DEFAULT_MODE)
    mixlist = accepted_mixlist(options.mixlist, console) if options.mixlist else None
    with console.progress(f"judging {len(graph)} nodes"):
        prepared = prepare_model(
            graph, target, options.keep_dtype, options.customize_dtypes, options.atc, options.no_fusion
        )
        answer = prepared.judge(mode.name, mixlist)
        _ = answer.counts
    for warning in answer.warnings:
        console.warn(warning)
    return JudgedModel(graph, options, answer, prepared, mixlist)
