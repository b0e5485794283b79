"""`Hook(rules=[...])`: rules look on inside the training process, and collections find activations by their type."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import cutaway.torch as smd
from cutaway.errors import ConfigurationError
from cutaway.rules.built_in.dead_relu import DeadRelu
from cutaway.rules.built_in.exploding_tensor import ExplodingTensor
from cutaway.rules.built_in.vanishing_gradient import VanishingGradient
from cutaway.rules.rule import Rule
from cutaway.run import Finding, Run
from cutaway.run.findings import stamped
from cutaway.tensors.reader import TensorReader
from cutaway.trial import create_trial
from tests.frameworks.torch.models import batches, net, sgd
from tests.frameworks.torch.zygote import Zygote
from tests.recording import Recorded

SECONDS = 60


def train(hook: smd.Hook, model: nn.Module, steps: int, *, fades_at: int | None = None, pause: float = 0.0) -> None:
    """A plain loop, whose gradients vanish from a step on."""
    loss, optimizer = nn.CrossEntropyLoss(), sgd(model)
    hook.register_module(model)
    hook.register_loss(loss)
    hook.register_optimizer(optimizer)
    for i, (x, y) in enumerate(batches(steps)):
        optimizer.zero_grad()
        value = loss(model(x), y)
        (value * 1e-12 if fades_at is not None and i >= fades_at else value).backward()
        optimizer.step()
        if pause:
            time.sleep(pause)


def found_in(path: Path, code: str) -> list[Finding]:
    return [one for one in Run.open(path).findings() if one.code == code]


def evaluated(path: Path, rule: Rule) -> list[str]:
    """The ids of what a rule finds in a run folder, from outside."""
    trial = create_trial(path)
    bare = rule.look(trial, trial.newest_step() + 1)
    run = trial.run
    return [stamped(one, run.id, run.attempt_of(one.where["step"]), "watch").id for one in bare]


class Spikes:
    """A custom observer of ten lines: it finds every step whose loss is larger than anything before it."""

    def __init__(self) -> None:
        self.highest, self.next = float("inf"), 0

    def observe(self, reader: TensorReader, step: int) -> Iterator[Finding]:
        losses = reader.scalar_window("loss", self.next, step + 1)
        self.next = step + 1
        for at, loss in zip(losses["step"].tolist(), losses["value"].tolist(), strict=True):
            if loss > self.highest:
                yield Finding("loss-high", "warning", f"The loss is {loss:.3g} at step {at}.", {"step": at})
            self.highest = loss if self.highest == float("inf") else max(loss, self.highest)


TRAINER = """
import pathlib, sys, time
import torch
import cutaway.torch as smd

out, enough = sys.argv[1:]
model, loss = torch.nn.Linear(4, 3), torch.nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
with smd.Hook(out, rules=["VanishingGradient"]) as hook:
    hook.register_module(model)
    hook.register_loss(loss)
    hook.register_optimizer(optimizer)
    while not pathlib.Path(enough).exists():
        optimizer.zero_grad()
        (loss(model(torch.ones(2, 4)), torch.zeros(2, 3)) * (1e-12 if hook.step >= 20 else 1)).backward()
        optimizer.step()
        time.sleep(0.002)
