"""The tensors that a rule asks for before it looks at a step: upstream's `req_tensors`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cutaway.errors import ConfigurationError
from cutaway.trial import Tensor, Trial

__all__ = ["RequiredTensors"]


class RequiredTensors:
    """Which tensors of which trial are needed at which steps."""

    def __init__(self, trial: Trial | None, other_trials: Sequence[Trial] = ()) -> None:
        self._trial = trial
        self._steps: dict[Trial, dict[str, list[int]]] = {one: {} for one in (trial, *other_trials) if one is not None}

    def add(
        self,
        name: str,
        steps: Iterable[int],
        trial: Trial | None = None,
        should_match_regex: bool = False,  # noqa: FBT001, FBT002 - upstream's signature
    ) -> None:
        """Ask for a tensor, or for all that a regex finds, at some global steps."""
        of_trial, source = self._steps_of(trial)
        wanted = list(steps)
        for one in source.tensor_names(regex=name) if should_match_regex else [name]:
            known = of_trial.setdefault(one, [])
            known += [step for step in wanted if step not in known]

    def get_names(self, trial: Trial | None = None) -> list[str]:
        """Return the names that were asked for."""
        return list(self._steps_of(trial)[0])

    def get_tensor_steps(self, name: str, trial: Trial | None = None) -> list[int]:
        """Return the steps at which a tensor was asked for."""
        return list(self._steps_of(trial)[0].get(name, ()))

    def get(self, trial: Trial | None = None) -> list[Tensor]:
        """Return the tensors that were asked for."""
        of_trial, source = self._steps_of(trial)
        return [source.tensor(name) for name in of_trial]

    def fetch(self) -> None:
        """Check that each is there. Raises `TensorUnavailable` or what says why a step is not."""
        for trial, of_trial in self._steps.items():
            for name, steps in of_trial.items():
                tensor = trial.tensor(name)
                for step in steps:
                    tensor.value(step)

    def _steps_of(self, trial: Trial | None) -> tuple[dict[str, list[int]], Trial]:
        source = trial or self._trial
        if source is None or source not in self._steps:
            raise ConfigurationError("`req_tensors` knows the rule's `base_trial` and its `other_trials` only.")
        return self._steps[source], source
