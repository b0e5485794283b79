"""Fix and prove: which candidates are corrected, the overlay of them, a retraining with it, and what that bought."""

from cutaway.analysis.fixing.choosing import ACTIONS, DOUBTFUL, PRECISION, Choice, Decision, choose
from cutaway.analysis.fixing.decisions import read_decisions
from cutaway.analysis.fixing.expecting import Expected, Mistakes, expected_gain
from cutaway.analysis.fixing.gain import Gain, gain_over_samples, gain_over_seeds, gain_without_interval, points
from cutaway.analysis.fixing.making import base_overlay, make_overlay
from cutaway.analysis.fixing.measured import ONE_TRAINING_EACH, MeasuredFix, measure, recorded_accuracy
from cutaway.analysis.fixing.people import BY_SCORES, Standing, decided_by_people
from cutaway.analysis.fixing.retraining import Training, split_command, train

__all__ = [
    "ACTIONS",
    "BY_SCORES",
    "DOUBTFUL",
    "ONE_TRAINING_EACH",
    "PRECISION",
    "Choice",
    "Decision",
    "Expected",
    "Gain",
    "MeasuredFix",
    "Mistakes",
    "Standing",
    "Training",
    "base_overlay",
    "choose",
    "decided_by_people",
    "expected_gain",
    "gain_over_samples",
    "gain_over_seeds",
    "gain_without_interval",
    "make_overlay",
    "measure",
    "points",
    "read_decisions",
    "recorded_accuracy",
    "split_command",
    "train",
]
