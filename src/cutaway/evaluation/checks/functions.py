"""Tries every loss, metric, visualizer and latent space on small batches, and looks at what each returns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cutaway.arrays import Array
from cutaway.dataset import Dataset
from cutaway.dataset.checks import Problem
from cutaway.dataset.enums import LeapDataType
from cutaway.dataset.functions import Function, Visualizer
from cutaway.dataset.responses import ConfusionMatrixElement
from cutaway.errors import BindingError
from cutaway.evaluation.arguments import GROUND_TRUTH, INPUT, PREDICTION, Sources, wire_arguments
from cutaway.evaluation.checks.batching import SmallBatch
from cutaway.evaluation.checks.logits import judge_loss_of_logits
from cutaway.evaluation.checks.looking import CallFailure, Inspection, why_call_failed
from cutaway.evaluation.checks.sheet import split_place
from cutaway.evaluation.wiring import NEVER_CALLED, Wiring
from cutaway.wording import listed

__all__ = ["FunctionInputs", "judge_functions"]

MOST_NAMED = 5
# The one part of what is no dictionary.
WHOLE = frozenset(("",))
LOSS, METRIC, VISUALIZER, LATENT_SPACE = "loss", "metric", "visualizer", "latent space"


@dataclass(frozen=True)
class FunctionInputs:
    """What functions are tried on: batches, and the model's answers to each where there is a model.

    `predictions` names each output of the model; without a model `lacking` says why there are no answers.
    """

    dataset: Dataset
    batches: Sequence[SmallBatch]
    answers: Sequence[Mapping[str, Array]] = ()
    wiring: Wiring | None = None
    lacking: str = ""

    @property
    def sources(self) -> Sources:
        """The names that arguments can be given."""
        declared = [one.name for one in self.dataset.predictions] or ["prediction"]
        wired = declared if self.wiring is None else list(self.wiring.predictions.values())
        return Sources.between(self.dataset, wired)

    def values(self, i: int) -> dict[str, Array]:
        """Return everything that an argument can be given of the i-th batch, as `<kind>.<name>`."""
        batch = self.batches[i]
        found = {f"{INPUT}.{name}": values for name, values in batch.inputs.items()}
        found |= {f"{GROUND_TRUTH}.{name}": values for name, values in batch.ground_truths.items()}
        if self.wiring is not None and i < len(self.answers):
            named = self.wiring.predictions
            found |= {f"{PREDICTION}.{named[output]}": values for output, values in self.answers[i].items()}
        return found


def judge_functions(inspection: Inspection, trial: FunctionInputs) -> None:
    """Try every function that is bound; what it needs and is not there makes it skipped, not failed."""
    for kind, functions in _functions_by_kind(trial.dataset):
        for function in functions:
            _judge_function(inspection, trial, kind, function)


def _functions_by_kind(dataset: Dataset) -> Iterator[tuple[str, Sequence[Function]]]:
    yield LOSS, dataset.losses
    yield METRIC, dataset.metrics
    yield VISUALIZER, dataset.visualizers
    yield LATENT_SPACE, dataset.latent_spaces


def _judge_function(inspection: Inspection, trial: FunctionInputs, kind: str, function: Function) -> None:
    sheet = inspection.sheet
    row = (kind, function.name)
    sheet.row(*row)
    try:
        wires = wire_arguments(kind, function, trial.sources)
    except BindingError as error:
        if trial.wiring is None and trial.lacking and not function.wiring:
            sheet.skip(*row, f"what it is given cannot be told: {trial.lacking}")
            return
        place, message = split_place(str(error))
        if _is_uncalled(function):
            fix = "Call it in the integration test to have it drawn; it is left out otherwise."
            message = f"{kind.capitalize()} {function.name!r} is left out: {NEVER_CALLED}. {message}"
            sheet.find("function-wiring", "warning", message, fix, row=row, place=place or function.place)
            return
        fix = "Name each argument like an input, a ground truth or a prediction, or wire it in an integration test."
        sheet.find("function-wiring", "error", message, fix, row=row, place=place or function.place)
        return
    usable = [i for i in range(len(trial.batches)) if all(one in trial.values(i) for one in wires.values())]
    if not usable:
        sheet.skip(*row, _what_is_lacking(trial, wires))
        return
    sheet.row(
        *row,
        note=", ".join(f"{name} = {source}" for name, source in wires.items() if not _is_named_alike(name, source)),
    )
    known: set[str] = set()
    seen: set[str] = set()
    for i in usable:
        arguments = {name: trial.values(i)[one] for name, one in wires.items()}
        tried = _Tried(kind, function, trial.batches[i], arguments, _doubtful_wire(function, wires))
        result = _result_of(inspection, tried)
        if result is None or result.problems:
            return
        known |= result.known
        seen |= result.parts
    if kind == LOSS:
        predictions = [one for one in wires.values() if one.startswith(PREDICTION)]
        given = {one.partition(".")[2]: [trial.values(i)[one] for i in usable] for one in predictions}
        judge_loss_of_logits(sheet, row, function, given)
    if seen - known:
        _tell_of_no_number(inspection, row, function, sorted(seen - known), known)


def _is_uncalled(function: Function) -> bool:
    return isinstance(function, Visualizer) and function.uncalled


def _tell_of_no_number(
    inspection: Inspection, row: tuple[str, str], function: Function, missing: Sequence[str], known: Collection[str]
) -> None:
    """Tell of what a metric returned nothing but NaN for, over all samples that it was tried on."""
    of = f" for {listed([repr(one) for one in missing], MOST_NAMED)}" if "" not in missing else ""
    inspection.sheet.find(
        "function-not-finite",
        # A class that none of a few samples has is no surprise.
        "info" if known else "warning",
        f"{row[0].capitalize()} {row[1]!r} is NaN{of} on every sample that it was tried on",
        "If it does not apply to these samples, leave it: averages are over the samples that have a number. Otherwise "
        "look for a division by 0.",
        row=row,
        place=function.place,
    )


def _doubtful_wire(function: Function, wires: Mapping[str, str]) -> str:
    """Ask whether an argument was given what it is for, where only a word like `data` spoke for that."""
    for name, source in wires.items():
        if name not in function.wiring and source.startswith(INPUT) and not _is_named_alike(name, source):
            return f" Is {name!r} meant to be {source}? Name the argument like what it takes, `prediction` for example."
    return ""


def _result_of(inspection: Inspection, tried: _Tried) -> Result | None:
    """Call a function on one batch, or a visualizer on its first sample; return what it gave, None where it failed."""
    outcome = inspection.call(tried.question(inspection.dataset))
    failure = why_call_failed(outcome, inspection.call.seconds)
    if failure is not None:
        shapes = ", ".join(f"{name} {np.shape(value)}" for name, value in tried.arguments.items())
        code = "function-timeout" if failure.late else "function-raises"
        fix = f"Repair that line; the shapes that it was given stand in the message.{tried.doubt}"
        tried.tell(
            inspection,
            Problem(code, "error", f"failed on {tried.on} ({shapes}): {failure.reason.rstrip('.')}", fix),
            failure,
        )
        return None
    result = tried.result(outcome.value)
    seconds = outcome.seconds / len(tried.positions)
    inspection.sheet.row(*tried.row, shape=result.shape, dtype=result.dtype, seconds=seconds)
    for problem in result.problems:
        tried.tell(inspection, problem)
    return result


@dataclass(frozen=True)
class _Tried:
    """One call of a function: on which batch, and with which values of it. A visualizer takes the first sample."""

    kind: str
    function: Function
    batch: SmallBatch
    values: Mapping[str, Array]
    doubt: str = ""

    @property
    def row(self) -> tuple[str, str]:
        return self.kind, self.function.name

    @property
    def single(self) -> bool:
        return isinstance(self.function, Visualizer)

    @property
    def positions(self) -> tuple[int, ...]:
        return self.batch.positions[:1] if self.single else self.batch.positions

    @property
    def arguments(self) -> dict[str, Array]:
        return {name: values[0] if self.single else values for name, values in self.values.items()}

    @property
    def on(self) -> str:
        return repr(self.batch.samples[0]) if self.single else f"{len(self.batch)} {self.batch.subset} samples"

    def question(self, dataset: Dataset) -> Callable[[], Any]:
        def ask() -> Any:
            given: dict[str, Any] = self.arguments
            if self.function.injected is not None:
                # Only functions of a binding ask for this, and only the subsets of a binding have it.
                subset: Any = dataset.subsets[self.batch.subset]
                given[self.function.injected] = subset.sample_response(self.positions)
            return self.function.function(**given)

        return ask

    def result(self, value: Any) -> Result:
        if isinstance(self.function, Visualizer):
            return result_of_visualizer(value, self.function.visualizer_type)
        return result_of_batch(value, len(self.batch), self.kind)

    def tell(self, inspection: Inspection, problem: Problem, failure: CallFailure | None = None) -> None:
        separator = " " if failure is not None else ": "
        message = f"{self.kind.capitalize()} {self.function.name!r}{separator}{problem.message}"
        # What it was given is then a guess by the names of its arguments, and nothing of the binding needs it.
        uncalled = _is_uncalled(self.function)
        inspection.sheet.find(
            problem.code,
            "warning" if uncalled else problem.severity,
            f"{message} ({NEVER_CALLED})" if uncalled else message,
            problem.fix,
            row=self.row,
            subset=self.batch.subset,
            sample=self.batch.samples[0] if self.single else "",
            place=(failure.place if failure is not None else "") or self.function.place,
        )


def _what_is_lacking(trial: FunctionInputs, wires: Mapping[str, str]) -> str:
    if not trial.batches:
        return "no sample came through well"
    needed = next(one for one in wires.values() if all(one not in trial.values(i) for i in range(len(trial.batches))))
    kind, _, name = needed.partition(".")
    if kind == PREDICTION:
        return f"needs a prediction: {trial.lacking}"
    return f"needs {kind.replace('_', ' ')} {name!r}, which failed"


def _is_named_alike(argument: str, source: str) -> bool:
    """Whether an argument is given what it is called: that goes without saying."""
    return argument in source.split(".", 1)


class Result(NamedTuple):
    """The shape and dtype of what one sample got, and what is wrong with it.

    `parts` are the keys of a dictionary, or an empty one for the whole; `known` are those with a number for any sample.
    """

    shape: tuple[int, ...] | None = None
    dtype: str = ""
    problems: tuple[Problem, ...] = ()
    parts: frozenset[str] = frozenset()
    known: frozenset[str] = frozenset()


def result_of_batch(value: Any, rows: int, kind: str) -> Result:
    """Look at what a function of a batch returned: a row for each sample, or a dictionary of such.

    All but latent spaces return one number a sample. A metric may be NaN where it does not apply, such as that of a
    class that a sample does not have: averages leave such samples out.
    """
    if isinstance(value, Mapping):
        if not value:
            return Result(problems=(_shape("it returned an empty dictionary", "Return one array for each name."),))
        parts = {str(key): result_of_batch(one, rows, kind) for key, one in value.items()}
        problems = [
            problem._replace(message=f"{key!r}: {problem.message}")
            for key, one in parts.items()
            for problem in one.problems
        ]
        first = next(iter(parts.values()))
        known = frozenset(key for key, one in parts.items() if one.known)
        return Result(first.shape, f"{len(parts)} x {first.dtype}", tuple(problems), frozenset(parts), known)
    if _is_confusion(value):
        return _confusion(value, rows)
    try:
        values = np.asarray(value)
    except ValueError:  # rows of different lengths
        return Result(problems=(_shape("it returned rows of different lengths", "Return one number a sample."),))
    return _array(values, rows, kind)


def result_of_visualizer(value: Any, wanted: LeapDataType) -> Result:
    """Look at what a visualizer returned: an object of the class that its type promises."""
    kind = type(value).__name__
    if kind == f"Leap{wanted.value}":
        return Result(dtype=kind)
    message = f"it returned {kind}, but its type is {wanted.value}"
    return Result(dtype=kind, problems=(_shape(message, f"Return a `Leap{wanted.value}(...)`."),))


def _array(values: Array, rows: int, kind: str) -> Result:
    flat = kind != LATENT_SPACE
    if values.dtype.kind not in "biuf":
        message = f"it returned {values.dtype}, not numbers"
        return Result(dtype=str(values.dtype), problems=(_shape(message, "Return one number a sample."),))
    shape, dtype = values.shape[1:], str(values.dtype)
    if values.ndim == 0:
        message = f"it returned one number for a batch of {rows} samples"
        return Result(
            (), dtype, (_shape(message, "Return one number a sample: leave the batch axis out of the mean."),)
        )
    if len(values) != rows or (flat and values.size != rows):
        wanted = f"({rows},)" if flat else f"({rows}, ...)"
        message = f"it returned the shape {values.shape} for a batch of {rows} samples"
        return Result(shape, dtype, (_shape(message, f"Return the shape {wanted}."),))
    missing = np.isnan(values) if kind == METRIC else np.zeros(values.shape, np.bool_)
    bad = [i for i, one in enumerate(np.isfinite(values) | missing) if not one.all()]
    if bad:
        message = f"it is not finite for {len(bad)} of {rows} samples"
        fix = "Look for a logarithm of 0 or a division by zero; clip predictions at 1e-7."
        return Result(shape, dtype, (Problem("function-not-finite", "error", message, fix),))
    return Result(shape, dtype, (), WHOLE, frozenset() if missing.all() else WHOLE)


def _is_confusion(value: Any) -> bool:
    """Whether it is a list of confusion elements for each sample."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(one, list) and (not one or hasattr(one[0], "label")) for one in value)
    )


def _confusion(value: list[Any], rows: int) -> Result:
    if len(value) == rows:
        wrong = next((one for each in value for one in each if not isinstance(one, ConfusionMatrixElement)), None)
        if wrong is None:
            return Result(None, "confusion elements", (), WHOLE, WHOLE)
        message = f"its lists must hold ConfusionMatrixElement, but hold {type(wrong).__name__}"
        return Result(problems=(_shape(message, "Return ConfusionMatrixElement objects, or one number a sample."),))
    message = f"it returned {len(value)} lists of confusion elements for a batch of {rows} samples"
    return Result(problems=(_shape(message, "Return one list a sample."),))


def _shape(message: str, fix: str) -> Problem:
    return Problem("function-shape", "error", message, fix)