"""


class TestFindings:
    def test_are_readable_from_another_process_while_training_runs(self, tmp_path: Path, zygote: Zygote) -> None:
        path, enough = tmp_path / "run", tmp_path / "enough"
        child = zygote.start(TRAINER, path, enough)
        try:
            deadline = time.monotonic() + SECONDS
            findings: list[Finding] = []
            while not findings and time.monotonic() < deadline:
                time.sleep(0.05)
                if (path / "run.json").exists():
                    findings = found_in(path, "VanishingGradient")
            state = Run.open(path).state()
        finally:
            enough.touch()
        ended = child.wait()
        assert ended.code == 0, ended.output
        assert state == "running"
        (one,) = findings
        assert one.where["step"] == 20
        assert one.where["attempt"] == 0
        assert one.source == "hook"
        assert found_in(path, "VanishingGradient") == findings

    def test_come_soon_after_their_step_even_where_no_other_step_follows(self, tmp_path: Path) -> None:
        with smd.Hook(tmp_path / "run", rules=["VanishingGradient"]) as hook:
            train(hook, net(), 11, fades_at=10)
            began = time.monotonic()
            while not found_in(tmp_path / "run", "VanishingGradient"):
                assert time.monotonic() - began < SECONDS
                time.sleep(0.02)

    def test_have_the_ids_that_an_evaluation_of_the_run_gives_them(self, tmp_path: Path) -> None:
        path = tmp_path / "run"
        with smd.Hook(path, rules=["VanishingGradient", VanishingGradient(threshold=0.05), ExplodingTensor()]) as hook:
            train(hook, net(), 150, fades_at=70, pause=0.005)
        for rule in (VanishingGradient(), VanishingGradient(threshold=0.05), ExplodingTensor()):
            ours = [one.id for one in found_in(path, rule.rule_name) if one.evidence["parameters"] == rule.parameters]
            assert ours == evaluated(path, rule)
        assert [one.where["step"] for one in found_in(path, "VanishingGradient")][-1] == 70

    def test_of_a_resumed_run_belong_to_its_attempt(self, tmp_path: Path) -> None:
        path = tmp_path / "run"
        for resume in (False, True):
            with smd.Hook(path, resume=resume, rules=["VanishingGradient"]) as hook:
                train(hook, net(), 20, fades_at=10)
        found = found_in(path, "VanishingGradient")
        assert [(one.where["step"], one.where["attempt"]) for one in found] == [(10, 0), (30, 1)]

    def test_of_a_healthy_training_there_are_none(self, tmp_path: Path) -> None:
        with smd.Hook(tmp_path / "run", rules=["VanishingGradient", "ExplodingTensor"]) as hook:
            train(hook, net(), 100)
        assert Run.open(tmp_path / "run").findings() == []

    def test_of_what_is_left_come_when_the_hook_is_flushed_or_closed(self, tmp_path: Path) -> None:
        path = tmp_path / "run"
        with smd.Hook(path, rules=["VanishingGradient"]) as hook:
            train(hook, net(), 5, fades_at=4)
            assert hook.flush()
            assert [one.where["step"] for one in found_in(path, "VanishingGradient")] == [4]
        with smd.Hook(tmp_path / "other", rules=["VanishingGradient"]) as hook:
            train(hook, net(), 5, fades_at=4)
        assert [one.where["step"] for one in found_in(tmp_path / "other", "VanishingGradient")] == [4]

    def test_are_logged(self, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        with smd.Hook(tmp_path / "run", rules=["VanishingGradient"]) as hook:
            train(hook, net(), 5, fades_at=4)
        assert "has vanished: its mean absolute value at step 4" in caplog.text

    def test_of_steps_that_keep_statistics_only_now_and_then(self, tmp_path: Path) -> None:
        path = tmp_path / "run"
        with smd.Hook(path, rules=["VanishingGradient"], statistics_every=7) as hook:
            train(hook, net(), 60, fades_at=20)
        assert [one.where["step"] for one in found_in(path, "VanishingGradient")] == [21]
        assert [one.id for one in found_in(path, "VanishingGradient")] == evaluated(path, VanishingGradient())

    def test_know_the_mode_and_the_samples_of_their_step(self, tmp_path: Path) -> None:
        seen: dict[int, tuple[str, Sequence[str | None] | None]] = {}

        class Notes:
            def observe(self, reader: TensorReader, step: int) -> list[Finding]:
                for at in reader.step_window(max(seen, default=-1) + 1, step + 1)["step"].tolist():
                    seen[at] = reader.mode(at).name, reader.samples(at)
                return []

        model, loss = net(), nn.CrossEntropyLoss()
        optimizer = sgd(model)
        with smd.Hook(tmp_path / "run", rules=[Notes()]) as hook:
            hook.register_module(model)
            hook.register_loss(loss)
            hook.register_optimizer(optimizer)
            for epoch in range(2):
                hook.set_mode("TRAIN")
                for i, (x, y) in enumerate(batches(3)):
                    hook.set_samples([f"{epoch}{i}"])
                    optimizer.zero_grad()
                    loss(model(x), y).backward()
                    optimizer.step()
                hook.set_mode("EVAL")
                with torch.no_grad():
                    for x, y in batches(2):
                        loss(model(x), y)
        assert [mode for mode, _ in seen.values()] == ["TRAIN"] * 3 + ["EVAL"] * 2 + ["TRAIN"] * 3 + ["EVAL"] * 2
        assert [samples for mode, samples in seen.values() if mode == "TRAIN"][-1] == ["training/12"]
        assert list(seen) == list(range(10))


class TestObserversOfOnesOwn:
    def test_ten_lines_are_enough(self, tmp_path: Path) -> None:
        path = tmp_path / "run"
        with smd.Hook(path, rules=[Spikes()]) as hook:
            train(hook, net(), 60)
        losses = Recorded(path).scalars("loss")
        highest, wanted = losses[0], []
        for step, loss in sorted(losses.items()):
            if loss > highest:
                wanted.append(step)
            highest = max(loss, highest)
        assert wanted
        assert [one.where["step"] for one in found_in(path, "loss-high")] == wanted

    def test_see_what_the_loop_records_after_the_update(self, tmp_path: Path) -> None:
        losses: dict[int, float] = {}
        marks: dict[int, float] = {}

        class Notes:
            def observe(self, reader: TensorReader, step: int) -> list[Finding]:
                first = max(losses, default=-1) + 1
                window = reader.scalar_window("loss", first, step + 1)
                losses.update(zip(window["step"].tolist(), window["value"].tolist(), strict=True))
                window = reader.scalar_window("mark", first, step + 1)
                marks.update(zip(window["step"].tolist(), window["value"].tolist(), strict=True))
                return []

        model = net()
        optimizer = sgd(model)
        with smd.Hook(tmp_path / "run", rules=[Notes()]) as hook:
            hook.register_module(model)
            hook.register_optimizer(optimizer)
            for i, (x, y) in enumerate(batches(100)):
                optimizer.zero_grad()
                value = nn.functional.cross_entropy(model(x), y)
                value.backward()
                optimizer.step()
                hook.record_tensor_value("loss", value)
                hook.save_scalar("mark", i)
        assert losses == Recorded(tmp_path / "run").scalars("loss")
        assert marks == {step: float(step) for step in range(100)}

    def test_that_break_are_told_of_and_leave_the_training_alone(self, tmp_path: Path) -> None:
        class Broken:
            def observe(self, reader: TensorReader, step: int) -> list[Finding]:
                return [reader.no_such_method(step)]  # type: ignore[attr-defined]

        path, model, plain = tmp_path / "run", net(), net()
        with smd.Hook(path, rules=[Broken(), "VanishingGradient"]) as hook:
            train(hook, model, 40, fades_at=30)
        (one,) = found_in(path, "rule-broken")
        assert one.evidence["error"] == "AttributeError"
        assert "test_rules_in_the_hook.py:" in one.evidence["place"]
        assert len(found_in(path, "VanishingGradient")) == 1
        with smd.Hook(tmp_path / "plain") as hook:
            train(hook, plain, 40, fades_at=30)
        assert Recorded(path).statistics() == Recorded(tmp_path / "plain").statistics()
        for ours, theirs in zip(model.parameters(), plain.parameters(), strict=True):
            assert torch.equal(ours, theirs)

    def test_that_lack_something_are_told_of_once(self, tmp_path: Path) -> None:
        path = tmp_path / "run"
        with smd.Hook(path, rules=["DeadRelu"]) as hook:
            train(hook, net(), 20)
            hook.flush()
        (one,) = found_in(path, "rule-skipped")
        assert one.severity == "info"
        assert one.where["rule"] == "DeadRelu"
        assert "needs collection 'relu_outputs'" in one.message
        assert "include_collections" in one.message

    def test_that_are_slow_are_asked_less_often_and_lose_no_step(self, tmp_path: Path) -> None:
        asked: list[int] = []

        class Slow:
            def observe(self, reader: TensorReader, step: int) -> list[Finding]:
                asked.append(step)
                time.sleep(0.3)
                return []

        path = tmp_path / "run"
        with smd.Hook(path, rules=[Slow()]) as hook:
            train(hook, net(), 150, pause=0.015)
        (one,) = found_in(path, "rule-slow")
        assert one.where["rule"] == "Slow"
        assert asked == sorted(set(asked))
        assert asked[-1] == 149
        assert Recorded(path).numbers() == list(range(150))

    def test_run_beside_the_training_thread(self, tmp_path: Path) -> None:
        threads: set[str] = set()

        class Notes:
            def observe(self, reader: TensorReader, step: int) -> list[Finding]:
                threads.add(threading.current_thread().name)
                return []

        with smd.Hook(tmp_path / "run", rules=[Notes()]) as hook:
            train(hook, net(), 5)
            deadline = time.monotonic() + SECONDS
            while not threads and time.monotonic() < deadline:
                time.sleep(0.02)
            seen = set(threads)
        assert seen == {"cutaway-writer"}

    def test_may_act(self, tmp_path: Path) -> None:
        class Acts(Spikes):
            acted: list[tuple[Run, Finding]] = []  # noqa: RUF012 - read by the test

            def act(self, run: Run, finding: Finding) -> None:
                self.acted.append((run, finding))

        path = tmp_path / "run"
        with smd.Hook(path, rules=[Acts()]) as hook:
            train(hook, net(), 60)
        assert [one.id for _, one in Acts.acted] == [one.id for one in found_in(path, "loss-high")]
        assert {run.path for run, _ in Acts.acted} == {path}


class TestSettings:
    @pytest.mark.parametrize(
        ("given", "words"),
        [
            (["VanishingGradiant"], "There is no rule 'VanishingGradiant'. Did you mean 'VanishingGradient'"),
            ("VanishingGradient", "write \\['VanishingGradient'\\]"),
            ([object()], "but got <object object"),
            ([VanishingGradient], "write VanishingGradient\\(\\)"),
        ],
    )
    def test_wrong_ones_are_refused_before_anything_is_made(self, tmp_path: Path, given: Any, words: str) -> None:
        with pytest.raises(ConfigurationError, match=words):
            smd.Hook(tmp_path / "run", rules=given)
        assert not (tmp_path / "run").exists()

    def test_attach_takes_rules_too(self, tmp_path: Path) -> None:
        model, loss = net(), nn.CrossEntropyLoss()
        optimizer = sgd(model)
        with smd.attach(model, optimizer, loss, out_dir=tmp_path / "run", rules=["VanishingGradient"]):
            for x, y in batches(5):
                optimizer.zero_grad()
                (loss(model(x), y) * 1e-12).backward()
                optimizer.step()
        assert len(found_in(tmp_path / "run", "VanishingGradient")) == 1

    def test_a_hook_that_writes_nothing_evaluates_nothing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[int] = []

        class Notes:
            def observe(self, reader: TensorReader, step: int) -> list[Finding]:
                asked.append(step)
                return []

        with smd.Hook(dry_run=True, rules=[Notes()]) as hook:
            train(hook, net(), 3)
        monkeypatch.setenv("CUTAWAY", "off")
        with smd.Hook(rules=[Notes()]) as hook:
            train(hook, net(), 3)
        assert asked == []


class TestCollectionsByType:
    def model(self) -> nn.Sequential:
        torch.manual_seed(0)
        return nn.Sequential(
            nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 6), nn.Tanh(), nn.Linear(6, 6), nn.LeakyReLU(), nn.Linear(6, 3)
        )

    def test_find_modules_whatever_they_are_called(self, tmp_path: Path) -> None:
        with smd.Hook(tmp_path / "run", include_collections=["relu_outputs", "tanh_inputs", "relu_inputs"]) as hook:
            train(hook, self.model(), 3)
        trial = create_trial(tmp_path / "run")
        assert trial.tensor_names(collection="relu_outputs") == ["1_output_0"]
        assert trial.tensor_names(collection="relu_inputs") == ["1_input_0"]
        assert trial.tensor_names(collection="tanh_inputs") == ["3_input_0"]
        assert not trial.collection("relu_outputs").matches("5_output_0")

    def test_are_known_while_the_run_has_only_begun(self, tmp_path: Path) -> None:
        with smd.Hook(tmp_path / "run", include_collections=["outputs"]) as hook:
            train(hook, self.model(), 1)
            hook.flush()
            assert create_trial(tmp_path / "run").tensor_names(collection="relu_outputs") == ["1_output_0"]

    def test_capture_nothing_unless_they_are_included(self, tmp_path: Path) -> None:
        with smd.Hook(tmp_path / "run") as hook:
            train(hook, self.model(), 3)
        assert not [name for name in Recorded(tmp_path / "run").named() if name[0].isdigit()]
        assert create_trial(tmp_path / "run").collection("relu_outputs").matches("1_output_0")

    def test_find_modules_that_come_later(self, tmp_path: Path) -> None:
        model, loss = self.model(), nn.CrossEntropyLoss()
        optimizer = sgd(model)
        with smd.Hook(tmp_path / "run", include_collections=["relu_outputs"]) as hook:
            hook.register_module(model)
            hook.register_loss(loss)
            hook.register_optimizer(optimizer)
            for i, (x, y) in enumerate(batches(4)):
                if i == 2:
                    model.append(nn.ReLU())
                optimizer.zero_grad()
                loss(model(x), y).backward()
                optimizer.step()
        assert create_trial(tmp_path / "run").tensor_names(collection="relu_outputs") == ["1_output_0", "7_output_0"]

    @pytest.mark.parametrize("collection", ["relu_outputs", "outputs"])
    def test_keep_the_activity_of_relus(self, tmp_path: Path, collection: str) -> None:
        with smd.Hook(tmp_path / "run", include_collections=[collection]) as hook:
            train(hook, self.model(), 3)
        rows = Recorded(tmp_path / "run").statistics()
        active = {name for (_, name), row in rows.items() if row["active"] is not None}
        assert active == {"1_output_0"}
        assert all(len(rows[step, "1_output_0"]["active"]) == 6 for step in range(3))

    def test_let_dead_relus_be_found(self, tmp_path: Path) -> None:
        path, model = tmp_path / "run", self.model()
        first = model[0]
        assert isinstance(first, nn.Linear)
        with torch.no_grad():
            first.bias.fill_(-100.0)
        with smd.Hook(path, include_collections=["relu_outputs"], rules=["DeadRelu"]) as hook:
            train(hook, model, 20)
        (one,) = found_in(path, "DeadRelu")
        assert one.where["tensor"] == "1_output_0"
        assert one.where["step"] == 0
        assert one.evidence["from"] == "channel activity"
        assert [one.id] == evaluated(path, DeadRelu())
