"""Completion in shells where click's own script falls short: bash ends words at `@`, `=` and `:`, click's script for
fish ends descriptions at a comma, and zsh and fish replace a word such as `--format=j` as a whole.

Importing this module replaces click's classes.
"""

from __future__ import annotations

import os

from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
    split_arg_string,
)


@add_completion_class
class BashLine(BashComplete):
    """The words are split from the line up to the cursor, not taken from bash's array."""

    source_template = """\
%(complete_func)s() {
    local IFS=$'\\n' line=${COMP_LINE:0:COMP_POINT} item
    local typed=${line##*[[:space:]]}
    local before=${typed%%"$2"}
    COMPREPLY=()
    for item in $(env COMP_WORDS="$line" %(complete_var)s=bash_complete "$1"); do
        case $item in
            plain,*) item=${item#plain,}; COMPREPLY+=("${item#"$before"}") ;;
            dir,*) compopt -o dirnames ;;
            file,*) compopt -o default -o filenames; COMPREPLY+=($(compgen -f -- "$2")) ;;
        esac
    done
}

complete -o nosort -F %(complete_func)s %(prog_name)s
"""

    def get_completion_args(self) -> tuple[list[str], str]:
        line = os.environ["COMP_WORDS"]
        words = split_arg_string(line)[1:]
        if line[-1:].isspace() or not words:
            return words, ""
        return words[:-1], words[-1]


class _WholeWord(ShellComplete):
    """Candidates for the value in `--format=j` have the option, since the shell replaces the word."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
        option, equals, _ = incomplete.partition("=")
        items = super().get_completions(args, incomplete)
        for item in items if equals and option.startswith("--") else ():
            item.value = f"{option}={item.value}"
        return items


@add_completion_class
class ZshLine(_WholeWord, ZshComplete):
    # for the names of files, which zsh itself finds
    source_template = ZshComplete.source_template.replace("    for type", "    compset -P '--*='\n    for type")


@add_completion_class
class FishLine(_WholeWord, FishComplete):
    source_template = FishComplete.source_template.replace('string split ","', 'string split -m 1 ","')
