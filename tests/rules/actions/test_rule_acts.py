"""A rule has the actions of its `action_str`, and asks for them when whoever runs it says so."""

from __future__ import annotations

import pytest

from cutaway.capture.observing import ActingObserver
from cutaway.errors import ConfigurationError, StorageError
from cutaway.rules import Dump, Judgement, Notify, Rule, StopTraining
from cutaway.run import Finding, Run
from cutaway.run.control import Inbox
from cutaway.tensors.reader import TensorReader
from cutaway.testing.rules import ScriptedRun


class Always(Rule):
    """Fires at every step."""

    def invoke_at_step(self, step: int) -> bool:
        return True


class Quiet(Rule):
    """Never fires."""

    def judge(self, reader: TensorReader, start: int, stop: int) -> list[Judgement]:
        return []


def test_a_rule_is_an_observer_that_acts(run: Run, finding: Finding) -> None:
    rule = Always(action_str="stop,dump")
    assert isinstance(rule, ActingObserver)
    for _ in range(2):
        rule.act(run, finding)
    assert sorted(request.action for request in Inbox(run.storage, "train").new()) == ["dump", "stop"]


def test_a_rule_without_actions_asks_for_nothing(run: Run, finding: Finding) -> None:
    Always().act(run, finding)
    assert run.storage.list("control") == []


def test_action_str_may_be_upstreams_json_words_or_a_list() -> None:
    upstream = '{"name": "stoptraining", "training_job_prefix": "m"}'
    assert Always(action_str=upstream).actions == [StopTraining("m")]
    assert Always(action_str="stop").actions == [StopTraining()]
    assert Always(action_str=[Dump(), "stop"]).actions == [Dump(), StopTraining()]
    assert Always(action_str=upstream).action_str == upstream


def test_wrong_words_are_refused_before_any_training() -> None:
    with pytest.raises(ConfigurationError, match="Did you mean 'stop'"):
        Always(action_str="stpo")


def test_actions_can_be_added_and_are_there_once() -> None:
    rule = Always(action_str="stop")
    rule.add_actions([StopTraining(), Dump(), Dump(), Notify("https://example.org")])
    rule.add_actions([Notify("https://example.org")])
    assert rule.actions == [StopTraining(), Dump(), Notify("https://example.org")]


def test_what_could_not_be_asked_for_is_when_the_rule_looks_again(
    run: Run, finding: Finding, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule, script = Quiet(action_str="stop"), ScriptedRun()
    script.step(scalars={"loss": 1.0})

    def full(*_: object, **__: object) -> None:
        raise StorageError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(run.storage, "replace", full)
        rule.act(run, finding)
        assert Inbox(run.storage, "train").new() == []
    assert list(rule.observe(script, 0)) == []
    assert len(Inbox(run.storage, "train").new()) == 1
