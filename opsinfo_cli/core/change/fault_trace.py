"""Internal errors: the traceback is written to a file, not to the terminal."""

from __future__ import annotations

import tempfile
import traceback


def kept_trace(error: Exception) -> str:
    """Write the traceback to a file, and return text that names the file."""
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="opsinfo-fault-", suffix=".log", delete=False, encoding="utf-8", errors="backslashreplace"
        ) as file:
            file.write(text)
    except OSError:
        return "it could not be written"
    return f"it is in {file.name}"
