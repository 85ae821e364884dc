"""Pages opened in Chromium without a window."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">'&\u202e$x"

Browser = Callable[[str, str], dict[str, Any]]


def opened(text: str, script: str, folder: Path, dark: bool = False) -> dict[str, Any]:
    """Open a page, run a script in it, and return what the script puts into ``result``; it may ``await``.

    :param dark: whether the desktop prefers dark pages
    """
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text, count=1)
    acting = "<script>addEventListener('error', (event) => { document.title = event.message; });</script>"
    done = (
        "<script>(async () => {\n"
        "const result = {title: document.title}; const $ = (css) => document.querySelector(css);\n"
        "const $$ = (css) => Array.from(document.querySelectorAll(css));\n"
        "const names = () => $$('tbody tr').filter((row) => !row.hidden).map((row) => row.cells[0].textContent);\n"
        f"try {{\n{script}\n}} catch (error) {{ result.error = String(error.stack); }}\n"
        "document.body.append(Object.assign(document.createElement('pre'),"
        " {id: 'result', textContent: btoa(unescape(encodeURIComponent(JSON.stringify(result))))})); })();</script>"
    )
    dom = dumped(text.replace("<style>", acting + "<style>", 1) + done, folder, dark)
    found = re.search(r'<pre id="result">([^<]*)</pre>', dom)
    assert found, "the script did not come to its end"
    result: dict[str, Any] = json.loads(base64.b64decode(found[1]).decode("utf-8"))
    assert "error" not in result, result["error"]
    return result


def framed(text: str, width: int) -> str:
    """A page that has the page in a frame of this width."""
    inside = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
    return f'<!DOCTYPE html><style></style><iframe width="{width}" height="800" srcdoc="{escape(inside)}"></iframe>'


def dumped(text: str, folder: Path, dark: bool = False) -> str:
    """The elements of a page after its scripts have run."""
    path = folder / "browser" / "page.html"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, "utf-8")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'browser' / 'profile'}"]
    flags.append(f"--blink-settings=preferredColorScheme={0 if dark else 1}")
    done = subprocess.run(
        [str(CHROMIUM), *flags, "--virtual-time-budget=20000", "--dump-dom", path.as_uri()],
        capture_output=True,
        timeout=120,
        check=True,
    )
    return done.stdout.decode("utf-8")
