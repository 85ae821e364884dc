"""Completion candidates: commands, options, and values by their metavar in the help."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import click
from click.shell_completion import CompletionItem, ShellComplete

from ...errors import OpsinfoError
from ...model.cann_roots import select_root
from ...model.opp import opp_root, socs_of
from ...model.target import TargetOptions, resolve
from .click_program import cli
from .table import COMMANDS
from .unfinished import Candidate, UnfinishedLine

Given = dict[str, Any]
"""Parameters of the line so far, with their values."""

Offer = Callable[[Given, click.Parameter], Iterable[Candidate]]


def by_commands(line: UnfinishedLine) -> list[Candidate]:
    """Return click's candidates for a line, with opsinfo's candidates for values."""
    name = next((word for word in line.words if not word.startswith("-")), None)
    if (name is None or line.words == ["help"]) and not line.word.startswith("-"):
        return [Candidate(each, help_) for each, help_ in COMMANDS.items() if each.startswith(line.word)]
    command = cli.get_command(click.Context(cli), name) if name else None
    if command:
        given = _given(command, line.words[line.words.index(command.name or "") + 1 :])
        for parameter in command.params:
            _teach(parameter, given)
    items = ShellComplete(cli, {}, "opsinfo", "_OPSINFO_COMPLETE").get_completions(line.words, line.word)
    option, equals, _ = line.word.partition("=")
    before = option + equals if equals and option.startswith("--") else ""
    return [Candidate(before + str(each.value), each.help or "", each.type) for each in items]


def _given(command: click.Command, words: list[str]) -> Given:
    if words and words[-1].startswith("-"):  # its value is at the cursor, and click could not parse the words
        words = words[:-1]
    return command.make_context(command.name, list(words), resilient_parsing=True).params


def _teach(parameter: click.Parameter, given: Given) -> None:
    offer = OFFERS.get(word_of(parameter))
    if offer and not isinstance(parameter.type, click.Choice):
        setattr(parameter, "shell_complete", partial(_offered, offer, parameter, given))  # noqa: B010


def word_of(parameter: click.Parameter) -> str:
    """Return the first word of the metavar: `FILE` for `FILE|DIR...`."""
    said = str(getattr(parameter, "metavar", None) or (parameter.name or "").upper())
    found = re.search("[A-Z_]+", said)
    return found[0] if found else ""


def _offered(
    offer: Offer, parameter: click.Parameter, given: Given, _: click.Context, incomplete: str
) -> list[CompletionItem[str]]:
    from .operator_names import starting

    found = list(offer(given, parameter))
    named = {each.value: each for each in found if each.kind == "plain"}
    chosen = [named[name] for name in starting(named, incomplete)] + [each for each in found if each.kind == "file"]
    return [CompletionItem(each.value, each.kind, each.help) for each in chosen]


_FILES = Candidate("", kind="file")


def _files(_: Given, __: click.Parameter) -> Iterable[Candidate]:
    return [_FILES]


def _targets(_: Given, __: click.Parameter) -> Iterable[Candidate]:
    """Files, and the chips of the environment's install."""
    return [*_socs_under(None), _FILES]


def _socs(given: Given, parameter: click.Parameter) -> Iterable[Candidate]:
    """The chips of the targets that the option applies to."""
    names = {"soc_a": ("a",), "soc_b": ("b",)}.get(parameter.name or "", ("against", "target", "targets"))
    texts = [text for name in names if (text := given.get(name))]
    flat = [each for text in texts for each in ([text] if isinstance(text, str) else text)]
    return [soc for text in flat or [None] for soc in _socs_under(text)]


def _socs_under(target: str | None) -> list[Candidate]:
    try:
        named = target is not None and os.path.lexists(target)
        root = opp_root(target or "") if named else select_root(os.environ, "a SoC").path
        return [Candidate(soc, "SoC") for soc in socs_of(root)] if root else []
    except OpsinfoError:  # files can be offered without CANN
        return []


def _operators(given: Given, _: click.Parameter) -> Iterable[Candidate]:
    from .operator_names import operator_names

    names = operator_names(given.get("target") or given["against"], _options(given), given.get("against"))
    return [Candidate(name) for name in names if name not in (given.get("ops") or ())]


