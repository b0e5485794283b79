"""Reading a run: `create_trial` opens a run folder, live or afterwards."""

from cutaway.trial.opening import create_trial
from cutaway.trial.refreshing import no_refresh, refresh
from cutaway.trial.step_state import StepState
from cutaway.trial.tensor import Tensor
from cutaway.trial.trial import Trial

__all__ = ["StepState", "Tensor", "Trial", "create_trial", "no_refresh", "refresh"]
