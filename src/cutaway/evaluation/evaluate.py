"""`evaluate`: one pass of a model over a data set, into a run. Puts the parts together; the pass is `pass_over`'s."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np

from cutaway.arrays import Array
from cutaway.dataset import Dataset
from cutaway.dataset.overlay_subset import for_evaluation
from cutaway.errors import BindingError, ConfigurationError, did_you_mean
from cutaway.evaluation.drawing import choose_drawing
from cutaway.evaluation.encoding import Encoding
from cutaway.evaluation.ledger import Ledger
from cutaway.evaluation.pass_over import Pass, Setting
from cutaway.evaluation.plan import FunctionChoice, Plan, class_axis, look_at_pairs, make_plan
from cutaway.evaluation.predicting import Predictor, latent_layer_of
from cutaway.evaluation.progress import Listener
from cutaway.evaluation.scoring import Bound
from cutaway.evaluation.sources import binding_of, key_of, model_key, versions
from cutaway.evaluation.subject import Subject, open_subject
from cutaway.evaluation.subject import keep_model as keep_copy
from cutaway.evaluation.wiring import FirstSample, Wiring, first_sample, shapes_of, wire
from cutaway.run import Run
from cutaway.run.evaluations import LATENT, Evaluation, find_unfinished, space_file_name
from cutaway.run.layout import is_run
from cutaway.run.overlay_use import record_overlay
from cutaway.run.sample_writer import SampleWriter

__all__ = ["evaluate"]

log = logging.getLogger("cutaway.evaluation")

# An encoder that needs longer than this for one sample does not come back.
SAMPLE_SECONDS = 60.0
MOST_WORKERS = 4


def evaluate(
    dataset: Dataset,
    model: Any = None,
    run: Any = None,
    *,
    epoch: int | None = None,
    batch_size: int = 64,
    workers: int | None = None,
    on_error: Literal["skip", "fail"] = "skip",
    keep_model: bool = True,
    latent_layer: str | None = None,
    loss: FunctionChoice | Sequence[FunctionChoice] | None = None,
    metrics: FunctionChoice | Sequence[FunctionChoice] | None = None,
    subsets: Sequence[str] | None = None,
    progress: Listener | None = None,
    resume: bool = True,
    sample_timeout: float = SAMPLE_SECONDS,
) -> Evaluation:
    """Evaluate every sample once and write predictions, losses, metrics, metadata, latent vectors and previews.

    `model` is a `cutaway.models.Model`, whatever `cutaway.models.load` takes, or None for the binding's own. `run` is
    a `Run`, its folder, or a hook; without one a new run is made. A sample that fails keeps its row, with the reason
    in `error`; `on_error="fail"` stops there instead. What was done when it stopped, or was killed, stays: calling
    this again with the same data set, model and options goes on from there, unless `resume=False`.

    `loss` and `metrics` are names or functions; by default those of the binding, and where it has none, what suits
    the first batch. `latent_layer` is the layer of the latent space, by default what goes into the head. Of a live
    model a copy is kept beside the samples, unless `keep_model=False`. `progress` is called with `Progress` values.
    """
    setting = _setting(batch_size, workers, on_error, sample_timeout)
    lengths = _lengths(dataset, subsets)
    dataset = replace(dataset, subsets=for_evaluation(dataset.subsets))
    asked = {"loss": _as_list(loss), "metrics": _as_list(metrics)}
    options = {"epoch": epoch, "latent_layer": latent_layer, **_names_of_functions(asked)}
    subject = open_subject(model, dataset)
    try:
        joined = _Joined.of(dataset, subject, latent_layer)
        # What was asked for and is not there is said before anything is written.
        make_plan(dataset, subject.model.description, joined.wiring, {}, **asked)
        drawing, no_previews = choose_drawing(dataset, joined.wiring, joined.first.inputs, sum(lengths.values()))
        content = joined.source(lengths, options, [no_previews])
        content |= {"epoch": epoch, "options": {**options, "batch_size": batch_size, "on_error": on_error}}
        with Ledger.open(_run_of(run, dataset, content["key"] if resume else None), content, resume=resume) as ledger:
            if keep_model and not ledger.resumed:
                ledger.update(model={**subject.about, **keep_copy(subject, ledger.evaluation, joined.batch())})
            one_pass = Pass(
                Encoding(dataset, shapes_of(joined.first)),
                joined.predictor,
                SampleWriter(ledger.evaluation.run, ledger.evaluation.number),
                setting,
                lengths,
                _Planner(dataset, subject, joined.wiring, asked, ledger).plan,
                spaces=joined.spaces(),
                drawing=drawing,
                listener=progress,
                what=ledger.words,
            )
            ledger.carry_out(one_pass, lengths)
            record_overlay(ledger.evaluation.run)
        return ledger.evaluation
    finally:
        subject.close()


@dataclass(frozen=True)
class _Joined:
    """A data set and a model that fit together, and the first sample that showed it."""

    dataset: Dataset
    subject: Subject
    first: FirstSample
    wiring: Wiring
    predictor: Predictor
    layer: str | None
    notes: tuple[str, ...]

    @classmethod
    def of(cls, dataset: Dataset, subject: Subject, latent_layer: str | None) -> Self:
        """Join the two. Raises where they do not fit, or where there is no such layer."""
        layer, why_none = latent_layer_of(subject.model, latent_layer)
        _refuse_same_files([one.name for one in dataset.latent_spaces])
        first = first_sample(dataset)
        last = subject.model.channels_last
        wiring = wire(dataset, subject.model.description, shapes_of(first), channels_last=last)
        predictor = Predictor(subject.model, wiring, layer)
        return cls(dataset, subject, first, wiring, predictor, layer, (*wiring.notes, why_none))

    def source(self, lengths: Mapping[str, int], options: Mapping[str, Any], notes: Sequence[str]) -> dict[str, Any]:
        """Return what `source.json` begins with."""
        binding = binding_of(self.dataset, lengths)
        own = {one.name: {"use_for_analysis": one.use_for_analysis} for one in self.dataset.latent_spaces}
        return {
            "key": key_of(binding, model_key(self.subject, self.predictor, self.dataset), options),
            "binding": binding,
            "model": self.subject.about,
            "wiring": self.wiring.to_dict(),
            "subsets": {name: {"samples": length} for name, length in lengths.items()},
            "spaces": {**({LATENT: {"layer": self.layer}} if self.layer is not None else {}), **own},
            "versions": versions(),
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
            "notes": [note for note in (*self.notes, *notes) if note],
        }

    def batch(self) -> dict[str, Array]:
        """Return the first sample as a batch that the model takes."""
        return self.predictor.batch_of({name: values[np.newaxis] for name, values in self.first.inputs.items()})

    def spaces(self) -> tuple[Bound, ...]:
        """Return the latent spaces of the binding's own."""
        return tuple(
            Bound("latent", one, self.wiring.functions[f"latent.{one.name}"]) for one in self.dataset.latent_spaces
        )


