"""Reading a run: `create_trial` opens a run folder, live or afterwards."""

from cutaway.trial.opening import create_trial
from cutaway.trial.step_queries import StepState, no_refresh, refresh
from cutaway.trial.tensor import Tensor
from cutaway.trial.trial import Trial

__all__ = ["StepState", "Tensor", "Trial", "create_trial", "no_refresh", "refresh"]
