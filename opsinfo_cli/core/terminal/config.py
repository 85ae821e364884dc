"""The configuration: `opsinfo.toml`, or `[tool.opsinfo]` in `pyproject.toml`. Options override it.

`validate` takes all of it, other commands the target and the precision mode.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

import click

from ...errors import UsageFault
from ...near_names import did_you_mean
from ...opening import folders_above, near_file
from ..cann.repository import CONFIG_FILES, configuration_in
from ..check.exclude import from_folder
from ..text.source import Source
from .params import FILE, Command, option, together

T = TypeVar("T")
KEYS = (
    *("against", "soc", "precision-mode", "model", "shape", "select", "ignore"),
    *("exclude", "baseline", "follow", "strict", "severity", "format"),
)
"""Options that the file may set; `schemas/config.schema.json` lists the same."""

_OF_ALL = ("against", "precision-mode")
"""Keys that other commands than `validate` take, too."""
_OWN_FILE, _SHARED_FILE = CONFIG_FILES
_IN_USE = "opsinfo.config"
_SEVERAL = "opsinfo.several"
_NOT_TAKEN = "opsinfo.not-taken"


class Config(NamedTuple):
    """The table of a configuration file, and its text for places of faults."""

    source: Source
    table: Mapping[str, Any]

    def fault(self, key: str, message: str, hint: str | None = None) -> UsageFault:
        """Return the error about a key, whose place the standard library's parser does not report."""
        text, start = self.source.text, 0
        if os.path.basename(self.source.path) == _SHARED_FILE:
            header = re.search(r"^[ \t]*\[[ \t]*tool[ \t]*\.[ \t]*opsinfo\b.*$", text, re.MULTILINE)
            start = header.start() if header else 0
        word = rf"^[ \t]*(?:\[.*\.[ \t]*)?(['\"]?{re.escape(key)}['\"]?)[ \t]*[=.\]]"
        match = re.compile(word, re.MULTILINE).search(text, start)
        place = self.source.place(match.start(1)) if match else None
        line, column = (place.line, place.column) if place else (None, None)
        return UsageFault(message, name="config", path=self.source.path, line=line, column=column, hint=hint)


config_options = together(
    option(
        "--config",
        type=FILE,
        expose_value=False,
        help=f"Use this configuration file, not the nearest {_OWN_FILE} or {_SHARED_FILE}.",
    ),
    option("--no-config", is_flag=True, expose_value=False, help="Use no configuration file."),
)


def config_in_use() -> str | None:
    """The path of the configuration file in use; None without one."""
    path: str | None = click.get_current_context().meta.get(_IN_USE)
    return path


def config_that_names(parameter: str) -> str | None:
    """The path of the file that a parameter's value came from; None if it came from the command line."""
    source = click.get_current_context().get_parameter_source(parameter)
    return config_in_use() if source is click.core.ParameterSource.DEFAULT_MAP else None


def given_or_configured(parameter: str, value: T | None, fits: bool) -> T | None:
    """Return the value of an option; None if it does not fit and a configuration file gave it."""
    return value if fits or config_that_names(parameter) is None else None


def too_many_configured(parameter: str) -> str | None:
    """Text for a note: a configuration file has several values for an option that takes one, and has none; or None."""
    texts: dict[str, str] = click.get_current_context().meta.get(_SEVERAL, {})
    return texts.get(parameter)


