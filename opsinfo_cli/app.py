"""The program: commands that are imported on use, the entry point, and the one mapping of errors to exit codes."""

from __future__ import annotations

import errno
import gc
import itertools
import os
import re
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from types import FrameType
from typing import Any, NoReturn

import click

from . import __version__
from .core.terminal.console import Console, output_failed, prepare_streams
from .core.terminal.lazy_group import LazyGroup
from .errors import MissingPackage, OpsinfoError, Refused, Stopped, UsageFault, installing
from .handed_in import OF_COMMANDS

GROUPS: dict[str, dict[str, str]] = {
    "See": {
        "list": "Show operators with their policy.",
        "show": "Show all details of operators, and why they are on their list.",
        "diff": "Compare targets, or two mixlists.",
        "socs": "List installs, versions and chips.",
    },
    "Edit": {
        "move": "Put operators on a list, in a library or a mixlist.",
        "edit": "Put operators on lists in your editor.",
        "apply": "Write the policies of a mixlist into libraries.",
        "merge": "Make one mixlist from one or several.",
        "fmt": "Fix the syntax of a mixlist so that the engine accepts it.",
    },
    "Check": {
        "validate": "Check mixlists and libraries as the engine does, and more strictly.",
        "doctor": "Check an install and the changes made to it.",
        "explain": "Explain a finding or a topic.",
    },
    "Undo": {
        "backups": "List backups.",
        "restore": "Undo the last change, or restore a backup.",
        "reapply": "Redo edits lost in an upgrade.",
    },
    "Find what costs accuracy": {
        "graph": "Show the effect of a policy on a model, node by node.",
        "profile": "Show where the time of a run went, and what a list can change.",
        "simulate": "Estimate accuracy loss on the CPU.",
        "bisect": "Find the smallest list that makes a check pass.",
        "qualify": "Check training logs for overflow and loss-scale trouble.",
        "numerics": "Show number formats, and the losses of tensors in them.",
    },
    "Other systems": {
        "modes": "List precision modes; print code that sets one.",
        "systems": "Read, compare and convert the lists of other systems.",
    },
    "Setup": {
        "snapshot": "Save a target's operators to a small file.",
        "schema": "Print a published JSON schema.",
        "completion": "Print the shell completion script.",
    },
}
"""Group -> command -> short help, so that `--help` imports no command."""

COMMANDS: dict[str, str] = {name: text for group in GROUPS.values() for name, text in group.items()}

MODULES = {name: f"opsinfo_cli.core.commands.{name}" for name in COMMANDS} | {
    "graph": "opsinfo_cli.lab.commands.graph.command",
    "profile": "opsinfo_cli.lab.commands.profile",
    "simulate": "opsinfo_cli.lab.commands.simulate",
    "bisect": "opsinfo_cli.lab.commands.bisect.command",
    "numerics": "opsinfo_cli.lab.commands.numerics",
    "qualify": "opsinfo_cli.logs.commands.qualify",
    "systems": "opsinfo_cli.systems.commands.group",
}
"""Command -> module; those of the editor by their names."""

COMMON_WORDS = ("--format", "--color", "-q", "--quiet", "-v", "--verbose", "-n", "--dry-run", "--wait")


def unknown_command(name: str) -> UsageFault:
    from .core.terminal.hints import COMMANDS as ELSEWHERE
    from .near_names import did_you_mean

    other = f"did you mean `opsinfo {ELSEWHERE[name]}`?" if name in ELSEWHERE else None
    hint = other or did_you_mean(name, COMMANDS) or "`opsinfo --help` lists them"
    return UsageFault(f"unknown command `{name}`", name="unknown-command", hint=hint)


@click.group(
    cls=LazyGroup,
    modules=MODULES,
    sections=GROUPS,
    unknown=unknown_command,
    handed_in=OF_COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "-V", "--version", message="opsinfo %(version)s", help="Show the version.")
def cli() -> None:
    """Show, change, check and compare the mixed-precision policy of Ascend operators.

    \b
      see      opsinfo list TARGET --on black
      check    opsinfo validate ops_info.json --against TARGET
      edit     opsinfo edit ops_info.json --against TARGET
      find     opsinfo bisect --against TARGET --model MODEL -- ./check {mixlist}
      undo     opsinfo restore ops_info.json

    White operators may be reduced to float16 or bfloat16. Black operators keep float32. Gray operators follow the
    operator before them.

    A TARGET is a library (aic-<soc>-ops-info.json), an ini of opbuild, a folder of these, an operator package (OPP,
    custom or a CANN toolkit), C++ sources of operators (OpDef) or a checkout with them, a snapshot of one of these, a
    mixlist, or a chip such as ascend910b, which is looked up in the environment's CANN. TARGET@SOC names one chip.

    Every command has --format text|json, --color auto|always|never, -q/--quiet, -v/--verbose and -h/--help.
    """


