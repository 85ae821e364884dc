"""The commands by group, each with its short help; its parameters are declared in its own module.

Everything that reads a line uses this table: the fast path, click, completion, and the choice of an error's format.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .declare import Command

GROUPS = {
    "Look": {
        "list": "Show operators with their policy.",
        "show": "Show all details of operators, and why they are on their list.",
        "diff": "Compare two targets, or two mixlists.",
        "matrix": "Show operators by target, for any number of targets.",
        "socs": "List installs, versions and chips.",
    },
    "Edit": {
        "move": "Put operators on a list, in a library or a mixlist.",
        "apply": "Write the policies of a mixlist into libraries.",
        "merge": "Merge several mixlists into one.",
        "minimize": "Drop the entries of a mixlist that change nothing.",
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
        "reapply": "Repeat changes that an upgrade undid.",
    },
    "Model": {
        "graph": "Show the effect of a policy on a model, node by node.",
        "simulate": "Compute a model with rounded tensors, and show what that costs.",
        "bisect": "Find the smallest list that makes a check pass.",
    },
    "Runs": {
        "qualify": "Check training logs of a mixed-precision baseline.",
        "reduced": "List operators that MindSpore logged as reduced.",
        "numerics": "Show number formats, and the losses of values and tensors in them.",
    },
    "Other systems": {
        "modes": "List precision modes, and the lines that set them.",
        "convert": "Convert the lists of one system to another.",
        "systems": "List other systems whose lists can be read.",
        "decide": "Show the dtype that a call runs in, and the rule that decides.",
    },
    "Setup": {
        "snapshot": "Write the facts of a target to a file, for use without CANN.",
        "schema": "Print a published JSON schema.",
        "completion": "Print the shell completion script.",
    },
}
"""Group -> command -> short help, so that `--help` imports no command."""

COMMANDS: dict[str, str] = {name: text for group in GROUPS.values() for name, text in group.items()}


def declared(name: str) -> Command:
    """Return a command with its parameters, from its own module."""
    package = __package__.rpartition(".")[0]
    found: Command = __import__(f"{package}.commands.{name}", fromlist=["command"]).command  # importlib is slower
    return found