def _options(given: Given) -> TargetOptions:
    customs = tuple(given.get("customs") or ())
    return TargetOptions(given.get("kind"), given.get("soc"), given.get("core") or "ai", customs)


def _findings(_: Given, __: click.Parameter) -> Iterable[Candidate]:
    from ...check.rules import RULES
    from ...check.topics import TOPICS

    for rule in RULES.values():
        yield from (Candidate(rule.name, rule.code), Candidate(rule.code, rule.name))
    yield from (Candidate(name, "topic") for name in TOPICS)


def _names(given: Given, parameter: click.Parameter) -> Iterable[Candidate]:
    """Schemas; snippets for --snippet, the stores of the target for --store."""
    if "--snippet" in parameter.opts:
        from ...neighbours.snippet import snippet_names

        return map(Candidate, snippet_names())
    if "--store" in parameter.opts:
        install = resolve(given["target"], _options(given), os.environ).install
        return [Candidate(site.label) for site in install.sites()] if install else []
    from ...check.schema import schema_names

    return map(Candidate, schema_names())


def _systems(_: Given, __: click.Parameter) -> Iterable[Candidate]:
    """Systems, each followed by its levels."""
    from ...neighbours.systems import SYSTEMS

    for system in SYSTEMS.values():
        yield Candidate(system.name, system.title)
        yield from (Candidate(f"{system.name}:{level}", system.title) for level in system.levels)


def _formats(_: Given, parameter: click.Parameter) -> Iterable[Candidate]:
    """Formats of other systems; for --report those of a report, with the colon before the file."""
    if "--report" in parameter.opts:
        from ...report.formats.render import FORMATS

        return [Candidate(f"{each}:", "report format") for each in FORMATS]
    from ...neighbours.systems import SYSTEMS

    written = "--to" in parameter.opts
    return [Candidate(each.name, each.title) for each in SYSTEMS.values() if each.writes or not written]


def _dtypes(_: Given, __: click.Parameter) -> Iterable[Candidate]:
    from ...neighbours.decide import FLOATS

    return map(Candidate, FLOATS)


def _modes(_: Given, __: click.Parameter) -> Iterable[Candidate]:
    from ...model.precision_mode import MODES

    return map(Candidate, MODES)


def _values(_: Given, parameter: click.Parameter) -> Iterable[Candidate]:
    return [_FILES] if isinstance(parameter, click.Argument) else [Candidate("dynamic")]


def _changes(given: Given, parameter: click.Parameter) -> Iterable[Candidate]:
    """Changes in the vault, the newest first; for `restore --to` those of its target, and `pristine`."""
    from ..shared.common_options import WriteOptions
    from ..shared.writing import scope_of, vault_of

    if "--to" in parameter.opts:
        yield Candidate("pristine", "the first content seen")
    scope = scope_of(given.get("target"))
    for record in reversed(vault_of(WriteOptions(backup_dir=given.get("backup_dir"))).records()):
        if any(scope(file.path) for file in record.files):
            yield Candidate(record.id, f"{record.kind}, {record.time}")


OFFERS: dict[str, Offer] = {
    "OP": _operators,
    "SOC": _socs,
    "CODE": _findings,
    "NAME": _names,
    "MODE": _modes,
    "SYSTEM": _systems,
    "FORMAT": _formats,
    "DTYPE": _dtypes,
    "VALUE": _values,
    **dict.fromkeys(("ID", "CHANGE"), _changes),
    **dict.fromkeys(("TARGET", "A", "B"), _targets),
    **dict.fromkeys(
        ("FILE", "DIR", "PATH", "MIXLIST", "COMMAND", "BASE", "OVER", "LOG", "ROOT", "IN", "OUT", "MODEL"), _files
    ),
}
"""Candidates by metavar, which means the same in every command."""

NOTHING = {
    *("GLOB", "REGEX", "PERCENT", "LEVEL", "SECONDS", "N", "VERBOSE", "COLOR", "NODE", "SOURCES", "INPUT", "X"),
    *("ADDRESS", "BUDGET", "LIST", "DTYPE", "NAMES"),
}
"""Metavars without candidates."""