class Configured(Command):
    """A command that reads the defaults of its options from a configuration file, and those of --atc before them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # twice: first what is typed, without defaults or conversion, which says where the defaults come from
        values, _, given = self.make_parser(ctx).parse_args(list(args))
        if not ctx.resilient_parsing and not any(param.is_eager for param in given):  # --help needs none
            config = self.config(values)
            if config:
                ctx.meta[_IN_USE] = config.source.path
                ctx.default_map = dict(_defaults(config, self, ctx))
            if text := values.get("atc"):
                from .atc_option import atc_defaults

                typed = {name: value for name, value in values.items() if isinstance(value, (str, list, tuple))}
                ctx.default_map = {**(ctx.default_map or {}), **atc_defaults(text, self, typed, ctx)}
        return super().parse_args(ctx, args)  # then click's own, which takes them from ctx.default_map

    def config(self, values: Mapping[str, Any]) -> Config | None:
        """:param values: the options of the line"""
        return _find(values.get("config"), bool(values.get("no_config")))


class Targeted(Configured):
    """A command that takes only the target and the precision mode from the file, as far as it has these options."""

    def config(self, values: Mapping[str, Any]) -> Config | None:
        config = _find(None, bool(os.environ.get("OPSINFO_NO_CONFIG")))
        return config and Config(config.source, {key: config.table[key] for key in _OF_ALL if key in config.table})


def _find(named: str | None, none: bool) -> Config | None:
    if none and named is not None:
        raise UsageFault("--config and --no-config cannot be combined")
    if none:
        return None
    if named is not None:
        config = _read(FILE.convert(named, None, None))
        if config is None:
            raise UsageFault("table [tool.opsinfo] not found", name="config", path=named)
        return config
    try:
        here = os.getcwd()
    except FileNotFoundError:  # the working directory was removed, so it has no parent
        return None
    for folder in (here, *folders_above(here)):
        for name in (_OWN_FILE, _SHARED_FILE):
            path = os.path.join(folder, name)
            # one of another user may lie above in a shared folder
            if os.path.isfile(path) and os.stat(path).st_uid not in (0, os.geteuid()):
                click.get_current_context().meta[_NOT_TAKEN] = os.path.relpath(path, here)
                continue
            config = _read(os.path.relpath(path, here)) if os.path.isfile(path) else None
            if config:
                return config
    return None


def config_not_taken() -> str | None:
    """The path of a configuration file that was found, and belongs to another user."""
    path: str | None = click.get_current_context().meta.get(_NOT_TAKEN)
    return path


def _read(path: str) -> Config | None:
    """Return the configuration in a file; None if it has none.

    :raises UsageFault: if it is not TOML
    :raises Refused: if it cannot be read
    """
    source = Source.read(path)
    try:
        table = configuration_in(source)
    except (ValueError, RecursionError, OverflowError) as error:
        place = re.search(r"line (\d+), column (\d+)", str(error))
        line, column = (int(place[1]), int(place[2])) if place else (None, None)
        reason = re.sub(r" \(at line .*\)", "", str(error))
        raise UsageFault(f"invalid TOML: {reason}", name="config", path=source.path, line=line, column=column) from None
    return Config(source, table) if isinstance(table, dict) else None


def _defaults(config: Config, command: click.Command, context: click.Context) -> Iterator[tuple[str, Any]]:
    """Yield (parameter, value), as click expects them.

    :raises UsageFault: if a key is unknown, or its option does not take the value
    """
    known = {word[2:]: param for param in command.params for word in param.opts if word[2:] in KEYS}
    for key, value in config.table.items():
        option = known.get(key)
        if not isinstance(option, click.Option) and isinstance(command, Targeted):
            continue  # a key of other commands
        if not isinstance(option, click.Option):
            if key == "report":
                raise config.fault(key, "a configuration cannot name a file to write", "use --report FORMAT:FILE")
            hint = did_you_mean(key.replace("_", "-"), known) or "known keys: " + ", ".join(
                f"`{name}`" for name in known
            )
            raise config.fault(key, f"unknown key `{key}`", hint)
        assert option.name is not None
        yield option.name, _value(config, key, value, option, context, command)


def _value(
    config: Config, key: str, value: Any, option: click.Option, context: click.Context, command: click.Command
) -> Any:
    words = value if isinstance(value, list) and (option.multiple or isinstance(command, Targeted)) else [value]
    kind, called = (bool, "true or false") if option.is_flag else (str, "a string")
    if not all(isinstance(word, kind) for word in words):
        raise config.fault(key, f"`{key}` must be {called}{' or a list of strings' if option.multiple else ''}")
    folder = os.path.dirname(config.source.path)
    if key in _PATHS and any("\0" in word for word in words):
        raise config.fault(key, f"`{key}`: a path cannot have a NUL character")
    if key in _PATHS:
        paths = [_PATHS[key](folder, word) for word in words]
        for word, path in zip(words, paths, strict=True):
            is_path = "/" in path or path.endswith(".json")
            if (
                key not in ("exclude", "baseline")
                and is_path
                and not isinstance(command, Targeted)
                and not any(map(os.path.lexists, (path, path.rpartition("@")[0])))
            ):
                raise config.fault(key, f"`{key}`: no such file or directory: `{word}`", near_file(path))
        words = paths
    try:
        for word in words:
            option.type.convert(word, option, context)
    except click.BadParameter as error:
        raise config.fault(key, f"`{key}`: {error.message.rstrip('.')}") from None
    if len(words) > 1 and not option.multiple:
        assert option.name is not None
        text = f"{config.source.path} has {len(words)} values of `{key}`, of which none is taken: give one with --{key}"
        context.meta.setdefault(_SEVERAL, {})[option.name] = text
        return None
    return words if option.multiple else next(iter(words), None)


def _target(folder: str, text: str) -> str:
    """Return a TARGET; a path is relative to the file's folder, any other text is a SoC."""
    path = os.path.join(folder, text)
    return path if "/" in text or text.endswith(".json") or os.path.lexists(path) else text


_PATHS: dict[str, Callable[[str, str], str]] = {
    "against": _target,
    "exclude": from_folder,
    "baseline": os.path.join,
    "model": os.path.join,
}
