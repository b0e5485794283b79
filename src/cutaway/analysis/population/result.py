"""`AnalysisResult`: what one analysis says, as words, tables and figures. Computes and prints nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from cutaway.analysis.figures import Figure

__all__ = ["AnalysisResult", "Draw"]

Draw = Callable[[], "Figure"]


@dataclass(frozen=True)
class AnalysisResult:
    """One analysis: what it says in words, its tables by name, and where it does not apply, why.

    `title` says more than the name, where there is more to say. `figures` are drawn when they are called. `shown` names
    the table whose first rows are printed, none where the words say it all.
    """

    analysis: str
    words: tuple[str, ...] = ()
    tables: Mapping[str, pa.Table] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    reason: str = ""
    title: str = ""
    figures: Mapping[str, Draw] = field(default_factory=dict)
    shown: str | None = None
