"""Freezing a run: the studio's answers about it as files, beside a page that opens them without a studio."""

from cutaway.studio.freezing.folder import MARKER
from cutaway.studio.freezing.freeze import Frozen, freeze

__all__ = ["MARKER", "Frozen", "freeze"]
