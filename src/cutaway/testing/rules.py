"""For people who write a rule: a run that is made up step by step, and the tests that every rule must pass.

Subclass `RuleContract`, give it the rule, a sick and a healthy run, and pytest checks the rest:

    class TestLargeLoss(RuleContract):
        rule = LargeLoss

        def sick(self) -> tuple[ScriptedRun, int]:
            run = ScriptedRun()
            for step in range(50):
                run.step(scalars={"loss": 1.0 if step < 20 else 100.0})
            return run, 20
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from cutaway import registry
from cutaway.arrays import Array
from cutaway.errors import InsufficientInformationForRuleInvocation
from cutaway.rules.causes import LEADS_TO
from cutaway.rules.documentation import SECTIONS, sections
from cutaway.rules.rule import Rule
from cutaway.run.findings import Finding
from cutaway.run.identity import Run
from cutaway.run.layout import COLLECTIONS_FILE
from cutaway.run.leases import RunState
from cutaway.run.schemas import SCALARS, STATISTICS, STEPS, TENSORS
from cutaway.run.segments import WriterId
from cutaway.tensors.collections import Collections
from cutaway.tensors.modes import ModeKeys
from cutaway.tensors.reader import TensorReader
from cutaway.tensors.recent_steps import PHASES, HeldStep, RecentSteps, TensorRows
from cutaway.tensors.statistic_names import STATISTIC_COLUMNS
from cutaway.tensors.statistics import reference_change, reference_statistics

__all__ = ["RuleContract", "ScriptedRun"]


class ScriptedRun(RecentSteps):
    """A run in memory, made up step by step; `write` turns it into a run folder.

    >>> run = ScriptedRun()
    >>> run.step(tensors={"gradient/fc.weight": np.zeros(4)}, scalars={"loss": 0.5}, samples=["training/7"])
    0
    >>> run.statistics_window("gradient/fc.weight", 0, 1)["zeros"].tolist()
    [4.0]
    """

    def __init__(self, collections: Collections | None = None) -> None:
        super().__init__(most=10**9, collections=collections)
        self.own_collections = collections or Collections()
        self._mode_steps: dict[ModeKeys, int] = {}
        self._before: dict[str, Array] = {}
        self._script: list[HeldStep] = []
        self._folder: _RunFolder | None = None

    def step(
        self,
        mode: ModeKeys = ModeKeys.TRAIN,
        *,
        tensors: Mapping[str, npt.ArrayLike] | None = None,
        save: bool = False,
        values: Mapping[str, npt.ArrayLike] | None = None,
        active: Mapping[str, Sequence[float]] | None = None,
        scalars: Mapping[str, float] | None = None,
        samples: Sequence[str | None] | None = None,
        seconds: Mapping[str, float] | None = None,
        epoch: int | None = None,
        time: float | None = None,
        number: int | None = None,
    ) -> int:
        """Add a step and return its number: statistics of `tensors` (and with `save` their values), and the rest.

        `values` are tensors that are saved in full without statistics, as by `save_tensor`. Statistics of weights know
        by how much these have changed. `active` gives channels' activity by tensor.
        """
        arrays = {name: np.asarray(value) for name, value in (tensors or {}).items()}
        kept = {name: np.asarray(value) for name, value in (values or {}).items()}
        step = self.newest_step() + 1 if number is None else number
        mode_step = self._mode_steps.get(mode, 0)
        self._mode_steps[mode] = mode_step + 1
        held = HeldStep(
            step,
            mode,
            mode_step,
            epoch,
            1e9 + step if time is None else time,
            dict(seconds or {}),
            samples,
            [self._rows(arrays, active or {})] if arrays else [],
            list((scalars or {}).items()),
            {**arrays, **kept} if save else kept,
        )
        self.add(held)
        self._script.append(held)
        if self._folder is not None:
            self._folder.add(held)
        return step

    def write(self, path: Path | str) -> Run:
        """Write everything as the finished run of a hook would lie there."""
        run = self.begin(path)
        self.end()
        return run

    def begin(self, path: Path | str) -> Run:
        """Write everything so far, and every further step as it comes, as a running training does."""
        self._folder = _RunFolder(Run.create(path, framework="scripted"), self.own_collections)
        for held in self._script:
            self._folder.add(held)
        return self._folder.run

    def end(self, state: RunState = RunState.FINISHED) -> None:
        """End the training that `begin` began."""
        assert self._folder is not None, "`begin` comes first"
        self._folder.close(state)
        self._folder = None

    def _rows(self, arrays: Mapping[str, Array], active: Mapping[str, Sequence[float]]) -> TensorRows:
        found = []
        for name, array in arrays.items():
            row = {key: value for key, value in asdict(reference_statistics(array)).items() if key in STATISTIC_COLUMNS}
            row["change"] = self._change(name, array)
            found.append(row)
        columns = {column: np.array([row[column] for row in found], np.float64) for column in STATISTIC_COLUMNS}
        return TensorRows(tuple(arrays), columns, [active.get(name) for name in arrays] if active else None)

    def _change(self, name: str, array: Array) -> float:
        if not self.own_collections.get("weights").matches(name):
            return float("nan")
        before, self._before[name] = self._before.get(name), array
        return float("nan") if before is None else reference_change(array, before)


class _RunFolder:
    """A run folder that is being written, as a hook does."""

    def __init__(self, run: Run, collections: Collections) -> None:
        self.run = run
        attempt, self._lease = run.begin_attempt(from_step=0)
        who = WriterId("train", "worker_0", attempt)
        run.write_document(COLLECTIONS_FILE, {"included": [], "collections": collections.to_dict()})
        self._writers = {table: run.writer(table, who) for table in (TENSORS, STATISTICS, SCALARS, STEPS)}

    def add(self, held: HeldStep) -> None:
        arrays, writers = held.values, self._writers
        if arrays:
            rows: dict[str, Sequence[object]] = {
                "step": [held.step] * len(arrays),
                "tensor": list(arrays),
                "dtype": [str(array.dtype) for array in arrays.values()],
                "shape": [array.shape for array in arrays.values()],
            }
            writers[TENSORS].append_tensors(rows, held.step, [np.ascontiguousarray(array) for array in arrays.values()])
        for block in held.statistics:
            count = len(block.names)
            numbers = {name: list(block.columns[name]) for name in STATISTIC_COLUMNS}
            whole = {name: [int(value) for value in numbers[name]] for name in ("size", "nonfinite", "zeros")}
            change = [None if np.isnan(value) else value for value in numbers["change"]]
            active = list(block.active) if block.active is not None else [None] * count
            named = {"step": [held.step] * count, "tensor": list(block.names)}
            writers[STATISTICS].append_rows(
                {**named, **numbers, **whole, "change": change, "active": active}, held.step
            )
        if held.scalars:
            records = [(name, held.step, held.mode.name, value, held.time) for name, value in held.scalars]
            writers[SCALARS].append_records(records, held.step)
        phases = [held.seconds.get(phase) for phase in PHASES]
        samples = None if held.samples is None else list(held.samples)
        row = (held.step, held.mode.name, held.mode_step, held.epoch, held.time, *phases, samples, True, 0)
        writers[STEPS].append_records([row], held.step)

    def close(self, state: RunState) -> None:
        for writer in self._writers.values():
            writer.close()
        self._lease.release(state)
        self.run.identity["state"] = state
        self.run.save_identity()


class RuleContract:
    """What every rule must do. A subclass names the rule and gives a sick and a healthy run."""

    rule: ClassVar[type[Rule]]
    # The arguments that the rule is made with; all must also work as texts.
    arguments: ClassVar[Mapping[str, Any]] = {}

    def sick(self) -> tuple[ScriptedRun, int]:
        """Return a run on which the rule fires, and the first step at which it must."""
        raise NotImplementedError

    def healthy(self) -> ScriptedRun:
        """Return a run, as near to the sick one as can be, on which it stays silent."""
        raise NotImplementedError

    def lacking(self) -> TensorReader | None:
        """Return a run that lacks what the rule needs; None where there is nothing that it needs."""
        run = ScriptedRun()
        run.step(scalars={"nothing": 1.0})
        return run

    def make(self) -> Rule:
        """Return a new rule."""
        return self.rule(**self.arguments)

    def test_it_fires_on_a_sick_run_at_the_right_step(self) -> None:
        run, first = self.sick()
        found = findings(self.make(), run)
        assert [one.where["step"] for one in found][:1] == [first]
        assert all(one.code == self.rule.__name__ for one in found)

    def test_it_stays_silent_on_a_healthy_run(self) -> None:
        rule, run = self.make(), self.healthy()
        assert findings(rule, run) == []
        # One that judged no step would be shown as skipped.
        assert rule.has_judged

    def test_it_says_what_it_saw(self) -> None:
        run, _ = self.sick()
        one = findings(self.make(), run)[0]
        assert {"value", "threshold", "parameters"} <= set(one.evidence)
        assert len(one.message) > 20
        assert one.message.endswith(".")

    def test_it_says_the_same_however_the_run_is_cut_into_windows(self) -> None:
        for run in (self.sick()[0], self.healthy()):
            whole = findings(self.make(), run)
            for seed in range(5):
                rule, chance, found = self.make(), random.Random(seed), []
                stop = 0
                while stop <= run.newest_step():
                    stop += chance.randint(1, 1 + (seed + 1) ** 2)
                    found += findings(rule, run, min(stop, run.newest_step() + 1))
                assert [(one.id, one.message) for one in found] == [(one.id, one.message) for one in whole]

    def test_it_says_the_same_again_after_starting_over(self) -> None:
        run, _ = self.sick()
        rule = self.make()
        once = [one.id for one in findings(rule, run)]
        rule.start_over()
        assert [one.id for one in findings(rule, run)] == once

    def test_it_says_the_same_of_a_run_folder(self, tmp_path: Path) -> None:
        from cutaway.trial import create_trial

        run, _ = self.sick()
        run.write(tmp_path / "run")
        trial = create_trial(tmp_path / "run")
        on_disk = [(one.id, one.message) for one in findings(self.make(), trial)]
        assert on_disk == [(one.id, one.message) for one in findings(self.make(), run)]

    def test_its_arguments_may_come_as_texts(self) -> None:
        rule = self.make()
        texts: dict[str, Any] = {
            name: _as_argument_text(value) for name, value in rule.parameters.items() if value is not None
        }
        assert self.rule(**texts).parameters == rule.parameters

    def test_it_says_what_a_run_lacks(self) -> None:
        run = self.lacking()
        if run is not None:
            assert "needs " in _refusal(self.make(), run)

    def test_what_it_leads_to_and_follows_from_are_rules_and_no_cause_is_its_own_consequence(self) -> None:
        name, known = self.rule.__name__, set(registry.names("rules"))
        named = [*self.rule.leads_to, *self.rule.follows_from]
        assert [one for one in named if one not in known] == []
        edges = {**LEADS_TO, name: (*LEADS_TO.get(name, ()), *self.rule.leads_to)}
        reached, waiting = set[str](), list(edges[name])
        while waiting:
            one = waiting.pop()
            if one not in reached:
                reached.add(one)
                waiting += edges.get(one, ())
        assert not reached & {name, *self.rule.follows_from}

    def test_its_docstring_has_all_sections(self) -> None:
        found = sections(self.rule)
        assert all(found[name] for name in SECTIONS if name != "Parameters")
        assert self.rule.parameter_names() == [line.split(":")[0] for line in found["Parameters"]]


def findings(rule: Rule, reader: TensorReader, stop: int | None = None) -> list[Finding]:
    """Return what a rule finds up to a step."""
    return rule.look(reader, reader.newest_step() + 1 if stop is None else stop)


def _refusal(rule: Rule, reader: TensorReader) -> str:
    try:
        findings(rule, reader)
    except InsufficientInformationForRuleInvocation as error:
        return str(error)
    return ""


def _as_argument_text(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
