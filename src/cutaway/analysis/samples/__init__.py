"""The samples that analyses are about: their values, where they come from, and the evaluation that keeps answers."""

from cutaway.analysis.samples.samples import Samples
from cutaway.run.evaluated.columns import CORRECT, LABEL, LOSS, PREDICTION, SAMPLE, SUBSET

__all__ = ["CORRECT", "LABEL", "LOSS", "PREDICTION", "SAMPLE", "SUBSET", "Samples"]
