"""What users of ruff, gh, kubectl and git type next, and what it is here: words of hints, nothing that is accepted."""

from __future__ import annotations

from collections.abc import Sequence

import click

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
    "--target": "--against",
}
_FORMATS = ("json", "yaml", "csv", "table", "wide", "text", "markdown", "html", "github", "sarif", "junit")


def option_meant(name: str, command: click.Command | None) -> str | None:
    """Return the option of a command that does what an option of another tool does there; None if it has none."""
    meant = _OPTIONS.get(name)
    known = {word for param in command.params for word in param.opts} if command else set()
    return meant if meant and meant.split()[0] in known else None


def format_meant(value: str, command: click.Command | None) -> str | None:
    """Return the option for a format that is given in place of a file, as in ``-o json``; None if it is a file."""
    for param in command.params if command else ():
        if "--format" in param.opts and value in _FORMATS:
            choices = param.type.choices if isinstance(param.type, click.Choice) else ()
            return f"--format {value if value in choices else choices[0] if choices else 'text'}"
    return None


def argument_meant(words: Sequence[str], command: click.Command | None) -> str | None:
    """Return the option that takes one of the words of a line: ``--on black`` for ``black``; None if there is none."""
    for param in command.params if command else ():
        if isinstance(param, click.Option) and isinstance(param.type, click.Choice) and param.opts[0] == "--on":
            word = next((word for word in words if word in param.type.choices), None)
            return f"--on {word}" if word else None
    return None
