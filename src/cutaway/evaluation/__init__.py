"""The one pass over every sample of a data set: predictions, losses, metrics, metadata, latents and previews."""

from cutaway.evaluation.evaluate import evaluate
from cutaway.evaluation.progress import Progress
from cutaway.run.evaluations import Evaluation, Failure, evaluations

__all__ = ["Evaluation", "Failure", "Progress", "evaluate", "evaluations"]