def usage_fault(error: click.UsageError, words: Sequence[str]) -> UsageFault:
    """Return click's error as ours, with a hint."""
    path = error.ctx.command_path if error.ctx else f"opsinfo {command_of(words)}".rstrip()
    hint = f"`{path} --help` shows how it is used"
    command = error.ctx.command if error.ctx else None
    from .core.terminal import hints

    if isinstance(error, click.NoSuchOption):
        name = error.option_name
        if path == "opsinfo" and name in COMMON_WORDS:
            return UsageFault(f"{name} belongs after the command", hint=f"`opsinfo COMMAND ... {name}`")
        from .near_names import did_you_mean

        meant = hints.option_meant(name, command)
        near = f"did you mean `{meant}`?" if meant else did_you_mean(name, error.possibilities or ())
        return UsageFault(f"`{path}` has no option {name}", hint=near or hint)
    extra = re.fullmatch(r"Got unexpected extra arguments? \((.+)\)", error.format_message(), re.DOTALL)
    if extra and error.ctx and (meant := hints.argument_meant(extra[1].split(" "), error.ctx)):
        hint = f"did you mean `{meant}`?"
    if isinstance(error, click.MissingParameter) and path in _WITHOUT_ARGUMENT:
        hint = _WITHOUT_ARGUMENT[path]
    return UsageFault(error.format_message().replace("\n\t", " "), hint=hint)


_WITHOUT_ARGUMENT = {
    "opsinfo restore": "`opsinfo backups` lists the changes and their files",
    "opsinfo show": "`opsinfo list TARGET` lists the operators",
    "opsinfo validate": "`opsinfo validate .` checks this folder",
}
"""What to type where the line of a command ends too early."""


def names_apart(words: Sequence[str]) -> Sequence[str]:
    """Return the words of a hook with `--` before the first file name that begins with `-`, unless there is one.

    pre-commit puts the names of the checked repository right behind the user's options, and a name such as
    `-o/x_mixlist.json` must not become an option. The names are the last words, as all of them are files here.
    """
    first = len(words)
    while first and os.path.isfile(words[first - 1]):
        first -= 1
    named = next((index for index in range(first, len(words)) if words[index].startswith("-")), None)
    if named is None or "--" in words[:named]:
        return words
    return [*words[:named], "--", *words[named:]]


def main(words: Sequence[str] | None = None) -> NoReturn:
    """Run a command and exit with its status.

    :param words: the line of a caller in the same process; None for ``sys.argv``
    """
    try:
        if words is None and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        given = list(sys.argv[1:] if words is None else words)
        status = _prepare_and_run([*given[1:], "--help"] if given[:1] == ["help"] else given)
        _flush()
        if words is None:  # from here on nothing handles what a signal would raise
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                if signal.getsignal(number) is not signal.SIG_IGN:
                    signal.signal(number, signal.SIG_DFL)
    except (KeyboardInterrupt, Stopped) as signalled:
        status = 128 + (signalled.number if isinstance(signalled, Stopped) else signal.SIGINT)
        if words is None:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # a second Ctrl-C ends a flush that waits for its reader
        _flush()
    if words is None:
        os._exit(status)  # before what was read is freed: a tenth of a short run, and seconds if it is large
    sys.exit(status)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:  # a closed pipe does not change the exit status
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _prepare_and_run(words: Sequence[str]) -> int:
    """Prepare the process, and run a command."""
    gc.disable()  # the process is short-lived and keeps its libraries until the end
    _raised.clear()
    _missed.clear()
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # ignored by nohup
            signal.signal(number, _stop)
    sys.unraisablehook = _note_missed
    status = _run(words)
    return 128 + _missed[0] if _missed else status