class _Planner:
    """Makes the plan when the first batch with ground truths has come, or reads what an earlier process decided."""

    def __init__(
        self, dataset: Dataset, subject: Subject, wiring: Wiring, asked: Mapping[str, Any], ledger: Ledger
    ) -> None:
        self._dataset, self._description = dataset, subject.model.description
        self._wiring, self._asked, self._ledger = wiring, asked, ledger
        self._plan: Plan | None = None
        pairs = ledger.pairs()
        if pairs is not None:
            self._plan = make_plan(dataset, self._description, wiring, pairs, **asked)

    def plan(self, arrays: Mapping[str, Array]) -> Plan:
        """Return the plan; batches without ground truths have none of their own, and decide nothing."""
        if self._plan is not None:
            return self._plan
        if any(f"ground_truth.{truth}" not in arrays for truth in self._wiring.ground_truths.values()):
            return make_plan(self._dataset, self._description, self._wiring, {}, loss=[], metrics=[])
        axis = partial(class_axis, self._dataset, self._description, self._wiring)
        pairs = look_at_pairs(self._wiring, arrays, axis)
        self._plan = make_plan(self._dataset, self._description, self._wiring, pairs, **self._asked)
        for note in self._plan.notes:
            log.info("%s", note)
        self._ledger.update(scores=self._plan.to_dict())
        return self._plan


