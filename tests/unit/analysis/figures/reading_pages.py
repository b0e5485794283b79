"""Reads a page as a browser would: its elements, its data, its policy."""

import base64
import hashlib
import json
import re
import zlib
from html.parser import HTMLParser
from typing import Any

import numpy as np

# Elements that have no end.
EMPTY = {"meta", "img", "br", "input", "link"}
KINDS = {"f4": "<f4", "f8": "<f8", "i4": "<i4", "u1": "u1", "u2": "<u2", "u4": "<u4"}

# What samples and classes may be called by somebody who means harm, or by accident.
HOSTILE = [
    "</script><script>alert(1)</script>",
    "\"'><img src=x onerror=alert(1)>",
    "a\x00b\x1b[31mred\x7f",
    "{{DATA}} {{CODE}} $x^2$ \\frac{ $",
    "line\u2028break\u202eright to left",
    "Ünïcode 漢字 🦊 e\u0301",
    "<!-- not a comment -->",
    "",
    "x" * 500,
]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag, f"</{tag}> closes another element"

    def handle_data(self, data: str) -> None:
        self.texts.append((self.open[-1] if self.open else "", data))


class Page:
    """A page that is well formed."""

    def __init__(self, text: str) -> None:
        reader = _Reader()
        reader.feed(text)
        reader.close()
        assert reader.open == []
        self.text = text
        self.elements = reader.elements
        self.texts = reader.texts

    @property
    def shown(self) -> str:
        """What stands in the page outside scripts and styles."""
        return " ".join(text for tag, text in self.texts if tag not in ("script", "style"))

    @property
    def data(self) -> Any:
        """What the scripts draw."""
        found = re.search(r'<script type="application/json" id="data">"([A-Za-z0-9+/=]*)"</script>', self.text)
        assert found
        return json.loads(zlib.decompress(base64.b64decode(found[1])))

    def loads_nothing(self) -> None:
        """Fail where the page would load something, or run what its policy does not name."""
        scripts = re.findall(r"<script>(.*?)</script>", self.text, re.DOTALL)
        styles = re.findall(r"<style>(.*?)</style>", self.text, re.DOTALL)
        (policy,) = (one["content"] for tag, one in self.elements if one.get("http-equiv"))
        assert policy is not None
        assert policy.startswith("default-src 'none'; img-src data:;")
        for text in (*scripts, *styles):
            assert f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" in policy
        assert len(scripts) <= 1
        assert len(styles) == 1
        for tag, attributes in self.elements:
            assert tag not in ("link", "iframe", "object", "embed", "base")
            for name, value in attributes.items():
                assert not name.startswith("on")
                assert name not in ("href", "style", "srcdoc")
                assert name != "src" or (value or "").startswith("data:image/png;base64,")
        code = "".join((*scripts, *styles))
        # The name of the language of drawings is no address that anybody calls.
        assert set(re.findall(r"https?://[\w./]*", code)) <= {"http://www.w3.org/2000/svg"}
        assert not re.search(
            r"\b(fetch|XMLHttpRequest|WebSocket|importScripts|eval|innerHTML|outerHTML)\b|@import", code
        )


def decoded(packed: dict[str, str]) -> Any:
    """Return an array out of a page."""
    return np.frombuffer(base64.b64decode(packed["bytes"]), KINDS[packed["kind"]])
