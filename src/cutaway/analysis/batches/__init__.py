"""Loss and accuracy against batches: `batch_curves`."""

from cutaway.analysis.batches.curves import BatchCurves, batch_curves

__all__ = ["BatchCurves", "batch_curves"]
