"""`Rule`: looks at a run and says what is wrong with it. Looking never acts: whoever runs it calls for its actions.

A rule of ours says with `judge` at which steps of a window which tensors are sick. A rule as upstream knows it says
with `invoke_at_step` whether one step is. Each can be had from the other, so both run everywhere.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cutaway.errors import (
    ConfigurationError,
    InsufficientInformationForRuleInvocation,
    RuleEvaluationConditionMet,
    StepUnavailable,
    TensorUnavailable,
    TensorUnavailableForStep,
)
from cutaway.rules.actions.action import Action, ask_for
from cutaway.rules.actions.parsing import parse_actions
from cutaway.rules.judgement import Episodes, Judgement, Onset
from cutaway.rules.network import SeenNetwork
from cutaway.rules.required_tensors import RequiredTensors
from cutaway.run.findings import Finding, Severity
from cutaway.run.identity import Run
from cutaway.tensors.reader import TensorReader
from cutaway.trial import Trial, no_refresh
from cutaway.wording import listed

__all__ = ["UNAVAILABLE", "Rule"]

# What a step may lack without anything being wrong: it is passed over.
UNAVAILABLE = (TensorUnavailable, TensorUnavailableForStep, StepUnavailable)
# How many sample ids and tensors a finding names.
MOST_SAMPLES = 1_000
MOST_SUBJECTS = 20

_OWN_ARGUMENTS = ("self", "base_trial", "action_str", "other_trials")


@dataclass(init=False, eq=False, repr=False)
class Rule:
    """A pair of eyes on a run. Subclasses override `judge` or `invoke_at_step`.

    `judge(reader, start, stop)` looks at `start <= step < stop` and yields judgements of the steps that it could judge,
    also of those where nothing is wrong: a rule that has judged none is shown as skipped, never as silent. Windows
    come one after the other from the first step on, so a rule may keep what it has seen; `reset` forgets it. What it
    says of a step may depend on that step and earlier ones only: then it says the same however the run is cut into
    windows. Before it changes anything of its own it raises `InsufficientInformationForRuleInvocation` where the run
    lacks what it needs, and is shown as skipped with that reason until the run has it.

    `invoke_at_step(step)` returns whether the rule fires at a step, reading `self.base_trial`, which shows one moment
    for as long as it runs. Steps without the tensors that it asks for are passed over.

    Every argument of a subclass's constructor is kept in an attribute of its name, and may come as a text. Instead of
    writing a constructor, a subclass may be a dataclass with its arguments as fields.

    >>> class LargeLoss(Rule):
    ...     def invoke_at_step(self, step):
    ...         return self.base_trial.tensor("loss_output_0").value(step) > 10
    """

    severity: ClassVar[Severity] = "warning"
    # After so many quiet steps a tensor that fires again is told of again.
    rest: ClassVar[int] = 100
    # The codes of findings that its own bring about, and of those that bring them about: a cause is told before its
    # consequences. For the rules that come with Cutaway this stands in one table, `cutaway.rules.causes`.
    leads_to: ClassVar[tuple[str, ...]] = ()
    follows_from: ClassVar[tuple[str, ...]] = ()
    # Whether it must be asked also while no step comes.
    watches_clock: ClassVar[bool] = False
    # The wall clock; tests set their own.
    clock = staticmethod(time.time)

    base_trial: Trial | None = None
    action_str: str | Mapping[str, Any] | Sequence[object] | None = None

    def __init__(
        self,
        base_trial: Trial | None = None,
        action_str: str | Mapping[str, Any] | Sequence[object] | None = None,
        other_trials: Sequence[Trial] | None = None,
    ) -> None:
        self.base_trial = base_trial
        self.action_str = action_str
        self.actions: list[Action] = parse_actions(action_str)
        self._unasked: list[tuple[Action, Run, Finding]] = []
        self.other_trials = list(other_trials or ())
        self.req_tensors = RequiredTensors(base_trial, self.other_trials)
        self.report: dict[str, Any] = {
            "RuleTriggered": 0,
            "Violations": 0,
            "Details": {},
            "Datapoints": 0,
            "RuleParameters": "",
        }
        self.unavailable = ""  # why the last step that was passed over was
        self._next = 0
        self._episodes = Episodes(self.rest)

    def __post_init__(self) -> None:
        """Make ready a rule that is a dataclass, whose fields are set."""
        Rule.__init__(self, self.base_trial, self.action_str)
        self.reset()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.judge is Rule.judge and cls.invoke_at_step is Rule.invoke_at_step:
            message = f"{cls.__name__} must define `invoke_at_step(self, step)` or `judge(self, reader, start, stop)`."
            raise TypeError(message)

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.parameters.items())
        return f"{self.rule_name}({given})"

    # -- what a rule is ----------------------------------------------------------------------------------------------

    @property
    def rule_name(self) -> str:
        """The name of its class, which is also the code of its findings."""
        return type(self).__name__

    @property
    def is_stepwise(self) -> bool:
        """Whether it is evaluated step by step: each may take long, and the caller may want to stop at one."""
        return type(self).judge is Rule.judge

    @classmethod
    def parameter_names(cls) -> list[str]:
        """Return the arguments that this rule adds to those of all rules."""
        return [name for name in inspect.signature(cls.__init__).parameters if name not in _OWN_ARGUMENTS]

    @property
    def parameters(self) -> dict[str, Any]:
        """The arguments that it runs with."""
        return {name: getattr(self, name) for name in self.parameter_names() if hasattr(self, name)}

    # -- what subclasses override ------------------------------------------------------------------------------------

    def judge(self, reader: TensorReader, start: int, stop: int) -> Iterable[Judgement]:
        """Say for the steps of a window which subjects are sick; by default what `invoke_at_step` says of each."""
        steps: list[int] = []
        fires: list[bool] = []
        for step in reader.step_window(start, stop)["step"].tolist():
            try:
                fires.append(self._invoke_with_tensors(step))
                steps.append(step)
            except UNAVAILABLE as error:
                self.unavailable = str(error)
        if steps:
            yield Judgement.of_one(
                "", steps, fires, np.nan_to_num(fires), np.nan, lambda i: f"{self.rule_name} fired at step {steps[i]}."
            )

    def invoke_at_step(self, step: int) -> bool:
        """Whether the rule fires at a global step; by default what `judge` says of it."""
        return any(judgement.fired_at(step) for judgement in self.judged(self._reader(), step + 1))

    def set_required_tensors(self, step: int) -> None:
        """Name the tensors that `invoke_at_step` needs, with `self.req_tensors.add`: they are fetched before it."""

    def reset(self) -> None:
        """Forget what was kept of earlier windows: the run is looked at from its first step again."""

    @classmethod
    def advice(cls, network: SeenNetwork) -> str:  # noqa: ARG003 - for rules whose advice depends on it
        """Return what to try where that depends on the network that was seen; else nothing: then the docstring says it.

        What is not known of a network is empty.
        """
        return ""

    # -- what callers use --------------------------------------------------------------------------------------------

    @property
    def next_step(self) -> int:
        """The first step that it has not looked at."""
        return self._next

    def start_over(self) -> None:
        """Look at the run from its first step again, as when another attempt has replaced steps."""
        self._next = 0
        self._episodes = Episodes(self.rest)
        self.unavailable = ""
        self.reset()

    def judged(self, reader: TensorReader, stop: int) -> list[Judgement]:
        """Judge the steps from the first that it has not looked at up to `stop`, or from the start where that passed.

        Counts them in `report`.
        """
        if stop <= self._next and not self.watches_clock:
            self.start_over()
        found = list(self.judge(reader, self._next, stop))
        self._next = max(stop, self._next)
        self._note_in_report(found)
        return found

    def look(self, reader: TensorReader, stop: int) -> list[Finding]:
        """Judge the steps up to `stop` that it has not looked at; return a finding for every sickness that begins."""
        onsets: dict[int, list[Onset]] = {}
        for judgement in self.judged(reader, stop):
            for onset in self._episodes.onsets(judgement):
                onsets.setdefault(onset.step, []).append(onset)
        return [self._finding(reader, onsets[step]) for step in sorted(onsets)]

    @property
    def has_judged(self) -> bool:
        """Whether it has judged a step so far: until then its silence says nothing."""
        return bool(self.report["Datapoints"] > 0)

    def observe(self, reader: TensorReader, step: int) -> list[Finding]:
        """Look on from inside a hook. A rule that is asked step by step reads the run folder, and is skipped there."""
        self._unasked = ask_for(self._unasked)
        if self.is_stepwise and self.base_trial is None:
            raise InsufficientInformationForRuleInvocation(
                "needs the run folder, since its `invoke_at_step` reads a trial: `cutaway watch` runs it."
            )
        return self.look(reader, step + 1)

    def add_actions(self, actions: Iterable[Action]) -> None:
        """Have more done about what it finds; what it has already is not done twice."""
        for action in actions:
            if action not in self.actions:
                self.actions.append(action)

    def act(self, run: Run, finding: Finding) -> None:
        """Ask for what is to be done about one of its findings; what cannot be asked for now is when it looks again."""
        self._unasked = ask_for([*self._unasked, *((action, run, finding) for action in self.actions)])

    def invoke(self, step: int) -> None:
        """Evaluate one step, as upstream does. Raises `RuleEvaluationConditionMet` where the rule fires."""
        with no_refresh([self._reader(), *self.other_trials]):
            fired = self._invoke_with_tensors(step)
        if fired:
            raise RuleEvaluationConditionMet(self.rule_name, step)

    # -- inside ------------------------------------------------------------------------------------------------------

    def _reader(self) -> Trial:
        if self.base_trial is None:
            raise ConfigurationError(
                f"{self.rule_name} needs a run to look at: `{self.rule_name}(create_trial(path))`."
            )
        return self.base_trial

    def _invoke_with_tensors(self, step: int) -> bool:
        """Fetch what is required and invoke; the tensors that it needs are those of this step only."""
        self.req_tensors = RequiredTensors(self._reader(), self.other_trials)
        self.set_required_tensors(step)
        self.req_tensors.fetch()
        return bool(self.invoke_at_step(step))

    def _note_in_report(self, judgements: Iterable[Judgement]) -> None:
        for judgement in judgements:
            fired: list[int] = judgement.steps[judgement.fires.any(axis=0)].tolist()
            self.report["Datapoints"] += len(judgement.steps)
            self.report["Violations"] += len(fired)
            if fired:
                self.report["RuleTriggered"] = 1
                self.report["Details"] = {"step_num": fired[-1]}
        if not self.report["RuleParameters"]:
            self.report["RuleParameters"] = "\n".join(f"{name}:{value}" for name, value in self.parameters.items())

    def _finding(self, reader: TensorReader, onsets: Sequence[Onset]) -> Finding:
        """Make one finding of all that begins to fire at a step."""
        first = onsets[0]
        judgement = first.judgement
        message = judgement.message(first.row, first.column)
        where: dict[str, Any] = {"step": first.step}
        mode = _mode(reader, first.step)
        if mode:
            where["mode"] = mode
        if first.subject:
            where[judgement.noun] = first.subject
        evidence: dict[str, Any] = {
            "value": _as_json(first.value),
            "threshold": _as_json(judgement.threshold),
            **({} if judgement.evidence is None else judgement.evidence(first.row, first.column)),
        }
        if len(onsets) > 1:
            others = [onset.subject for onset in onsets[1:]]
            message += f" The same begins in {len(others)} more: {listed(others, rest='others')}."
            evidence["tensors"] = {one.subject: _as_json(one.value) for one in onsets[:MOST_SUBJECTS]}
            evidence["count"] = len(onsets)
        samples = _samples(reader, first.step)
        if samples and "samples" not in evidence:
            evidence["samples"] = samples
        evidence["parameters"] = {name: _as_json(value) for name, value in self.parameters.items()}
        name = json.dumps([self.rule_name, evidence["parameters"], first.step], sort_keys=True, default=str)
        key = hashlib.sha256(name.encode()).hexdigest()[:32]
        return Finding(self.rule_name, self.severity, message, where, evidence, time=self.clock(), id=key)


def _mode(reader: TensorReader, step: int) -> str:
    try:
        return reader.mode(step).name
    except UNAVAILABLE:
        return ""


def _samples(reader: TensorReader, step: int) -> list[str]:
    try:
        return [one for one in reader.samples(step) or () if one is not None][:MOST_SAMPLES]
    except UNAVAILABLE:
        return []


def _as_json(value: Any) -> Any:
    """Return what JSON can hold: no NaN or infinity as a number."""
    if isinstance(value, float) and not np.isfinite(value):
        return None if np.isnan(value) else str(value)
    return list(value) if isinstance(value, (tuple, set, frozenset)) else value