def _refuse_same_files(names: Sequence[str]) -> None:
    """Refuse latent spaces whose names are the same as file names: one would lie where the other does."""
    taken = {space_file_name(LATENT): "the model's own"}
    for name in names:
        other = taken.setdefault(space_file_name(name), repr(name))
        if other != repr(name):
            raise BindingError(f"Latent space {name!r} and {other} would be one file.", hint="Give it another name.")


def _setting(batch_size: int, workers: int | None, on_error: str, sample_timeout: float) -> Setting:
    if batch_size < 1:
        raise ConfigurationError(f"`batch_size >= 1` must hold, but got {batch_size=}.")
    if workers is not None and workers < 1:
        raise ConfigurationError(f"`workers >= 1` must hold, but got {workers=}.")
    if not sample_timeout > 0:
        raise ConfigurationError(f"`sample_timeout > 0` must hold, but got {sample_timeout=}.")
    if on_error not in ("skip", "fail"):
        raise ConfigurationError(f"`on_error` must be 'skip' or 'fail', but got {on_error!r}.")
    count = min(os.cpu_count() or 1, MOST_WORKERS) if workers is None else workers
    return Setting(batch_size, count, sample_timeout, "fail" if on_error == "fail" else "skip")


def _lengths(dataset: Dataset, subsets: Sequence[str] | None) -> dict[str, int]:
    """Return the subsets to evaluate with their lengths; those with ground truths first, since they decide the plan."""
    if not isinstance(dataset, Dataset):
        raise ConfigurationError(
            f"`dataset` must be a Dataset, but got {type(dataset).__name__}.",
            hint=(
                "Make one with `Dataset.from_torch(...)`, `from_arrays`, `from_folder`, `from_tf_data` or "
                "`from_huggingface`, or of a binding with `load_entry(path).dataset()`."
            ),
        )
    known = list(dataset.subsets)
    chosen = known if subsets is None else list(dict.fromkeys(subsets))
    for name in chosen:
        if name not in known:
            raise ConfigurationError(
                f"The data set has no subset {name!r}.", hint=f"{did_you_mean(name, known)} It has {', '.join(known)}."
            )
    ordered = sorted(chosen, key=lambda name: not dataset.labelled(name))
    lengths = {name: len(dataset.subsets[name]) for name in ordered}
    if not sum(lengths.values()):
        raise BindingError("The data set has no samples.", hint="Let its preprocess function return at least one.")
    return {name: length for name, length in lengths.items() if length}


def _run_of(given: Any, dataset: Dataset, key: str | None) -> Run:
    """Return the run that is meant: itself, a hook's, a folder's, one with the same unfinished in it, or a new one."""
    if given is None:
        unfinished = None if key is None else find_unfinished(key)
        if unfinished is not None:
            return unfinished
        entry = dataset.source.get("entry_file")
        return Run.create(name=Path(str(entry)).absolute().parent.name if entry else "evaluation", kind="evaluation")
    if isinstance(given, Run):
        return given
    if isinstance(given, str | os.PathLike):
        folder = Path(os.fsdecode(given)).expanduser()
        return Run.open(folder) if is_run(folder) else Run.create(folder, kind="evaluation")
    held = getattr(given, "run", None)
    if isinstance(held, Run):
        return held
    raise ConfigurationError(
        f"`run` must be a Run, the folder of one or a hook that writes one, but got {type(given).__name__}."
    )


def _as_list(given: FunctionChoice | Sequence[FunctionChoice] | None) -> list[FunctionChoice] | None:
    if given is None:
        return None
    return list(given) if isinstance(given, list | tuple) else [given]  # type: ignore[list-item]


def _names_of_functions(asked: Mapping[str, Sequence[Any] | None]) -> dict[str, Any]:
    return {
        kind: None
        if given is None
        else [one if isinstance(one, str) else getattr(one, "name", repr(one)) for one in given]
        for kind, given in asked.items()
    }
