"""Follows a page to the letter: its files are written as they stand and installed."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest

from tests.docs.pages import DOCS

HOW_TO = DOCS / "how-to"


class Follower:
    """Somebody who writes a page's files into an empty folder and installs them as a package."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self._monkeypatch = monkeypatch

    def write(self, page: str, name: str) -> Path:
        """Write the one file of this name that a page shows."""
        found = re.findall(rf'(?ms)^```python title="{re.escape(name)}"\n(.*?)^```', self._text(page))
        assert len(found) == 1, f"{page} shows {name} {len(found)} times"
        path = self.folder / name
        path.write_text(found[0], encoding="utf-8")
        return path

    def install(self, page: str) -> None:
        """Make the package known as pip would, by the entry points that the page shows."""
        shown = "\n".join(re.findall(r"(?ms)^```toml\n(.*?)^```", self._text(page)))
        groups: dict[str, dict[str, str]] = tomllib.loads(shown)["project"]["entry-points"]
        lines = [f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in names.items()) for group, names in groups.items()]
        about = self.folder / "followed-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: followed\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text("\n".join(lines))
        # For this process, and for those that it starts.
        self._monkeypatch.syspath_prepend(self.folder)
        self._monkeypatch.setenv("PYTHONPATH", str(self.folder))

    @staticmethod
    def _text(page: str) -> str:
        return (HOW_TO / page).read_text(encoding="utf-8")

    def forget(self, module: str) -> None:
        """Let a module be imported anew, and not stay after the test."""
        self._monkeypatch.delitem(sys.modules, module, raising=False)
