"""Which labels are wrong, with a calibrated probability, the label that is more likely, and the reason."""

from cutaway.analysis.labels.mislabeled import PRECISION, accepted, find_mislabeled
from cutaway.analysis.labels.reliability import calibration_error, reliability

__all__ = ["PRECISION", "accepted", "calibration_error", "find_mislabeled", "reliability"]
