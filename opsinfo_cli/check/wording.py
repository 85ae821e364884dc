"""The texts of rules and topics by language: English here and in the rules, translations in `LANGUAGE.toml`."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

from . import engine_files
from .engine_files import CONFIGURATION, MIXLIST
from .finding import Rule
from .rules import RULES

LANGUAGES = ("en", "zh")
"""The languages with texts; English, the default, is first."""

_WORDS = {
    "head": "{code} {name}: {severity}; the engine {engine}",
    "fails": "Fails:",
    "passes": "Passes:",
    "source": "Source: {source}",
    "empty": "(an empty file)",
}


TOPICS = {
    "mixlists": """\
Where a mixlist works

A modify_mixlist file is read by the AI Core engine of GE, the graph compiler. It takes effect when a graph is
compiled with a mixed precision mode:
  - TensorFlow through the TF adapter: modify_mixlist in the session or NPURunConfig options
  - ATC: --modify_mixlist
  - GE graphs built by other front ends: ge.exec.modify_mixlist

It has no effect on eager torch_npu, as far as is known: the default path there (aclnn) does not go
through this engine. No source states this; it is inferred from the architecture.

The mode must be one of allow_mix_precision, allow_mix_precision_fp16, allow_mix_precision_bf16,
mixed_float16, mixed_bfloat16, mixed_hif8. With any other the engine refuses to start (E10001).

See also: opsinfo explain read-once, opsinfo explain mode-refuses-mixlist""",
    "read-once": f"""\
A mixlist is read once per process

The engine caches a mixlist by its path string. A file that is changed while the process runs is not read
again, even if the first read failed. Restart the process, or rename the file.

Source:
  {MIXLIST}:80-109
  {CONFIGURATION}:1623-1650""",
    "policies": f"""\
White, black and gray

white  the operator may drop from float32 to the mode's low precision (precision_reduce.flag "true")
black  it keeps its precision (flag "false")
gray   it follows its producer (no flag)

The manuals also call them trustlist, blocklist and graylist.

A mixlist moves op types: to-add puts one on a list, to-remove removes it, which makes it gray. A gray-list
to-add alone changes nothing: to make a white operator gray, remove it from the white-list.

Source:
  {MIXLIST}:265-294""",
    "exit-codes": """\
Exit status

0    done, or no errors found
1    findings with an error, differences, "would change" under --check, or a baseline that is not sound
2    wrong usage, unknown op names included; nothing was written
3    a file or the system refused, or an internal fault; it wins over 1
129  SIGHUP; 130 SIGINT; 143 SIGTERM""",
    "environment": """\
Environment

ASCEND_OPP_PATH         the operator package a SoC name is looked up in, as in the engine
ASCEND_HOME_PATH        the toolkit whose opp is used if ASCEND_OPP_PATH is not set
ASCEND_CUSTOM_OPP_PATH  custom operator paths, colon-separated; used if the root came from the environment
OPSINFO_BACKUP_DIR      where backups are kept; --backup-dir wins
XDG_STATE_HOME          contains opsinfo/, where backups are kept by default; ~/.local/state; for root /var/lib/opsinfo
ASCEND_RT_VISIBLE_DEVICES  the device of a run, which bisect sets if its check does not name {device}
OPSINFO_LANG            the language of explain, en or zh; by default that of LC_ALL, LC_MESSAGES or LANG
GITHUB_ACTIONS          true: validate --format auto adds annotations
GITHUB_WORKSPACE        the root that paths in reports are relative to, if the current folder is inside
CI_PROJECT_DIR          the same for GitLab; without both, the nearest folder with .git, else the current one
VISUAL                  the editor of `opsinfo edit`
EDITOR                  the same, if VISUAL is not set
NO_COLOR                no colours, if non-empty; --color wins
FORCE_COLOR             colours in pipes and files too, if non-empty; NO_COLOR and --color win
TERM                    dumb: no colours, no tables and no pager
OPSINFO_PAGER           shows listings longer than the terminal; cat shows them without
PAGER                   the same, if OPSINFO_PAGER is not set; -q disables both""",
}
"""Explanations beyond single findings."""


@dataclass(frozen=True)
class Wording:
    """Rules and topics in one language.

    :param words: labels, and the words for severities, kinds of files and the engine's answers
    """

    rules: dict[str, Rule]
    topics: dict[str, str]
    words: dict[str, str]

    def word(self, english: str) -> str:
        return self.words.get(english, english)


def wording(language: str) -> Wording:
    """Return the wording in one of ``LANGUAGES``; English for texts that it lacks."""
    if language == "en":
        return Wording(RULES, TOPICS, _WORDS)
    texts = translation(language)
    rules = {name: replace(rule, **texts["rules"].get(name, {})) for name, rule in RULES.items()}
    return Wording(rules, {**TOPICS, **texts["topics"]}, {**_WORDS, **texts["words"]})


@cache
def translation(language: str) -> dict[str, Any]:
    """Return the texts of a language: ``words``, ``topics``, and the translated fields of ``rules``."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    text = files(__package__).joinpath(f"{language}.toml").read_text("utf-8")
    cited = {name: path for name, path in vars(engine_files).items() if name.isupper()}
    return tomllib.loads(re.sub(r"\{([A-Z_]+)\}", lambda match: cited[match[1]], text))
