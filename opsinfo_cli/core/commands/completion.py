"""`opsinfo completion`: print the completion script of a shell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias, get_args

import click
from click.shell_completion import get_completion_class

from ..document import Schema, as_json
from ..terminal import shells  # noqa: F401  replaces classes of click
from ..terminal.answer import CommandAnswer, Exact
from ..terminal.console import Console
from ..terminal.params import Choice, Command, prints

Shell: TypeAlias = Literal["bash", "zsh", "fish"]


@dataclass(frozen=True)
class CompletionScript:
    """The completion script of a shell. Later versions may add keys."""

    shell: Annotated[Shell, Schema(examples=["bash"])]
    """The shell."""
    script: str
    """The script, to be sourced by the shell."""


@click.command("completion", cls=Command)
@click.argument("shell", type=Choice(get_args(Shell)))
@prints()
def command(shell: Shell, console: Console) -> CommandAnswer:
    """Print the shell completion script.

    It completes commands, options, chips, operators and files.

    \b
    Examples:
      source <(opsinfo completion bash)
      opsinfo completion bash > opsinfo.bash    # to source in ~/.bashrc
      opsinfo completion zsh > _opsinfo         # for a folder in $fpath
      opsinfo completion fish > opsinfo.fish    # for ~/.config/fish/completions
    """
    its_class = get_completion_class(shell)
    assert its_class is not None
    group = click.get_current_context().find_root().command
    script = its_class(group, {}, "opsinfo", "_OPSINFO_COMPLETE").source()
    return CommandAnswer(lambda: as_json(CompletionScript(shell, script)), lambda: [Exact(script)], paged=False)
