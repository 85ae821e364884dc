"""Types of parameters, options that commands share, and bundles of options as frozen dataclasses.

A type owns what a parameter means: its word in the help, its completion, and whether it names a file that the command
reads or writes.
"""

from __future__ import annotations

import functools
import inspect
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar, get_args

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from ...errors import UsageFault
from ..cann.file_kind import FileKind
from ..cann.install import CORES
from ..cann.policy import Policy, policy_meant
from ..cann.targets.found import TargetOptions
from ..change.lock import DEFAULT_WAIT
from ..change.write_settings import WriteSettings
from . import completion
from .answer import CommandAnswer
from .console import ColorWhen, Console

F = TypeVar("F", bound=Callable[..., Any])
Decorator = Callable[[F], F]
Candidates = Callable[[click.Context, click.Parameter], Iterable["str | CompletionItem"]]


class Word(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.3
    """Text with a word for the help.

    :param metavar: the word
    :param candidates: what completion offers; None for nothing
    :param reads: whether it names a file that the command reads
    :param files: whether completion offers files
    :param parse: returns the value of a text
    """

    writes: tuple[str, ...] | None = None
    """For a file to write, the parameters whose file it may replace; else None."""

    def __init__(
        self,
        metavar: str,
        candidates: Candidates | None = None,
        reads: bool = False,
        files: bool = False,
        may_be_empty: bool = False,
        parse: Callable[[str], Any] = str,
    ) -> None:
        self.name = metavar
        self.candidates = candidates
        self.reads = reads
        self.files = files or reads
        self.may_be_empty = may_be_empty
        self.parse = parse

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return self.name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "" and not self.may_be_empty:
            word = self.name if param is None or isinstance(param, click.Argument) else param.opts[0]
            hint = "is a variable of the shell not set? leave the option out if it is not needed"
            raise UsageFault(f"{word}: the value is empty", name="empty-value", hint=hint)
        return self.parse(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        items = (
            completion.starting_with(functools.partial(self.candidates, ctx, param), incomplete)
            if self.candidates
            else []
        )
        return [*items, *([CompletionItem(incomplete, type="file")] if self.files else [])]


class OutputFile(Word):
    """A file that the command writes.

    :param replaces: the parameters whose file it may replace
    :param or_folder: whether it may be a folder, too, of which the command knows whether it may exist
    :param backed_up: whether it is written as a change, in the vault
    """

    def __init__(
        self, metavar: str = "FILE", replaces: Sequence[str] = (), or_folder: bool = False, backed_up: bool = False
    ) -> None:
        super().__init__(metavar, files=True)
        self.backed_up = backed_up
        self.writes = tuple(replaces)
        self.or_folder = or_folder

    def require_writable(self, path: str, values: Mapping[str, Any]) -> None:
        """Check before the command begins, because its work may be long.

        :param values: of the command's parameters
        :raises Refused: if it cannot be written
        """
        from ..change.output_file import require_writable
        from ..change.writer import writer_of

        if self.or_folder and os.path.isdir(path):
            return
        if self.backed_up:
            settings: WriteSettings = {"force": values["force"], "backup_dir": values["backup_dir"]}
            writer_of(settings, lambda _: None).require_writable(path)
        else:
            require_writable(path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "-":
            word = f"{param.opts[0]} -" if param else "-"
            hint = "without the option most commands write to standard output; ./- is a file of that name"
            raise UsageFault(f"{word}: no file given", name="no-file", hint=hint)
        from .hints import format_meant

        if (meant := format_meant(str(value), ctx.command if ctx else None)) and not os.path.exists(value):
            word = f"{param.opts[0]} {value}" if param else value
            hint = f"did you mean `{meant}`? ./{value} is a file of that name"
            raise UsageFault(f"{word}: it takes a file", name="no-file", hint=hint)
        return super().convert(value, param, ctx)


class Choice(click.Choice[str]):
    """A choice of words; a near word, or one that the manuals use for it, is suggested.

    :param meant: returns the word for an alias, for hints
    :param hints: what to write instead of a word that is no choice
    """

    def __init__(
        self,
        choices: Iterable[str],
        meant: Callable[[str], str | None] | None = None,
        hints: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(list(choices))
        self.meant = meant
        self.hints = hints or {}

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            from ...near_names import did_you_mean

            several = str(value).split(",")
            if param and getattr(param, "multiple", False) and len(several) > 1 and set(several) <= set(self.choices):
                each = " ".join(f"{param.opts[0]} {word}" for word in several)
                raise UsageFault(error.format_message(), hint=f"give it once for each: `{each}`") from None
            alias = self.meant(str(value)) if self.meant else None
            near = f"did you mean `{alias}`?" if alias else did_you_mean(str(value), self.choices)
            hint = self.hints.get(str(value)) or near
            if not hint:
                raise
            raise UsageFault(error.format_message(), hint=hint) from None


class Number(click.FloatRange):
    """A number, not NaN, which would be neither inside nor outside of a range."""

    def __init__(self, metavar: str, min: float = 0, max: float | None = None) -> None:
        super().__init__(min=min, max=max)
        self.metavar = metavar

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return self.metavar

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value} is not a number.", param, ctx)
        return number


TARGET = Word("TARGET", completion.targets, reads=True)
"""A library, store, install, snapshot, mixlist or SoC name."""
OP = Word("OP", completion.operators)
SOC = Word("SOC", completion.socs)
MODE = Word("MODE", completion.precision_modes)
FILE = Word("FILE", reads=True)
TABLE = Word("TABLE", reads=True)
"""A table of what ran, or a folder of them."""
PATH = Word("PATH", files=True)
"""A file or folder that is neither read as a whole nor written."""
GLOB = Word("GLOB")
LIST = Choice([str(policy) for policy in Policy], meant=policy_meant)
"""White, black or gray."""
OUT = OutputFile()


class Option(click.Option):
    """An option in a section of the help.

    :param section: "" for the usual options, "advanced", or "common" for those of every command
    """

    def __init__(self, *args: Any, section: str = "", **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.section = section


def option(*words: str, section: str = "", **attributes: Any) -> Decorator[Any]:
    """As :func:`click.option`, with a section of the help."""
    return click.option(*words, cls=Option, section=section, **attributes)


def advanced(*words: str, **attributes: Any) -> Decorator[Any]:
    """An option that help lists last."""
    return option(*words, section="advanced", **attributes)


def bundle(keyword: str, value: type, *options: Decorator[Any]) -> Decorator[Any]:
    """Return a decorator that adds options and passes their values as one frozen dataclass.

    :param keyword: the argument of the command's function
    :param value: the class, with a field for each option; fields without an option keep their default
    """
    names = {field.name for field in fields(value)} if hasattr(value, "__dataclass_fields__") else set(value._fields)  # type: ignore[attr-defined]

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(**values: Any) -> Any:
            given = {name: values.pop(name) for name in names & values.keys()}
            return function(**{keyword: value(**given)}, **values)

        decorated: Callable[..., Any] = together(*options)(call)
        return decorated

    return decorate


def together(*decorators: Decorator[Any]) -> Decorator[Any]:
    """Return several options as one decorator, listed by help in this order."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


class Command(click.Command):
    """A command whose help lists advanced options after the usual ones, and the common ones in short at the end."""

    def make_parser(self, ctx: click.Context) -> Any:
        """Return click's parser, which refuses what it would drop: all values but the last of an option given twice."""
        parser: Any = super().make_parser(ctx)
        parse = parser.parse_args

        def parse_args(args: list[str]) -> Any:
            options, arguments, order = parse(args=args)
            for param in order if not ctx.resilient_parsing else ():
                # a flag only says the same again
                takes_one = isinstance(param, click.Option) and not (param.multiple or param.count or param.is_flag)
                if takes_one and order.count(param) > 1:
                    word = max(param.opts, key=len)
                    raise UsageFault(f"{word} is given twice", name="given-twice", hint=f"{word} takes one value")
            return options, arguments, order

        parser.parse_args = parse_args
        return parser

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if ctx.resilient_parsing and args and args[-1].startswith("-"):
            args = args[:-1]  # completion: its value is at the cursor, and click would parse nothing
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        require_apart(self.params, ctx.params)
        if not (ctx.params.get("dry_run") or ctx.params.get("check")):
            for param in self.params:
                path = ctx.params.get(param.name or "")
                if isinstance(param.type, OutputFile) and path is not None:
                    param.type.require_writable(path, ctx.params)
        return super().invoke(ctx)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_help(self, formatter)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[tuple[str, str]]] = {"": [], "advanced": [], "common": []}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
            if record is not None:
                section = getattr(param, "section", "common" if "--help" in param.opts else "")
                sections[section].append(record)
        for heading, records in (("Options", sections[""]), ("Advanced options", sections["advanced"])):
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)
        if sections["common"]:
            with formatter.section("Common options, see `opsinfo --help`"):
                formatter.write_text(", ".join(words.replace(", ", "/") for words, _ in sections["common"]))


def write_help(command: click.Command, formatter: click.HelpFormatter) -> None:
    formatter.write_paragraph()
    with formatter.indentation():
        width = formatter.width - formatter.current_indent
        lines = inspect.cleandoc(command.help or "").splitlines()
        formatter.write_text("\n".join(part for line in lines for part in example_lines(line, width)))


def example_lines(line: str, width: int) -> list[str]:
    """Return a line of examples, which is indented, in lines that a shell joins again; other lines as they are."""
    if not line.startswith("  ") or "#" in line or not line.strip():
        return [line]
    line = re.sub("  +", " ", line)
    words = re.findall(r"(?:-[\w-]+ (?!-))?(?:'[^']*'|[^ '])+", line)  # an option and its value stay together
    lines = [f"  {words[0]}"]
    for number, word in enumerate(words[1:], start=2):
        room = width if number == len(words) else width - len(" \\")
        if len(lines[-1]) + len(word) + 1 > room:
            lines.append("     ")
        lines[-1] += f" {word}"
    return [*(f"{part} \\" for part in lines[:-1]), lines[-1]]


def require_apart(params: Sequence[click.Parameter], values: dict[str, Any]) -> None:
    """:raises UsageFault: if a file to write is one that the command reads or writes otherwise, by any name"""
    written: list[tuple[str, str]] = []
    for param in params:
        replaces = getattr(param.type, "writes", None)
        value = values.get(param.name or "")
        if replaces is None or not isinstance(value, str):
            continue
        word = param.opts[0]
        for path, other in written:
            if is_same(path, value):
                message = f"{other} and {word} name the same file"
                raise UsageFault(message, name="same-output", path=value, hint="name two files")
        inputs = [path for other in params if other.name not in replaces for path in _read(other, values)]
        if os.path.exists(value) and any(is_same(value, path) for path in inputs):
            raise is_input(word, value)
        written.append((value, word))


def is_input(word: str, path: str) -> UsageFault:
    message = f"{word} would replace a file that this command reads"
    return UsageFault(message, name="is-input", path=path, hint="name another file")


def is_same(path: str, other: str) -> bool:
    """Return whether two paths name one regular file, which need not exist yet; a stream is shared by intent."""
    try:
        if os.path.exists(path):
            return os.path.isfile(path) and os.path.exists(other) and os.path.samefile(path, other)
        return os.path.realpath(path) == os.path.realpath(other)
    except (OSError, ValueError):  # a null byte, for instance: opening the file reports it
        return False


def _read(param: click.Parameter, values: dict[str, Any]) -> Iterable[str]:
    """Yield the paths that the value of a parameter may mean: itself, and what follows `@` or `NAME=`."""
    value = values.get(param.name or "")
    if not getattr(param.type, "reads", False) or value is None:
        return
    for text in [value] if isinstance(value, str) else value:
        yield text
        yield from text.removeprefix("@").rpartition("=")[2].split(",")


_PRINTING = {"format", "color", "quiet", "verbose", "out", "strict"}
"""Parameters that say how to print."""
_SUFFIXES = {".csv": "csv", ".md": "markdown", ".html": "html", ".json": "json"}


def prints(
    *formats: str, out: bool = False, default: str = "text", hints: Mapping[str, str] | None = None
) -> Decorator[Any]:
    """Return a decorator for a command that returns a :class:`CommandAnswer`: adds the common options, and prints it.

    The command's function gets ``console``. With ``--strict``, a command that printed a warning ends with 1.

    :param formats: formats besides text and json; ``auto`` is github in GitHub Actions, else text
    :param out: whether ``-o/--output`` writes the answer to a file
    :param hints: what to write instead of a format that the command lacks
    """
    options = [
        option(
            "--format",
            type=Choice(["text", "json", *formats], hints=hints),
            default=default,
            show_default=True,
            help="Output format.",
            section="common",
        ),
        option("--color", type=Choice(get_args(ColorWhen)), default="auto", help="Use colours.", section="common"),
        option("-q", "--quiet", is_flag=True, help="Print errors and warnings only.", section="common"),
        option("-v", "--verbose", count=True, help="Print details of what was read.", section="common"),
    ]
    if out:
        suffixes = ", ".join(suffix for suffix, format_ in _SUFFIXES.items() if format_ in ("json", *formats))
        text = f"Write to FILE instead of standard output; without --format in the format of its suffix: {suffixes}."
        options.insert(0, option("-o", "--output", "out", type=OUT, help=text))

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(**values: Any) -> int:
            context = click.get_current_context()
            printing = {name: values.pop(name) for name in _PRINTING & values.keys()}
            console = Console(context.command_path.partition(" ")[2], **printing)
            by_suffix = _SUFFIXES.get(os.path.splitext(console.out or "")[1].lower())
            if by_suffix in ("json", *formats) and context.get_parameter_source("format") is ParameterSource.DEFAULT:
                console.format = by_suffix
            if console.format == "auto":
                console.format = "github" if os.environ.get("GITHUB_ACTIONS") == "true" else "text"
            if console.out is not None:
                from .report_file import require_report

                require_report(console.out)
            answer = function(console=console, **values)
            assert isinstance(answer, CommandAnswer)
            console.print(answer)
            return answer.status or int(console.is_failed)

        decorated: Callable[..., Any] = together(*options)(call)
        return decorated

    return decorate


@dataclass(frozen=True)
class WriteOptions:
    """How a command writes: :class:`.WriteSettings`, as :func:`.settings_of` makes them, and what is not in them.

    :param check: whether to exit with 1 instead of writing
    """

    dry_run: bool = False
    check: bool = False
    wait: float = DEFAULT_WAIT
    in_place: bool = False
    force: bool = False
    backup_dir: str | None = None
    reason: str | None = None

    @property
    def writes(self) -> bool:
        return not (self.dry_run or self.check)


against_option = option("--against", type=TARGET, multiple=True, help="A target the mixlist is for; repeatable.")
for_mixlist_option = option("--against", type=TARGET, help="For a mixlist: the target with the names and policies.")
create_option = option("--create", is_flag=True, help="For a mixlist: create the file if it does not exist.")
as_option = option(
    "--as",
    "kind",
    type=Choice(get_args(FileKind)),
    help="The kind of the file, if it cannot be detected.",
)
match_option = option(
    "--match", "globs", type=GLOB, multiple=True, help="Only operators whose name matches GLOB; repeatable."
)
mixlist_option = option("--mixlist", type=FILE, help="Show policies after applying this mixlist.")


def _soc_option(make: Callable[..., Decorator[Any]]) -> Decorator[Any]:
    """:param make: :func:`option` or :func:`advanced`"""
    return make("--soc", type=SOC, help="Chip to use, if the install has several; as TARGET@SOC.")


soc_option = _soc_option(option)
core_option = advanced(
    "--core",
    type=Choice(CORES),
    default="ai",
    show_default=True,
    help="Engine: AI Core, vector core or DSA.",
)


def _packages(ctx: click.Context, _: click.Parameter, paths: tuple[str, ...]) -> tuple[str, ...]:
    """Return absolute paths, because the engine skips relative ones.

    :raises UsageFault: if one does not exist
    """
    for path in paths:
        if not (os.path.isdir(path) or ctx.resilient_parsing):
            hint = "a custom operator package has op_impl/ai_core/tbe/config/<chip>"
            raise UsageFault("no such directory", name="no-package", path=path, hint=hint)
    return tuple(map(os.path.abspath, paths))


custom_option = advanced(
    "--custom",
    "customs",
    type=PATH,
    multiple=True,
    callback=_packages,
    help="A custom operator package, as in ASCEND_CUSTOM_OPP_PATH; repeatable.",
)
install_options = bundle("options", TargetOptions, soc_option, core_option, custom_option)
advanced_install_options = bundle("options", TargetOptions, _soc_option(advanced), core_option, custom_option)
target_options = bundle("options", TargetOptions, as_option, soc_option, core_option, custom_option)

dry_run_option = option("-n", "--dry-run", is_flag=True, help="Show what would change; write nothing.")


def shape_option_in(section: str) -> Decorator[Any]:
    return option(
        "--shape",
        "shapes",
        type=Word("INPUT=DIMS"),
        multiple=True,
        help="Judge with this shape of an input, as in x=1,3,224,224 or as atc --input_shape; repeatable.",
        section=section,
    )


shape_option = shape_option_in("")
strict_option = option(
    "--strict",
    is_flag=True,
    help="Count warnings as errors: exit 1. Nothing is written, unless the only warning is about the writing.",
)
check_option = option("--check", is_flag=True, help="Write nothing; exit 1 if anything would change.")
backup_dir_option = advanced("--backup-dir", type=Word("DIR", files=True), help="Directory for backups.")
wait_option = advanced(
    "--wait", type=Number("SECONDS"), default=DEFAULT_WAIT, show_default=True, help="Longest wait for a lock."
)
in_place_option = advanced("--in-place", is_flag=True, help="Overwrite the file if it cannot be replaced atomically.")
force_option = advanced("--force", is_flag=True, help="Override the refusal that the message names.")


store_option = advanced(
    "--store",
    type=Word("NAME", completion.stores),
    help="Only this store of an install: built-in, vendor:<name> or env:<path>.",
)


reason_option = option("--reason", type=Word("TEXT"), help="Why: kept with the backup; `backups -v` and `show` say it.")


def write_options(*more: Decorator[Any]) -> Decorator[Any]:
    """Return the options of a command that writes, as ``writing``; ``more`` for those that only some have."""
    always = (force_option, wait_option, in_place_option, backup_dir_option)
    return bundle("writing", WriteOptions, dry_run_option, *more, *always)


def given_names(words: Iterable[str]) -> tuple[str, ...]:
    """Return distinct op types from the command line, decoded as UTF-8 in any locale."""
    return tuple(dict.fromkeys(os.fsencode(word).decode("utf-8", "replace") for word in words))
