"""Manual pages made from the commands' own help, in man(7)."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping

import click

__all__ = ["man_page", "paragraphs"]

_ESCAPES = {"\\": "\\e", "-": "\\-", "`": "\\(ga", "'": "\\(aq", "^": "\\(ha", "~": "\\(ti", '"': "\\(dq"}


def roff(text: str) -> str:
    """Text that comes out as it is: groff would draw hyphens, quotes and lines that begin with a dot as it likes."""
    escaped = "".join(_ESCAPES.get(each) or (each if each.isascii() else f"\\[u{ord(each):04X}]") for each in text)
    return re.sub(r"^(?=\.)", r"\\&", escaped, flags=re.MULTILINE)


def paragraphs(command: click.Command) -> tuple[list[str], list[str]]:
    """The help of a command: its paragraphs, those that keep their lines beginning with ``\\b``; and its examples."""
    text, examples = [], []
    for each in re.split(r"\n\s*\n", inspect.cleandoc(command.help or "")):
        title, _, lines = each.removeprefix("\b\n").partition("\n")
        if title == "Examples:":
            examples += inspect.cleandoc(lines).splitlines()
        else:
            text.append(each)
    return text, examples


def man_page(
    context: click.Context, short: str, version: str, commands: Mapping[str, str], exits: str, environment: str
) -> str:
    """The page of one command.

    :param short: what it does, in a line
    :param commands: the whole program's commands, each with its line
    :param exits: what the exit statuses mean; ``environment`` what the variables do
    """
    command = context.command
    name = context.command_path.replace(" ", "-")
    text, examples = paragraphs(command)
    lines = ['.\\" Made by docs/generate.py; edit the program, not this page.']
    lines.append(f'.TH {roff(name.upper())} 1 "" "opsinfo {version}" "opsinfo manual"')
    lines += [".SH NAME", f"{roff(name)} \\- {roff(short[0].lower() + short[1:].rstrip('.'))}"]
    lines += [".SH SYNOPSIS", f"\\fB{roff(context.command_path)}\\fR " + " ".join(_synopsis(context))]
    lines += [".SH DESCRIPTION", *_text(text)]
    if isinstance(command, click.Group):
        lines.append(".SH COMMANDS")
        for each, said in commands.items():
            lines += [".TP", f"\\fB{roff(f'opsinfo-{each}')}\\fR(1)", roff(said)]
    lines += [".SH OPTIONS", *_options(context)]
    lines += [".SH EXAMPLES", ".EX", *map(roff, examples), ".EE"]
    lines += [".SH EXIT STATUS", *_definitions(exits)]
    lines += [".SH ENVIRONMENT", *_definitions(environment)]
    others = ["opsinfo", *(f"opsinfo-{each}" for each in commands)]
    lines += [".SH SEE ALSO", ",\n".join(f"\\fB{roff(each)}\\fR(1)" for each in others if each != name)]
    return "\n".join(lines) + "\n"


def _synopsis(context: click.Context) -> Iterator[str]:
    for piece in context.command.collect_usage_pieces(context):
        yield re.sub(r"[A-Z][A-Z|_]*", lambda word: f"\\fI{word[0]}\\fR", roff(piece))


def _text(text: list[str]) -> Iterator[str]:
    for index, each in enumerate(text):
        if index:
            yield ".PP"
        if each.startswith("\b"):
            yield from (".EX", *map(roff, each.removeprefix("\b\n").splitlines()), ".EE")
        else:
            yield roff(each)


def _options(context: click.Context) -> Iterator[str]:
    for param in context.command.get_params(context):
        record = param.get_help_record(context) if isinstance(param, click.Option) else None
        if record:
            words = [_option_word(word) for word in record[0].split(" ")]
            yield from (".TP", " ".join(words), roff(record[1]))


def _option_word(word: str) -> str:
    if not word.startswith("-"):
        return f"\\fI{roff(word)}\\fR" if word != "/" else word
    return f"\\fB{roff(word.rstrip(','))}\\fR" + ("," if word.endswith(",") else "")


def _definitions(topic: str) -> Iterator[str]:
    """From lines ``0    done``; several on one line are parted by ``;``."""
    for line in topic.splitlines():
        for each in re.split(r"; (?=\d)", line):
            if match := re.fullmatch(r"(\d+|[A-Z_]{2,}) +(.+)", each):
                yield from (".TP", f"\\fB{match[1]}\\fR", roff(match[2]))
