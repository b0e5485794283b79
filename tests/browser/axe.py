"""What axe finds wrong with a page for people who cannot see it, or use no mouse."""

from __future__ import annotations

from functools import cache
from typing import Any

from scripts.requirements import ROOT

__all__ = ["AXE", "serious_findings"]

AXE = ROOT / "ui" / "node_modules" / "axe-core" / "axe.min.js"
GRAVE = ("serious", "critical")


@cache
def _source() -> str:
    return AXE.read_text(encoding="utf-8")


def serious_findings(page: Any) -> list[str]:
    """Return what is serious or critical, a line each: the rule, what it says, and where it applies."""
    # Evaluated by the browser's own tools, not loaded by the page, whose policy would refuse it.
    page.evaluate(_source())
    found = page.evaluate("() => window.axe.run(document, { resultTypes: ['violations'] })")
    return [
        f"{violation['id']} ({violation['impact']}): {violation['help']}: {node['target']} {node['html'][:200]}"
        for violation in found["violations"]
        if violation["impact"] in GRAVE
        for node in violation["nodes"]
    ]
