"""The options of `opsinfo bisect`, and their frozen values."""

from __future__ import annotations

from typing import NamedTuple

from ...bisect.budget import Budget
from ...bisect.session import Rules
from ...bisect.verdicts import Counting
from ...errors import UsageFault
from ..line import declare
from ..shared.common_options import Option


class SubjectOptions(NamedTuple):
    """What is searched.

    :param against: the target that supplies the policies
    :param base: the mixlist that every list extends
    :param among: op types, and files of op types after an ``@``
    :param evidence: files and folders with evidence for the order of suspicion
    :param grow: ``white`` searches for the largest white list
    :param by: ``node`` continues among the nodes of the culprit types
    """

    against: str
    model: str | None
    base: str | None
    mode: str
    among: tuple[str, ...]
    evidence: tuple[str, ...]
    grow: str | None
    by: str


class RunOptions(NamedTuple):
    """How the check is run.

    :param journal: the run folder
    :param devices: comma-separated
    :param ray: the address of a cluster
    :param resources: resources of a trial, comma-separated
    :param keep_folders: whether the folders of trials are kept on its nodes
    """

    journal: str
    resume: bool
    force: bool
    budget: str | None
    timeout: float | None
    timeout_fails: bool
    repeat: int | None
    lead: int | None
    retries: int
    jobs: int | None
    devices: str | None
    interactive: bool
    simulate: bool
    ray: str | None
    resources: str | None
    keep_folders: bool


SUBJECT = declare.Group("searching", SubjectOptions)
RUN = declare.Group("running", RunOptions)

subject_options: Option = declare.stacked(
    declare.option(
        "--against",
        metavar="TARGET",
        required=True,
        help="Target with the policies and dtypes.",
        group=SUBJECT,
    ),
    declare.option("--model", metavar="MODEL", help="Search among the op types of this model.", group=SUBJECT),
    declare.option("--mixlist", "base", metavar="BASE", help="Mixlist that every list extends.", group=SUBJECT),
    declare.option(
        "--precision-mode",
        "mode",
        metavar="MODE",
        default="mixed_float16",
        show_default=True,
        help="Mode that the check runs in.",
        group=SUBJECT,
    ),
    declare.option(
        "--among",
        metavar="OP|@FILE",
        multiple=True,
        help="Search among these op types only; @FILE has one in each line; repeatable.",
        group=SUBJECT,
    ),
    declare.option(
        "--evidence",
        metavar="FILE",
        multiple=True,
        help="Evidence of suspects: a folder of an overflow dump, a comparison CSV, JSON of simulate; repeatable.",
        group=SUBJECT,
    ),
    declare.option(
        "--grow", type=declare.Choice(["white"]), help="Search for the largest passing white list.", group=SUBJECT
    ),
    declare.option(
        "--by",
        type=declare.Choice(["type", "node"]),
        default="type",
        show_default=True,
        help="node: continue among the nodes of the types found, and write a keep_dtype file.",
        group=SUBJECT,
    ),
)

run_options: Option = declare.stacked(
    declare.option(
        "--journal",
        metavar="DIR",
        default=".opsinfo-bisect",
        show_default=True,
        help="Folder for the journal and the trials.",
        group=RUN,
    ),
    declare.option("--resume", is_flag=True, help="Continue the search in the journal.", group=RUN),
    declare.option(
        "--force", is_flag=True, help="Resume even if the model, target, list or command changed.", group=RUN
    ),
    declare.option(
        "--budget", metavar="BUDGET", help="Stop after so many runs (40), or after a time (90m, 6h).", group=RUN
    ),
    declare.option(
        "--timeout",
        metavar="SECONDS",
        type=declare.FloatRange(min=0),
        help="End a run that takes longer, and stop.",
        group=RUN,
    ),
    declare.option(
        "--timeout-fails", is_flag=True, help="A run that takes longer fails; the search continues.", group=RUN
    ),
    declare.option(
        "--repeat", metavar="N", type=declare.IntRange(min=1), help="Decide by the majority of N runs.", group=RUN
    ),
    declare.option(
        "--lead",
        metavar="N",
        type=declare.IntRange(min=1),
        help="Run until one verdict has N more runs than the other.",
        group=RUN,
    ),
    declare.option(
        "--retries",
        metavar="N",
        type=declare.IntRange(min=0),
        default=1,
        show_default=True,
        help="Repeat a run that a signal ended, or that exits with 128 or more, N times.",
        group=RUN,
    ),
    declare.option(
        "--jobs", metavar="N", type=declare.IntRange(min=1), help="Run N trials at the same time.", group=RUN
    ),
    declare.option(
        "--devices",
        metavar="LIST",
        help="Devices for trials, as in 0,1,2: sets ASCEND_RT_VISIBLE_DEVICES; --jobs defaults to their number.",
        group=RUN,
    ),
    declare.option(
        "-i", "--interactive", is_flag=True, help="Ask a person for each verdict, instead of a command.", group=RUN
    ),
    declare.option(
        "--simulate",
        is_flag=True,
        help="Compute the model on the CPU, as `opsinfo simulate` does, instead of a command.",
        group=RUN,
    ),
    declare.option(
        "--ray",
        metavar="auto|ADDRESS",
        help="Run trials on a Ray cluster: the one that this host belongs to, or that with its head at HOST:PORT.",
        group=RUN,
    ),
    declare.option(
        "--resources",
        metavar="LIST",
        help="Resources of a trial on the Ray cluster, as in NPU=1,CPU=8; NPU=1 by default.",
        group=RUN,
    ),
    declare.option(
        "--keep-folders", is_flag=True, help="Keep the folders of trials on the nodes of the Ray cluster.", group=RUN
    ),
)


def rules_of(options: RunOptions, command: tuple[str, ...]) -> Rules:
    """Return how trials are run and counted.

    :raises UsageFault: if options exclude each other
    """
    if options.repeat is not None and options.lead is not None:
        raise UsageFault("--repeat and --lead cannot be combined", hint="--lead N is the better of the two")
    if options.timeout_fails and options.timeout is None:
        raise UsageFault("--timeout-fails requires --timeout")
    if options.timeout == 0:
        raise UsageFault("--timeout: a run takes longer than 0 seconds")
    return Rules(
        command,
        Counting(options.repeat or 1, options.lead),
        options.timeout,
        options.timeout_fails,
        options.retries,
        Budget.read(options.budget) if options.budget is not None else Budget(),
    )


def devices_of(options: RunOptions) -> list[str]:
    """Return the devices of ``--devices``.

    :raises UsageFault: if there are fewer than ``--jobs``, or one appears twice
    """
    if options.devices is None:
        return []
    devices = [word.strip() for word in options.devices.split(",")]
    if not all(devices) or len(set(devices)) < len(devices):
        raise UsageFault("--devices: comma-separated names of devices, each once, as in 0,1,2")
    if options.jobs is not None and options.jobs > len(devices):
        raise UsageFault(f"--jobs {options.jobs} needs as many devices; --devices has {len(devices)}")
    return devices
