"""What the columns are called that analyses look for; whatever else a table has keeps its own names."""

from __future__ import annotations

__all__ = ["CORRECT", "ERROR", "LABEL", "LOSS", "METADATA", "PREDICTION", "SAMPLE", "SUBSET"]

SAMPLE, SUBSET, LABEL, PREDICTION, CORRECT, LOSS = "sample", "subset", "label", "prediction", "correct", "loss"
# Why a sample failed; what the names of metadata begin with.
ERROR, METADATA = "error", "metadata."
