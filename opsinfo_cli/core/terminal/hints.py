"""What users of ruff, gh, kubectl and git type next, and what it is here: words of hints, nothing that is accepted."""

from __future__ import annotations

import re
from collections.abc import Sequence

import click

from ...errors import quoted

COMMANDS = {
    **dict.fromkeys(("check", "lint", "verify"), "validate"),
    **dict.fromkeys(("ls", "get", "search", "ops"), "list"),
    **dict.fromkeys(("describe", "cat", "info", "view"), "show"),
    **dict.fromkeys(("undo", "revert", "rollback", "reset"), "restore"),
    **dict.fromkeys(("log", "history", "reflog", "changes"), "backups"),
    **dict.fromkeys(("set", "add", "mv", "put"), "move"),
    **dict.fromkeys(("status", "fsck"), "doctor"),
    **dict.fromkeys(("compare", "cmp"), "diff"),
    **dict.fromkeys(("chips", "devices", "soc"), "socs"),
    **dict.fromkeys(("rule", "why", "man", "topic"), "explain"),
    **dict.fromkeys(("init", "new", "create"), "move FILE OP --to black --create"),
    "format": "fmt",
    "convert": "systems convert",
    "version": "--version",
}
"""Commands of other tools, and the command or option that does it here."""
_OPTIONS = {
    **{f"--{name}": f"--format {name}" for name in ("json", "csv", "markdown", "html", "github", "concise")},
    **dict.fromkeys(("--output-format", "--out-format"), "--format"),
    **dict.fromkeys(("--no-color", "--no-colour", "--colour"), "--color never"),
    **dict.fromkeys(("--dry", "--dryrun", "--what-if", "--diff"), "--dry-run"),
    **dict.fromkeys(("--filter", "--grep", "--selector", "--name", "--pattern", "--op"), "--match"),
    **dict.fromkeys(("--out", "--output-file", "--save"), "--output"),
    **dict.fromkeys(("--policy", "--list", "--only-list"), "--on"),
    **dict.fromkeys(("--soc-version", "--soc_version", "--chip", "--device"), "--soc"),
    **dict.fromkeys(("--modify_mixlist", "--modify-mixlist"), "--mixlist"),
    **dict.fromkeys(("--precision_mode", "--precision_mode_v2", "--precision-mode-v2", "--mode"), "--precision-mode"),
    **dict.fromkeys(("--yes", "--assume-yes"), "--force"),
    **dict.fromkeys(("--input_shape", "--input-shape"), "--shape"),
    **{f"--{name}": f"--on {name}" for name in ("white", "black", "gray")},
    "--extend-ignore": "--ignore",
    "--target": "--against",
    "-t": "--to",
}
_FORMATS = ("json", "yaml", "csv", "table", "wide", "text", "markdown", "html", "github", "sarif", "junit")


def option_meant(name: str, command: click.Command | None) -> str | None:
    """Return the option or argument of a command that does what an option of another tool does there, if it has one."""
    meant = _OPTIONS.get(name)
    known = {word: param for param in (command.params if command else ()) for word in param.opts}
    if command and command.name == "numerics" and name[1:].isdigit():
        return "opsinfo numerics -- -VALUE"
    if command and isinstance(argument := known.get(name.removeprefix("--")), click.Argument):
        return f"opsinfo {command.name} {argument.name.upper()}"
    return meant if meant and meant.split()[0] in known else None


def format_meant(value: str, command: click.Command | None) -> str | None:
    """Return the option for a format that is given in place of a file, as in ``-o json``; None if it is a file."""
    for param in command.params if command else ():
        if "--format" in param.opts and value in _FORMATS:
            choices = param.type.choices if isinstance(param.type, click.Choice) else ()
            return f"--format {value if value in choices else choices[0] if choices else 'text'}"
    return None


_TAKEN = {
    "--on": "white|black|gray",
    "--atc": r".+\.(sh|bash)",
    "--model": r".+\.(onnx|om|pb|pbtxt)",
    "--mixlist": r"(.*/)?(?!aic-)[^/]+\.jsonc?",
    "--max-error": r"[\d.]+(e-?\d+)?",
    "--against": r"(?i:ascend)\d\w*|.+@\w+|aic-.+\.(json|ini)",
    "--soc": r"(?i:ascend)\d\w*",
    "--match": r"[\w*?\[\]]+",
}
"""Options, the likeliest first, and the words that they take where a line has too many arguments."""


def argument_meant(extra: Sequence[str], context: click.Context) -> str | None:
    """Return what takes the words that a line has too many: ``--on black``, ``opsinfo diff A B``; None if nothing."""
    known = {name: param for param in context.command.params for name in param.opts}
    given = [str(context.params.get(name)) for name, param in known.items() if isinstance(param, click.Argument)]
    is_model = re.fullmatch(_TAKEN["--model"], extra[0])  # then what stands in its place is an option's
    for word in [*extra, *(given if is_model else ())]:
        for option, pattern in _TAKEN.items():
            if option not in known or not re.fullmatch(pattern, word):
                continue
            if option == "--against" and "target" in known and not re.fullmatch(_TAKEN["--mixlist"], given[0]):
                return f"opsinfo diff {quoted(given[0], word)}"
            is_part = option == "--match" and not set(word) & set("*?[")
            return f"{option} {quoted(f'*{word}*' if is_part else word)}"
    return None
