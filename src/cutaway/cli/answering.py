"""What `cutaway analyze` was asked, and the form of every answer. Computes and prints nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from cutaway.analysis import Figure

__all__ = ["Answer", "Asked"]


@dataclass(frozen=True)
class Asked:
    """What the command was asked, as it stands in its options."""

    what: str | None = None
    where: tuple[str, ...] = ()
    samples: tuple[str, ...] = ()
    method: str | None = None
    k: int = 20
    region: str | None = None
    input_file: str | None = None
    targets: tuple[str, ...] = ()
    layers: tuple[str, ...] = ()
    loss: bool = False
    baseline: str | None = None
    sanity: bool = True
    color: str | None = None
    size: str | None = None
    balance_by: tuple[str, ...] = ()
    count: int | None = None
    x: str | None = None
    y: str | None = None
    by: str | None = None
    bins: int = 10
    top: int = 10
    seed: int = 0
    device: str | None = None
    other: str | None = None


@dataclass(frozen=True)
class Answer:
    """One answer: lines for people, tables by name, figures by name, made when somebody wants them.

    `name` is the analysis; `shown` names the table whose first rows are printed, none where the words say it all.
    """

    name: str
    title: str
    words: tuple[str, ...] = ()
    tables: Mapping[str, pa.Table] = field(default_factory=dict)
    figures: Mapping[str, Callable[[], Figure]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    shown: str | None = None
    reason: str = ""
