"""`opsinfo completion`: print the completion script of a shell."""

from __future__ import annotations

import os

from ..line import declare
from ..shared.common_options import OutputOptions, output_of, talk_options

_SCRIPTS = os.path.join(os.path.dirname(os.path.dirname(__file__)), "line", "shells")
_ENDINGS = {"bash": "bash", "zsh": "zsh", "fish": "fish", "powershell": "ps1"}


@declare.command("completion")
@declare.argument("shell", type=declare.Choice(list(_ENDINGS)))
@talk_options
def command(shell: str, printing: OutputOptions) -> int:
    """Print the shell completion script.

    It completes commands, options, chips and operators. Operator names are cached in $XDG_CACHE_HOME/opsinfo,
    or ~/.cache/opsinfo.

    \b
    Examples:
      opsinfo completion bash > ~/.local/share/bash-completion/completions/opsinfo
      source <(opsinfo completion bash)
      opsinfo completion zsh > ~/.zfunc/_opsinfo    # a folder of $fpath
      opsinfo completion fish > ~/.config/fish/completions/opsinfo.fish
      opsinfo completion powershell | Out-String | Invoke-Expression
    """
    with open(os.path.join(_SCRIPTS, f"opsinfo.{_ENDINGS[shell]}"), encoding="utf-8") as file:
        output_of("completion", printing).data(file.read(), exact=True)
    return 0
