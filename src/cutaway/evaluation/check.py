"""`check`: whether a binding, and a model with it, can be used, and if not, what to repair first.

Runs preprocess and every bound function on samples of every subset. Writes nothing anywhere; an encoder that raises,
sleeps, exits or prints without end is told of, and the check goes on.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cutaway.dataset import Dataset, Entry
from cutaway.dataset.printed import captured_prints
from cutaway.errors import ConfigurationError
from cutaway.evaluation.check_report import CheckReport
from cutaway.evaluation.checks.balance import judge_balance
from cutaway.evaluation.checks.batching import SmallBatch, small_batches
from cutaway.evaluation.checks.binding import bring_dataset, judge_subsets
from cutaway.evaluation.checks.determinism import judge_determinism, judge_speed, seconds_of
from cutaway.evaluation.checks.functions import FunctionInputs, judge_functions
from cutaway.evaluation.checks.leakage import SPLIT, judge_leakage
from cutaway.evaluation.checks.logits import judge_training_of_logits
from cutaway.evaluation.checks.looking import (
    METADATA,
    Inspection,
    LimitedCalls,
    SampleCall,
    SampleFunction,
    call_on_samples,
    sample_functions,
    spread_positions,
    succeeded,
)
from cutaway.evaluation.checks.model_loading import MODEL, bring_model
from cutaway.evaluation.checks.scanning import Scan, judge_unread, scan
from cutaway.evaluation.checks.sheet import Sheet
from cutaway.evaluation.checks.values import judge_constants, judge_encoder, judge_failures, judge_metadata
from cutaway.evaluation.checks.wiring import MODEL_OUTPUT, judge_fit, judge_outputs, predict
from cutaway.models import Model
from cutaway.wording import counted

__all__ = ["check"]

Looked = dict[tuple[str, str], list[SampleCall]]


def check(
    binding: Dataset | str | Path | Any = None,
    model: Model | str | Path | Any = None,
    *,
    samples: int = 16,
    seed: int = 0,
    timeout: float = 10.0,
    scan_seconds: float = 3.0,
    trust: bool = False,
) -> CheckReport:
    """Check a binding, and a model against it; never raises for what is wrong with either.

    `binding` is a `Dataset`, an entry, or the path of an entry file or its folder; None is leap.yaml's `entryFile`
    here. `model` is whatever `cutaway.models.load` takes; None asks the binding for its own. Every function is called
    on `samples` of each subset: the first, the last, and others that `seed` picks; a call may take `timeout` seconds.
    For `scan_seconds` samples are compared with each other: for leaks, duplicates and classes.
    """
    for name, value, least in (("samples", samples, 1), ("timeout", timeout, 0), ("scan_seconds", scan_seconds, 0)):
        if value < least or (value == 0 and name == "timeout"):
            raise ConfigurationError(f"`{name} {'>' if name == 'timeout' else '>='} {least}` must hold, got {value!r}.")
    start = time.perf_counter()
    one = _BindingCheck(samples, seed, scan_seconds, LimitedCalls(timeout), trust=trust)
    with captured_prints() as printed:
        try:
            one.run(binding, model)
        finally:
            one.call.close()
    return one.report(printed.text, time.perf_counter() - start)


class _BindingCheck:
    """One check underway: what was read, seen and concluded so far."""

    def __init__(self, samples: int, seed: int, scan_seconds: float, call: LimitedCalls, *, trust: bool) -> None:
        self.sheet = Sheet()
        self.call = call
        self._samples, self._seed, self._scan_seconds, self._trust = samples, seed, scan_seconds, trust
        self._dataset: Dataset | None = None
        self._entry: Entry | None = None
        self._model_name = ""
        self._model_seconds = 0.0
        self._notes: tuple[str, ...] = ()
        self._scan: Scan | None = None
        self._classes: dict[str, dict[str, int]] = {}
        self._positions: dict[str, list[int]] = {}
        self._looked: Looked = {}

    def run(self, binding: Any, model: Any) -> None:
        """Go from causes to what depends on them: the binding, its samples, the model, the functions of both."""
        self._dataset, self._entry = bring_dataset(self.sheet, binding)
        if self._dataset is None:
            return
        judge_subsets(self.sheet, self._dataset)
        inspection = Inspection(self.sheet, self._dataset, self.call, self._seed)
        asked = sample_functions(self._dataset)
        self._call_encoders(inspection, asked)
        self._compare(self._dataset, asked)
        start = time.perf_counter()
        brought, self._model_name = bring_model(self.sheet, self._dataset, model, trust=self._trust)
        self._model_seconds = time.perf_counter() - start
        batches = small_batches(self._dataset, asked, self._looked, self.call)
        try:
            trial = self._try_model(inspection, None if brought is None else brought.model, batches)
        finally:
            if brought is not None:
                brought.close()
        judge_functions(inspection, trial)

    def report(self, prints: str, seconds: float) -> CheckReport:
        """Return what was found."""
        dataset = self._dataset
        subsets = {} if dataset is None else {name: len(subset) for name, subset in dataset.subsets.items()}
        return CheckReport(
            self.sheet.rows(),
            self.sheet.findings(),
            subsets=subsets,
            looked_at={name: len(positions) for name, positions in self._positions.items()},
            compared={} if self._scan is None else self._scan.compared,
            classes=self._classes,
            # What the entry file itself printed is kept with the entry, also where somebody loaded it earlier.
            prints=prints if self._entry is None else f"{self._entry.prints}{prints}",
            entry="" if self._entry is None else str(self._entry.path),
            model=self._model_name,
            notes=self._notes,
            sample_seconds=sum(seconds_of(seen) or 0.0 for seen in self._looked.values()),
            import_seconds=0.0 if self._entry is None else self._entry.seconds,
            model_seconds=self._model_seconds,
            seconds=seconds,
        )

    def _call_encoders(self, inspection: Inspection, asked: Sequence[SampleFunction]) -> None:
        dataset = inspection.dataset
        self._positions = {
            name: spread_positions(len(subset), self._samples, self._seed) for name, subset in dataset.subsets.items()
        }
        for one in asked:
            if one.kind != METADATA:
                self.sheet.row(*one.row)
            else:
                for field in dataset.metadata:
                    self.sheet.row(METADATA, field.name)
            seen = call_on_samples(inspection, one, self._positions)
            self._looked[one.row] = seen
            judge_failures(self.sheet, one, seen)
            if one.kind == METADATA:
                judge_metadata(self.sheet, dataset.metadata, seen)
            else:
                judge_encoder(self.sheet, one, seen)
            if succeeded(seen):
                judge_speed(self.sheet, one, seen)
                judge_determinism(inspection, one, seen)
        judge_constants(self.sheet, {one: self._looked[one.row] for one in asked})

    def _compare(self, dataset: Dataset, asked: Sequence[SampleFunction]) -> None:
        """Compare samples with each other, unless an encoder failed for every sample of them."""
        broken = next((one for one in asked if one.kind != METADATA and not succeeded(self._looked[one.row])), None)
        if broken is not None or not len(dataset):
            reason = "there are no samples" if broken is None else f"{broken.kind} {broken.name!r} failed"
            self.sheet.skip(*SPLIT, reason)
            return
        self._scan = scan(dataset, self.call, self._scan_seconds, self._seed)
        self.sheet.row(*SPLIT, note=f"{self._scan.share(*dataset.subsets)} compared")
        judge_unread(self.sheet, self._scan)
        self._classes = judge_balance(self.sheet, self._scan)
        judge_leakage(self.sheet, self._scan)

    def _try_model(self, inspection: Inspection, model: Model | None, batches: Sequence[SmallBatch]) -> FunctionInputs:
        dataset = inspection.dataset
        if model is None:
            lacking = "the model could not be loaded" if self._model_name else "no model was given"
            return FunctionInputs(dataset, batches, lacking=lacking)
        row = (MODEL, self._model_name)
        inputs, outputs = counted(len(model.inputs), "input"), counted(len(model.outputs), "output")
        self.sheet.row(*row, note=f"{model.description.format}, {inputs}, {outputs}")
        if not batches:
            self.sheet.skip(*row, "no sample has all its inputs to try it on")
            return FunctionInputs(dataset, batches, lacking="no sample has all its inputs")
        wiring = judge_fit(self.sheet, dataset, model, batches)
        if wiring is None:
            return FunctionInputs(dataset, batches, lacking="the model does not fit the data set")
        self._notes = wiring.notes
        answers = predict(inspection, model, self._model_name, wiring, batches)
        if not answers:
            return FunctionInputs(dataset, batches, lacking="the model failed")
        judge_outputs(self.sheet, dataset, wiring, batches, answers)
        if len(model.outputs) == 1:
            [output] = wiring.predictions
            given = [answer[output] for answer in answers]
            judge_training_of_logits(self.sheet, (MODEL_OUTPUT, output), model.description.training, given)
        return FunctionInputs(dataset, batches, answers, wiring)
