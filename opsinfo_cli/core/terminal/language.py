"""The language of texts for people. Output for programs is always English."""

from __future__ import annotations

import os
import re
import sys

from ..check.wording import LANGUAGES
from .console import Console

_LOCALE = ("LC_ALL", "LC_MESSAGES", "LANG")
_PROOF = {"zh": "简体"}
"""Characters that an encoding must have for a language."""


def language_for(console: Console) -> str:
    """Return OPSINFO_LANG, else the locale's language; English if it has no texts or the stream cannot show them.

    A note gives the reason if OPSINFO_LANG asked for another language; a locale is ignored silently.
    """
    asked = os.environ.get("OPSINFO_LANG", "")
    wanted = _language_of(asked or next(filter(None, map(os.environ.get, _LOCALE)), ""))
    if wanted in ("", "c", "posix", "en"):
        return "en"
    if wanted not in LANGUAGES:
        why = f"language `{asked}` is not available, only {', '.join(LANGUAGES)} (OPSINFO_LANG)"
    elif not _shows(wanted):
        why = f"standard output is {sys.stdout.encoding}, which cannot show `{asked}`; PYTHONIOENCODING=utf-8 can"
    else:
        return wanted
    if asked:
        console.note(why)
    return "en"


def _language_of(locale: str) -> str:
    """Return `zh` for `zh_CN.UTF-8`, `zh-Hans` and `ZH`."""
    return re.split(r"[_.@-]", locale.strip().lower())[0]


def _shows(language: str) -> bool:
    try:
        _PROOF[language].encode(sys.stdout.encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
