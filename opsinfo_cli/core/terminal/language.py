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
    locale = asked or next(filter(None, map(os.environ.get, _LOCALE)), "")
    wanted = re.split(r"[_.@-]", locale.strip().lower())[0]  # `zh` of `zh_CN.UTF-8`, `zh-Hans` and `ZH`
    if wanted in ("", "c", "posix", "en"):
        return "en"
    if wanted in LANGUAGES:
        try:
            _PROOF[wanted].encode(sys.stdout.encoding or "utf-8")
            return wanted
        except (UnicodeEncodeError, LookupError):
            why = f"standard output is {sys.stdout.encoding}, which cannot show `{asked}`; PYTHONIOENCODING=utf-8 can"
    else:
        why = f"language `{asked}` is not available, only {', '.join(LANGUAGES)} (OPSINFO_LANG)"
    if asked:
        console.note(why)
    return "en"
