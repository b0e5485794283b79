"""One file of HTML that loads nothing: styles, scripts and data inside, and a policy that forbids everything else."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Mapping
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from cutaway.analysis.figures.words import clean

__all__ = ["asset", "fill", "make_page", "policy"]

ASSETS = Path(__file__).parent / "assets"


def make_page(title: str, caption: str, body: str, data: dict[str, Any] | None, scripts: tuple[str, ...]) -> str:
    """Return a page. `body` is HTML with its texts escaped; the title and the caption are escaped here.

    The data is JSON, compressed and in base64: no text of a sample can end a script, whatever it holds.
    """
    style = asset("page.css")
    code = "\n".join(asset(name) for name in ("unpack.js", *scripts)) if scripts else ""
    parts = {
        "POLICY": policy(style, code),
        "TITLE": escape(clean(title)) or "Figure",
        "HEADING": f"<h1>{escape(clean(title))}</h1>" if title else "",
        "STYLE": style,
        "BODY": body,
        "CAPTION": escape(clean(caption)),
        "DATA": "" if data is None else f'<script type="application/json" id="data">"{_packed(data)}"</script>',
        "CODE": f"<script>{code}</script>" if code else "",
    }
    return fill(asset("page.html"), parts)


def fill(template: str, parts: Mapping[str, str]) -> str:
    """Return a template with its places, `{{NAME}}`, filled: each once, from the template's own text.

    What a label says is never taken for a place.
    """
    pieces = template.split("{{")
    return pieces[0] + "".join(parts[name] + rest for name, rest in (one.split("}}", 1) for one in pieces[1:]))


def _packed(data: dict[str, Any]) -> str:
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(zlib.compress(text.encode(), 6)).decode()


def policy(style: str, code: str) -> str:
    """Return the policy of a page that has this style and this code and nothing else; none may be empty."""
    script = f"'sha256-{_digest(code)}'" if code else "'none'"
    return (
        f"default-src 'none'; img-src data:; style-src 'sha256-{_digest(style)}'; script-src {script}; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def asset(name: str) -> str:
    """Return the text of a file among the assets."""
    return (ASSETS / name).read_text(encoding="utf-8")