def _run(words: Sequence[str]) -> int:
    try:
        prepare_streams()
        if os.environ.get("_OPSINFO_COMPLETE"):
            from .core.terminal import shells  # noqa: F401  replaces classes of click
        line = ["opsinfo", *words]  # as typed, for the record of a change
        words = names_apart(words) if "PRE_COMMIT" in os.environ else words
        result = cli.main(
            list(words), prog_name="opsinfo", complete_var="_OPSINFO_COMPLETE", standalone_mode=False, obj=line
        )
        return result if isinstance(result, int) else 0
    except click.exceptions.NoArgsIsHelpError as error:
        with suppress(OSError):
            click.echo(error.format_message(), err=True)
        return 2
    except click.UsageError as error:
        return _fail(words, usage_fault(error, words))
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.Abort:
        return 130
    except (BrokenPipeError, SystemExit):  # the pipe is closed; click exits after completion
        return 0
    except OpsinfoError as error:
        return _fail(words, error)
    except Exception as error:
        if isinstance(error.__cause__, (KeyboardInterrupt, Stopped)):  # raised while Python creates a class
            raise error.__cause__ from None
        return _fail(words, _failure_of(error))


def _failure_of(error: Exception) -> OpsinfoError:
    """Return the error to report for one that no code expected."""
    if isinstance(error, FileNotFoundError):
        from .opening import has_folder, no_folder

        if not has_folder():
            return no_folder()
    if isinstance(error, OSError) and error.errno in _OUTPUT_FAILED and error.filename is None:
        return output_failed(error)
    if isinstance(error, OSError) and isinstance(error.filename, str | bytes) and error.errno != errno.ENOMEM:
        from .opening import system_failed

        return system_failed(error)
    if isinstance(error, UnicodeEncodeError) and sys.getfilesystemencoding() != "utf-8":
        message = f"the locale's encoding, {sys.getfilesystemencoding()}, cannot name a file that has other characters"
        return Refused(message, name="file-encoding", hint="set LC_ALL=C.UTF-8, or PYTHONUTF8=1")
    if isinstance(error, MemoryError) or getattr(error, "errno", 0) == errno.ENOMEM or "failed to map" in str(error):
        return Refused("out of memory", name="out-of-memory")
    if isinstance(error, ModuleNotFoundError) and error.name and not error.name.startswith("opsinfo_cli"):
        package = error.name.partition(".")[0]
        hint = f"install it beside opsinfo: {installing(package)}"
        return MissingPackage(f"this command needs the package {package}, which cannot be imported", hint=hint)
    from .core.change.fault_trace import kept_trace

    hint = f"please report it with the trace: {kept_trace(error)}"
    return Refused(f"internal error: {type(error).__name__}: {error}", name="internal-fault", hint=hint)


_OUTPUT_FAILED = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
"""Errors of a write to a stream: the disk is full or broken, or the caller has closed the stream."""


def _fail(words: Sequence[str], error: OpsinfoError) -> int:
    """Report an error, as JSON if the line asks for it, even if the line is wrong."""
    format_ = "json" if _has(words, "--format", "json") else "text"
    console = Console(command_of(words), format_, "always" if _has(words, "--color", "always") else "auto")
    try:
        console.failure(error)
    except OpsinfoError as worse:  # the failure cannot be written as JSON: print it as text
        console.failure_text(worse)
        return worse.exit_code
    return error.exit_code


def command_of(words: Sequence[str]) -> str:
    """Return the command that a line, even a wrong one, names: `list`, `systems show`."""
    names = [word for word in words if not word.startswith("-")]
    name = next((word for word in names if word in COMMANDS), (names or [""])[0])
    group = cli.get_command(click.Context(cli), name)
    if isinstance(group, click.Group):
        return " ".join([name, *[word for word in names if word in group.list_commands(click.Context(group))][:1]])
    return name


def _has(words: Sequence[str], option: str, value: str) -> bool:
    """Return whether a line, even a wrong one, gives an option a value."""
    before = list(words[: words.index("--")] if "--" in words else words)
    return f"{option}={value}" in before or (option, value) in itertools.pairwise(before)


_raised: list[int] = []
"""The signal that ends the process. `timeout` sends its signal twice; the second one must not interrupt the end."""
_missed: list[int] = []
"""Signals that arrived while Python could not raise: the work continues, and the exit status reports them."""


def _stop(number: int, _: FrameType | None) -> None:
    if not _raised:
        _raised.append(number)
        raise Stopped(number)


def _note_missed(unraisable: Any) -> None:
    error = unraisable.exc_value
    if isinstance(error, KeyboardInterrupt):
        _missed.append(signal.SIGINT)
    elif isinstance(error, Stopped):
        _missed.append(error.number)
        _raised.clear()
    else:
        sys.__unraisablehook__(unraisable)
