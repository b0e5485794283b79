"""The one pass over every sample of a data set: predictions, losses, metrics, metadata, latents and previews."""

from cutaway.evaluation.check import check
from cutaway.evaluation.check_report import CheckReport, CheckRow, CheckStatus
from cutaway.evaluation.evaluate import evaluate
from cutaway.evaluation.progress import Progress
from cutaway.run.evaluations import Evaluation, Failure, evaluations

__all__ = [
    "CheckReport",
    "CheckRow",
    "CheckStatus",
    "Evaluation",
    "Failure",
    "Progress",
    "check",
    "evaluate",
    "evaluations",
]
