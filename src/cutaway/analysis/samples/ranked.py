"""`Ranked`: samples in the order in which a person should look at them, each with a score and a reason."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from cutaway.errors import ConfigurationError

__all__ = ["Ranked"]


@dataclass(frozen=True)
class Ranked:
    """A ranked table, what it says as a whole, and what limits it.

    `table` begins with the columns `sample`, `score` and `reason`, the highest score first; what follows is the
    evidence. `words` are lines for people, the most important first; `notes` say what was left out or approximated.

    >>> Ranked(pa.table({"sample": ["training/7"], "score": [0.9], "reason": ["why"]}), ("one sample",)).table.num_rows
    1
    """

    table: pa.Table
    words: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        begins = self.table.column_names[:3]
        if begins != ["sample", "score", "reason"]:
            raise ConfigurationError(f"A ranked table begins with sample, score, reason, but this with {begins}.")

    def __len__(self) -> int:
        return int(self.table.num_rows)
