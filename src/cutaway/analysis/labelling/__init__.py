"""Which samples to label next, and how well the model probably does on those without a label."""

from cutaway.analysis.labelling.choosing import METHODS, choose_to_label
from cutaway.analysis.labelling.estimate import Estimate, estimate_accuracy

__all__ = ["METHODS", "Estimate", "choose_to_label", "estimate_accuracy"]
