"""What the columns are called that analyses look for; whatever else a table has keeps its own names."""

from __future__ import annotations

__all__ = ["CORRECT", "LABEL", "LOSS", "PREDICTION", "SAMPLE", "SUBSET"]

SAMPLE, SUBSET, LABEL, PREDICTION, CORRECT, LOSS = "sample", "subset", "label", "prediction", "correct", "loss"
