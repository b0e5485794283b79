"""What the scripts of the built page weigh, page by page: what comes over the network before somebody sees one."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

__all__ = ["page_weights"]

# Loaded with whatever page of a run is opened.
_FIRST = ("index-", "shared-", "run-")
_STATIC_IMPORT = re.compile(r'(?:from|import)"\./([^"]+)"')


def page_weights(assets: Path) -> dict[str, int]:
    """Return for each script the bytes, compressed as a server would, that a page with it loads before it can run."""
    scripts = {path.name: path.read_text() for path in assets.glob("*.js")}
    weights = {name: len(gzip.compress(text.encode(), 9, mtime=0)) for name, text in scripts.items()}
    first = [name for name in scripts if name.startswith(_FIRST)]
    return {
        name: sum(weights[one] for one in set().union(*(_with_imports(one, scripts) for one in (*first, name))))
        for name in scripts
    }


def _with_imports(name: str, scripts: dict[str, str]) -> set[str]:
    """The scripts that come before this one can run; those that it loads when somebody goes on are not among them."""
    found, waiting = set[str](), [name]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += _STATIC_IMPORT.findall(scripts[one])
    return found
