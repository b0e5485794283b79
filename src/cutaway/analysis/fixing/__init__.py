"""Fix and prove: which candidates are corrected, the overlay of them, a retraining with it, and what that bought."""

from cutaway.analysis.fixing.choosing import ACTIONS, DOUBTFUL, PRECISION, Choice, Decision, choose
from cutaway.analysis.fixing.decisions import read_decisions
from cutaway.analysis.fixing.gain import Gain, gain_over_samples, gain_over_seeds, gain_without_interval
from cutaway.analysis.fixing.making import base_overlay, make_overlay
from cutaway.analysis.fixing.measured import MeasuredFix, measure, recorded_accuracy
from cutaway.analysis.fixing.retraining import Training, split_command, train

__all__ = [
    "ACTIONS",
    "DOUBTFUL",
    "PRECISION",
    "Choice",
    "Decision",
    "Gain",
    "MeasuredFix",
    "Training",
    "base_overlay",
    "choose",
    "gain_over_samples",
    "gain_over_seeds",
    "gain_without_interval",
    "make_overlay",
    "measure",
    "read_decisions",
    "recorded_accuracy",
    "split_command",
    "train",
]
