"""What is asked of the binding and the model of an evaluation. Here, and only here, users' code runs.

Which binding is opened `evaluation.reopening` decides: never a file that came with a run. The model lives in its own
confined process, as everywhere.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cutaway.analysis.population.population import Population
from cutaway.arrays import Array
from cutaway.dataset import Dataset
from cutaway.errors import BindingError, ConfigurationError, did_you_mean
from cutaway.evaluation.reopening import Reopened, Sample, encoded_sample, model_of, reopen_dataset
from cutaway.evaluation.wiring import first_sample
from cutaway.models import Limits, load
from cutaway.run.evaluated import chosen_evaluation
from cutaway.run.evaluations import Evaluation
from cutaway.run.file_stamp import FileStamp, stamp_of
from cutaway.run.identity import Run
from cutaway.studio.workers.questions.describing import described, uploads_of
from cutaway.studio.workers.questions.heat_maps import first_map, model_choices, sample_heat_maps
from cutaway.studio.workers.questions.trying import tried
from cutaway.studio.workers.questions.visuals import sample_visuals

if TYPE_CHECKING:
    from cutaway.studio.workers.serve import ProgressPipe

__all__ = ["OpenedModel"]

# More threads than this gain nothing for one sample, and others want the machine too.
_MOST_THREADS = 4


class OpenedModel:
    """The binding and the model of an evaluation, each opened when it is first needed."""

    def __init__(self, run: str, evaluation: int, tells: ProgressPipe) -> None:
        self._evaluation: Evaluation = chosen_evaluation(Run.open(run), evaluation)
        self._tells = tells
        self._entry_stamp: FileStamp | None = None
        self._limits = Limits(threads=min(_MOST_THREADS, os.cpu_count() or 1))
        self.questions: dict[str, Callable[[Mapping[str, Any]], Any]] = {
            "bind": self._bind,
            "open": self._open,
            "visuals": self._visuals,
            "heat_maps": self._heat_maps,
            "model": self._model,
            "try": self._try,
        }

    @property
    def is_stale(self) -> bool:
        """Whether the binding's file changed since it was opened: somebody works on it, and looks what it does."""
        return "_bound" in vars(self) and self._entry_stamp != stamp_of(self._entry)

    @cached_property
    def _entry(self) -> Path | None:
        entry = self._evaluation.source.binding.entry_file
        return None if entry is None else Path(entry)

    @cached_property
    def _bound(self) -> tuple[Dataset, list[str]]:
        name = "" if self._entry is None else self._entry.name
        self._tells.doing(f"opening the binding {name!r}" if name else "looking for the binding")
        self._entry_stamp = stamp_of(self._entry)
        return reopen_dataset(self._evaluation)

    @cached_property
    def _population(self) -> Population:
        dataset = self._bound[0]
        self._tells.doing("reading the samples")
        number = self._evaluation.number
        return Population.open(self._evaluation.run, evaluation=number, dataset=dataset, limits=self._limits)

    @cached_property
    def _reopened(self) -> Reopened:
        origin = self._population.origin
        assert origin is not None  # it is a run's population
        self._tells.doing("opening the model")
        return origin.reopened()

    @cached_property
    def _places(self) -> dict[str, tuple[str, int]]:
        """The subset and the row in it of each sample."""
        return {
            name: (subset, row)
            for subset in self._evaluation.subsets
            for row, name in enumerate(self._evaluation.ids(subset))
        }

    @cached_property
    def _first_batch(self) -> dict[str, Array]:
        """The first sample that can be encoded, as the model takes it."""
        first = first_sample(self._bound[0]).inputs
        return self._reopened.batch_of({name: np.asarray(values)[np.newaxis] for name, values in first.items()})

    @cached_property
    def _choices(self) -> dict[str, Any]:
        return model_choices(self._reopened.model, self._first_batch)

    def _sample(self, name: str) -> Sample:
        if name not in self._places:
            near = did_you_mean(name, list(self._places)[:10_000])
            raise ConfigurationError(f"There is no sample {name!r} here.", hint=near)
        dataset = self._bound[0]
        self._tells.doing(f"encoding {name!r}")
        return encoded_sample(self._evaluation, dataset, *self._places[name])

    def _bind(self, arguments: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG002 - as all questions
        """Open the binding alone, which visuals can be had of before the model is there."""
        return {"notes": self._bound[1]}

    def _open(self, arguments: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG002 - as all questions
        """Open everything, and ask the model once: its first answer takes longer than all others."""
        choices, reopened = self._choices, self._reopened
        output = next(iter(reopened.wiring.predictions))
        first_map(reopened.model, self._first_batch, output, None)
        return {"format": reopened.model.description.format, "layers": len(choices["layers"])}

    def _visuals(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        sample = self._sample(str(arguments["sample"]))
        dataset, notes = self._bound
        self._tells.doing("calling the visualizers")
        return {"visuals": sample_visuals(self._evaluation, dataset, sample), "notes": notes}

    def _heat_maps(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        choices, reopened = self._choices, self._reopened
        sample = self._sample(str(arguments["sample"]))
        self._tells.doing(f"making heat maps of {sample.id!r}")
        found = sample_heat_maps(self._population, reopened, sample, arguments, self._tells)
        maps = [{**one, "notes": [*one["notes"], *self._bound[1]]} for one in found["maps"]]
        return {**choices, **found, "maps": maps}

    def _model(self, arguments: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG002 - as all questions
        try:
            reopened = self._reopened
        except BindingError as error:
            return self._alone(error)
        return {
            **described(reopened.model),
            **uploads_of(reopened),
            "binding_notes": [*self._bound[1], *reopened.notes],
        }

    def _alone(self, error: BindingError) -> dict[str, Any]:
        """Return what the model says of itself where the binding that goes with it is not to be had."""
        path = model_of(self._evaluation)
        if path is None:
            raise error
        self._tells.doing("opening the model")
        with load(path, limits=self._limits) as model:
            note = f"You can inspect the model but not run it: the data set isn't available. {error}"
            return {**described(model), "uploads": [], "upload_note": "", "binding_notes": [note]}

    def _try(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        reopened = self._reopened
        self._tells.doing("asking the model about the file")
        return tried(self._population, reopened, arguments)
