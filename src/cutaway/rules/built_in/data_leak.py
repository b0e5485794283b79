"""DataLeak: training on samples that are kept to judge the model by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cutaway.arrays import Array, BoolArray
from cutaway.errors import InsufficientInformationForRuleInvocation
from cutaway.rules.judgement import Judgement
from cutaway.rules.rule import MOST_SAMPLES, Rule
from cutaway.run.identity import Run
from cutaway.run.layout import SAMPLES
from cutaway.tensors.reader import TensorReader
from cutaway.trial import Trial
from cutaway.wording import listed

__all__ = ["DataLeak"]

# The subsets that a model must not be trained on.
_KEPT = ("validation/", "test/")
# So many samples are named in a message.
MOST_NAMED = 20


class _Twins(NamedTuple):
    """Samples of a kept subset whose content also occurs in training, and what they are there."""

    key: str
    subset: str
    same_as: dict[str, str]


@dataclass(eq=False, repr=False)
class DataLeak(Rule):
    """The model is trained on samples that are kept to judge it by.

    What it sees:
        A TRAIN step was fed a sample of the subset `validation` or `test`; or a sample of these subsets has the same
        content, by its hash in an evaluation of the run, as one of `training`. Without `set_mode` the steps count
        that had a backward pass; those without one are evaluations.

    Why it matters:
        A model can memorise what it trains on. Leaked samples inflate its validation and test figures, and it
        disappoints on new data.

    What to try:
        Look at where the message's samples come from: a split that is drawn anew at each start, a loader that was
        swapped, duplicates that were split apart, several pictures of one patient. Split by what must not be shared,
        remove duplicates first, train again, and set aside the figures so far.

    Needs:
        The ids of the samples of each step: `hook.samples(loader)` for training and `hook.samples(loader,
        subset="test")` for evaluation, or `hook.set_samples(ids, subset=...)`.
    """

    def reset(self) -> None:
        """Forget whether any ids were seen, and look at the evaluations again."""
        self._knows_ids = False
        self._compared = False

    def judge(self, reader: TensorReader, start: int, stop: int) -> Iterator[Judgement]:
        """Look for samples of other subsets in the batches of training steps, and once for equal content."""
        steps = reader.step_window(start, stop)
        samples = reader.samples_window(start, stop)
        files = [] if self._compared or not isinstance(reader, Trial) else sample_files(reader.run)
        knows_ids = self._knows_ids or any(ids is not None for ids in samples)
        if not knows_ids and not files:
            raise _without_ids()
        self._knows_ids = knows_ids
        if len(steps["step"]) and not self._compared:
            self._compared = True
            for twins in _twins(files):
                yield _judged_twins(twins, int(steps["step"][0]))
        yield _judged_ids(steps, samples)


def _judged_ids(steps: Mapping[str, Array], samples: Sequence[Sequence[str | None] | None]) -> Judgement:
    trains = _trains(steps)
    leaked = [
        [one for one in ids or () if one is not None and one.startswith(_KEPT)] if training else []
        for ids, training in zip(samples, trains.tolist(), strict=True)
    ]

    def message(i: int) -> str:
        return (
            f"Step {steps['step'][i]} trained on {len(leaked[i])} of {len(samples[i] or ())} samples that are kept to "
            f"judge the model by: {listed(leaked[i], MOST_NAMED, 'others')}."
        )

    def evidence(i: int) -> dict[str, Any]:
        return {"count": len(leaked[i]), "samples": leaked[i][:MOST_SAMPLES]}

    counts = np.array([len(one) for one in leaked], np.float64)
    return Judgement.of_one("", steps["step"], counts > 0, counts, 0.0, message, evidence)


def _trains(steps: Mapping[str, Array]) -> BoolArray:
    """Say which steps were there to learn from.

    An evaluation may run without anybody having said so: its time is known for the forward pass only.
    """
    learned = np.isfinite(steps["backward"])
    only_forward = np.isfinite(steps["forward"]) & ~learned
    found: BoolArray = (steps["mode"] == "TRAIN") & ~only_forward | (steps["mode"] == "GLOBAL") & learned
    return found


def _twins(files: Sequence[SampleFile]) -> Iterator[_Twins]:
    """Yield the samples of kept subsets that have the content of a training sample of the same evaluation."""
    training = {
        one.evaluation: {content: name for name, content in one.contents.items()}
        for one in files
        if one.subset == "training"
    }
    for file in files:
        known = training.get(file.evaluation, {})
        if f"{file.subset}/" in _KEPT:
            same_as = {one: known[content] for one, content in file.contents.items() if content in known}
            if same_as:
                yield _Twins(file.key, file.subset, same_as)


def _judged_twins(twins: _Twins, step: int) -> Judgement:
    count = len(twins.same_as)
    pairs = [f"{one} is {other}" for one, other in twins.same_as.items()]
    have = "sample has" if count == 1 else "samples have"
    message = f"{count} {twins.subset} {have} the same content as in training: {listed(pairs, MOST_NAMED, 'others')}."
    evidence = {"count": count, "samples": list(twins.same_as)[:MOST_SAMPLES], "same_as": _first(twins.same_as)}
    return Judgement(
        [twins.key],
        np.array([step], np.int64),
        np.ones((1, 1), bool),
        np.full((1, 1), float(count)),
        0.0,
        lambda _row, _column: message,
        lambda _row, _column: evidence,
        noun="file",
    )


def _first(same_as: Mapping[str, str]) -> dict[str, str]:
    return dict(list(same_as.items())[:MOST_SAMPLES])


def _without_ids() -> InsufficientInformationForRuleInvocation:
    return InsufficientInformationForRuleInvocation(
        "needs the ids of the samples of each step; this run has noted none so far.",
        hint="Iterate over `hook.samples(loader)`, or call `hook.set_samples(ids)` before each step.",
    )


class SampleFile(NamedTuple):
    """The samples of one subset in one evaluation: by their ids, `<subset>/<id>`, the hash of their content."""

    key: str
    evaluation: str
    subset: str
    contents: dict[str, str]


def sample_files(run: Run) -> list[SampleFile]:
    """Return the samples of every evaluation of a run, as far as their hashes were kept."""
    import pyarrow.parquet as pq  # most runs have no such files, and it takes long to import

    found = []
    for path in sorted((run.path / SAMPLES).glob("*/*.parquet")):
        # Analysis keeps its own files beside: `<subset>.map.<space>.parquet`.
        if "." not in path.stem and {"id", "hash"} <= set(pq.read_schema(path).names):
            table = pq.read_table(path, columns=["id", "hash"])
            ids = [_sample_id(one, path.stem) for one in table["id"].to_pylist()]
            contents = {one: key for key, one in zip(table["hash"].to_pylist(), ids, strict=True) if key is not None}
            key = path.relative_to(run.path).as_posix()
            found.append(SampleFile(key, path.parent.name, path.stem, contents))
    return found


def _sample_id(one: object, subset: str) -> str:
    text = str(one)
    return text if text.startswith(f"{subset}/") else f"{subset}/{text}"
