"""The rules: a table of their facts, and their texts by language in `LANGUAGE.toml`: English, and translations."""

from __future__ import annotations

import re
import sys
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

Severity = Literal["error", "warning", "note"]
Reaction = Literal["refuses", "crashes", "ignores", "accepts"]
About = Literal["both", "mixlist", "library", "mode", "model", "store", "install", "vault"]

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
"""The worst first."""

LANGUAGES = ("en", "zh")
"""The languages with texts; English, the default, is first."""


@dataclass(frozen=True)
class Rule:
    """The facts about a kind of finding.

    :param name: never changes
    :param severity: a finding may override it, as it may ``engine``
    :param engine: the engine's reaction
    """

    code: str
    name: str
    about: About
    severity: Severity
    engine: Reaction


@dataclass(frozen=True)
class ExplainedRule(Rule):
    """A rule with its texts in one language.

    :param fails: the smallest text that has the finding
    :param passes: the same, fixed
    :param source: where the rule comes from: repository, path and lines
    """

    why: str
    fails: str
    passes: str
    source: str


SYNTAX = Rule("T001", "syntax", "both", "error", "refuses")
COMMENT = Rule("T002", "comment", "both", "error", "refuses")
TRAILING_COMMA = Rule("T003", "trailing-comma", "both", "error", "refuses")
MISSING_COMMA = Rule("T004", "missing-comma", "both", "error", "refuses")
TRAILING_TEXT = Rule("T005", "trailing-text", "both", "warning", "accepts")
BOM = Rule("T006", "bom", "both", "note", "accepts")
DUPLICATE_KEY = Rule("T007", "duplicate-key", "both", "warning", "ignores")
EMPTY_FILE = Rule("T008", "empty-file", "both", "error", "refuses")
WRONG_TYPE = Rule("T009", "wrong-type", "both", "error", "refuses")
UNKNOWN_LIST = Rule("M001", "unknown-list", "mixlist", "error", "refuses")
UNKNOWN_ACTION = Rule("M002", "unknown-action", "mixlist", "error", "refuses")
CONTRADICTION = Rule("M003", "contradiction", "mixlist", "error", "refuses")
DUPLICATE_OPERATOR = Rule("M004", "duplicate-operator", "mixlist", "warning", "accepts")
UNKNOWN_OPERATOR = Rule("M005", "unknown-operator", "mixlist", "error", "ignores")
NOT_IN_AI_CORE = Rule("M006", "not-in-ai-core", "mixlist", "warning", "ignores")
SIBLING_TYPE = Rule("M007", "sibling-type", "mixlist", "warning", "accepts")
NO_EFFECT = Rule("M008", "no-effect", "mixlist", "warning", "ignores")
REMOVE_MISMATCH = Rule("M009", "remove-mismatch", "mixlist", "warning", "ignores")
BLACK_WITHOUT_FP32 = Rule("M010", "black-without-fp32", "mixlist", "warning", "accepts")
WHITE_WITHOUT_LOW = Rule("M011", "white-without-low", "mixlist", "warning", "accepts")
UNKNOWN_MODE = Rule("P001", "unknown-mode", "mode", "error", "refuses")
MODE_REFUSES_MIXLIST = Rule("P002", "mode-refuses-mixlist", "mode", "error", "refuses")
MODE_NOT_ON_SOC = Rule("P003", "mode-not-on-soc", "mode", "error", "refuses")
BOTH_MODES = Rule("P004", "both-modes", "mode", "error", "refuses")
NOT_IN_MODEL = Rule("G001", "not-in-model", "model", "warning", "accepts")
NO_EFFECT_IN_MODEL = Rule("G002", "no-effect-in-model", "model", "warning", "accepts")
BLACK_REFUSED_IN_MODEL = Rule("G003", "black-refused-in-model", "model", "error", "refuses")
CONSTANT_OUT_OF_RANGE = Rule("G004", "constant-out-of-range", "model", "warning", "accepts")
BAD_FLAG = Rule("L001", "bad-flag", "library", "error", "refuses")
BLANK_IN_NAME = Rule("L002", "blank-in-name", "library", "error", "refuses")
BAD_VALUE = Rule("L003", "bad-value", "library", "error", "refuses")
COLUMN_MISMATCH = Rule("L004", "column-mismatch", "library", "error", "refuses")
UNKNOWN_VALUE = Rule("L005", "unknown-value", "library", "warning", "accepts")
UNKNOWN_SECTION = Rule("L006", "unknown-section", "library", "warning", "accepts")
ENGINE_CRASH = Rule("L007", "engine-crash", "library", "error", "crashes")
SHADOWED = Rule("S001", "shadowed", "store", "note", "accepts")
STRAY_JSON = Rule("S002", "stray-json", "store", "warning", "accepts")
LOAD_ORDER_UNDEFINED = Rule("S003", "load-order-undefined", "store", "warning", "accepts")
STORE_FAILS = Rule("S004", "store-fails", "install", "error", "refuses")
BAD_LOAD_PRIORITY = Rule("S005", "bad-load-priority", "install", "error", "refuses")
BROKEN_CUSTOM_PATH = Rule("S006", "broken-custom-path", "install", "warning", "ignores")
EDITS_LOST = Rule("V001", "edits-lost", "vault", "warning", "accepts")
MODES_LEFT_OPEN = Rule("V002", "modes-left-open", "vault", "warning", "accepts")
UNFINISHED_CHANGE = Rule("V003", "unfinished-change", "vault", "warning", "accepts")
DAMAGED_BACKUP = Rule("V004", "damaged-backup", "vault", "error", "accepts")
OLDER_VAULT = Rule("V005", "older-vault", "vault", "note", "accepts")

RULES = {rule.name: rule for rule in vars().values() if isinstance(rule, Rule)}
"""Every rule by its name, which never changes."""


def rule_called(text: str) -> Rule | None:
    """Return a rule by its name or code, in any case; None if unknown."""
    wanted = text.lower()
    return next((rule for rule in RULES.values() if wanted in (rule.name, rule.code.lower())), None)


@dataclass(frozen=True)
class Wording:
    """Rules and topics in one language.

    :param topics: explanations beyond single findings
    :param words: labels, and the words for severities, kinds of files and the engine's answers
    """

    rules: dict[str, ExplainedRule]
    topics: dict[str, str]
    words: dict[str, str]

    def word(self, english: str) -> str:
        return self.words.get(english, english)


@cache
def wording(language: str = "en") -> Wording:
    """Return the wording in one of ``LANGUAGES``; English for texts that it lacks."""
    texts, own = translation("en"), translation(language)
    rules = {
        name: ExplainedRule(**asdict(rule), **{**texts["rules"][name], **own["rules"].get(name, {})})
        for name, rule in RULES.items()
    }
    return Wording(rules, {**texts["topics"], **own["topics"]}, {**texts["words"], **own["words"]})


@cache
def translation(language: str) -> dict[str, Any]:
    """Return the texts of a language: ``words``, ``topics``, and fields of ``rules``; ``files`` are cited by name."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    text = files(__package__).joinpath(f"{language}.toml").read_text("utf-8")
    cited = (tomllib.loads(text) if language == "en" else translation("en"))["files"]
    return tomllib.loads(re.sub(r"\{([A-Z_]+)\}", lambda match: cited[match[1]], text))
