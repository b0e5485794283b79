"""Requests to real trainings: in this thread, in other processes, and in two processes that train together."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import cutaway.torch as smd
from cutaway.cli import main
from cutaway.run import Run
from cutaway.run.control import Reply, Request, answer_to, ask, history
from cutaway.run.leases import read_leases
from cutaway.trial import create_trial
from tests.frameworks.torch.models import batches, net, plain_loss, sgd
from tests.frameworks.torch.zygote import Zygote
from tests.recording import Recorded

SECONDS = 60.0

TRAINER = """
import os, sys, time
import torch
import cutaway.torch as smd
torch.manual_seed(0)
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
with smd.Hook(sys.argv[1]) as hook:
    hook.register_module(model)
    hook.register_optimizer(optimizer)
    while not hook.should_stop:
        optimizer.zero_grad()
        model(torch.ones(1, 4)).square().sum().backward()
        optimizer.step()
        time.sleep(0.002)
print("stopped after", hook.step)
"""


def until(condition: Callable[[], Any]) -> Any:
    """Wait for something that another process or thread does, and return it."""
    deadline = time.monotonic() + SECONDS
    while not (found := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return found


def left(hook: Any, action: str, **arguments: Any) -> Request:
    """Ask for something, and wait until the training thread could see it."""
    asked = Request(action, "train", "anna", "to see", arguments)
    mail = hook.adapted.requests.mail
    count = len(mail.waiting)
    ask(hook.run.storage, asked)
    until(lambda: len(mail.waiting) > count)
    return asked


def answered(hook: Any, asked: Request) -> Reply:
    found: Reply = until(lambda: answer_to(hook.run.storage, asked))
    return found


def watched(path: Path, model: nn.Module, *optimizers: torch.optim.Optimizer, **settings: Any) -> smd.Hook:
    hook = smd.Hook(path, **settings)
    hook.register_module(model)
    for optimizer in optimizers:
        hook.register_optimizer(optimizer)
    return hook


def step(model: nn.Module, optimizer: torch.optim.Optimizer, seed: int = 1) -> None:
    ((x, y),) = batches(1, seed=seed)
    optimizer.zero_grad()
    plain_loss(model, x, y).backward()
    optimizer.step()


# -- another process -----------------------------------------------------------------------------------------------


def trained(path: Path, at_least: int = 3) -> None:
    """Wait until a training that was started in another process has written some steps."""

    def steps() -> int:
        return len(Recorded(path).numbers()) if (path / "run.json").exists() else 0

    until(lambda: steps() >= at_least)


def test_the_command_stops_a_training_and_the_run_says_who_and_why(
    tmp_path: Path, zygote: Zygote, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "anna")
    monkeypatch.setattr("socket.gethostname", lambda: "lab")
    child, path = zygote.start(TRAINER, tmp_path / "run"), tmp_path / "run"
    trained(path)
    assert main(["control", str(path), "stop", "--why", "the loss is flat", "--wait", "30"]) == 0
    said = capsys.readouterr().out
    ended = child.wait()
    assert ended.code == 0, ended.output
    last = int(ended.output.split()[-1])
    assert said == f"done at step {last}: the loop has seen it in `hook.should_stop`\n"
    recorded = Recorded(path)
    assert recorded.run.state() == "finished"
    assert recorded.numbers() == list(range(last + 1))
    assert main(["runs", "show", str(path)]) == 0
    shown = capsys.readouterr().out
    assert f"by anna@lab at step {last}: the loss is flat" in shown
    assert main(["control", str(path), "stop"]) == 2
    assert "is not running: it is finished" in capsys.readouterr().err


def test_a_training_that_is_paused_can_be_interrupted_and_says_what_it_is(
    tmp_path: Path, zygote: Zygote, capsys: pytest.CaptureFixture[str]
) -> None:
    child, path = zygote.start(TRAINER, tmp_path / "run"), tmp_path / "run"
    trained(path)
    assert main(["control", str(path), "pause", "--wait", "30"]) == 0
    before = len(until(lambda: Recorded(path).numbers()))
    assert main(["runs", "show", str(path)]) == 0
    shown = capsys.readouterr().out
    assert "is paused" in shown
    assert f"cutaway control {path} resume" in shown
    beat = read_leases(Run.open(path).storage, "train")[0]["beat"]
    until(lambda: read_leases(Run.open(path).storage, "train")[0]["beat"] > beat)
    assert len(Recorded(path).numbers()) <= before + 1
    child.signal(signal.SIGINT)
    ended = child.wait()
    assert ended.code == -signal.SIGINT
    assert "KeyboardInterrupt" in ended.output
    assert Recorded(path).run.state() == "failed"
    assert main(["runs", "show", str(path)]) == 0
    assert "is paused" not in capsys.readouterr().out


def test_a_killed_training_leaves_its_requests_and_the_next_attempt_refuses_them(
    tmp_path: Path, zygote: Zygote
) -> None:
    child, path = zygote.start(TRAINER, tmp_path / "run"), tmp_path / "run"
    trained(path)
    child.signal(signal.SIGKILL)
    child.wait()
    run, model = Run.open(path), net()
    ask(run.storage, stale := Request("stop", "train", "anna", "too late", attempt=0))
    optimizer = sgd(model)
    with watched(path, model, optimizer, resume=True) as hook:
        until(lambda: hook.adapted.requests is not None and hook.adapted.requests.mail.waiting)
        step(model, optimizer)
        assert not hook.should_stop
        assert answered(hook, stale).reason == "the training that it was meant for has ended"
    assert "stopped_by" not in Run.open(path).identity


# -- a loop --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{}, {"statistics_every": 0}, {"statistics_every": 100}])
@pytest.mark.parametrize("optimized", [True, False])
def test_a_loop_stops_after_the_step_in_which_it_was_asked(
    tmp_path: Path, settings: dict[str, Any], optimized: bool
) -> None:
    model = net()
    optimizer = sgd(model)
    with watched(tmp_path / "run", model, *([optimizer] if optimized else []), **settings) as hook:
        for i in range(10):
            if i == 4:
                asked = left(hook, "stop")
            step(model, optimizer)
            if hook.should_stop:
                break
        assert (i, hook.step) == (4, 4)
        # Done at the step in which the loop saw it.
        until(lambda: answered(hook, asked).state == "done")
        assert answered(hook, asked).step == 4


def test_a_checkpoint_is_taken_after_the_update_and_leaves_the_training_as_it_is(tmp_path: Path) -> None:
    taken: dict[int, list[torch.Tensor]] = {}
    weights: list[list[torch.Tensor]] = []
    for asks in (False, True):
        model = net()
        optimizer = sgd(model)
        with watched(tmp_path / str(asks), model, optimizer) as hook:

            @hook.on_checkpoint
            def save(at: int, model: nn.Module = model) -> None:
                taken[at] = [p.detach().clone() for p in model.parameters()]
                model.eval()
                with torch.no_grad():
                    model(torch.ones(2, 4))  # many look at a model before they save it
                model.train()

            for i in range(6):
                if asks and i == 3:
                    left(hook, "checkpoint")
                step(model, optimizer, seed=i)
                weights.append([p.detach().clone() for p in model.parameters()])
        assert Recorded(tmp_path / str(asks)).numbers() == list(range(6 + asks))
    assert list(taken) == [3]
    for there, at in ((taken[3], 3), (weights[-1], 5)):
        assert all(torch.equal(a, b) for a, b in zip(there, weights[at], strict=True))


def test_of_two_optimizers_both_have_updated_before_a_checkpoint(tmp_path: Path) -> None:
    model = net()
    one, two = torch.optim.SGD(model.fc1.parameters(), lr=0.1), torch.optim.SGD(model.fc2.parameters(), lr=0.1)
    taken: list[list[torch.Tensor]] = []
    with watched(tmp_path / "run", model, one, two) as hook:
        hook.on_checkpoint(lambda _: taken.append([p.detach().clone() for p in model.parameters()]))
        for i, (x, y) in enumerate(batches(4)):
            if i == 2:
                before = [p.detach().clone() for p in model.parameters()]
            plain_loss(model, x, y).backward()
            if i == 1:
                asked = left(hook, "checkpoint")
            one.step()
            two.step()
            model.zero_grad()
        assert answered(hook, asked).step == 1
    assert len(taken) == 1
    assert all(torch.equal(a, b) for a, b in zip(taken[0], before, strict=True))
    assert Recorded(tmp_path / "run").numbers() == [0, 1, 2, 3]


@pytest.mark.parametrize("settings", [{}, {"statistics_every": 0}, {"statistics_every": 50}])
def test_a_dump_has_weights_gradients_and_loss_of_one_step(tmp_path: Path, settings: dict[str, Any]) -> None:
    model, loss = net(), nn.CrossEntropyLoss()
    optimizer = sgd(model)
    wanted: dict[str, Any] = {}
    with watched(tmp_path / "run", model, optimizer, **settings) as hook:
        hook.register_loss(loss)
        for i, (x, y) in enumerate(batches(20)):
            if i == 7:
                asked = left(hook, "dump")
            optimizer.zero_grad()
            before = {f"Net_{name}": p.detach().clone().numpy() for name, p in model.named_parameters()}
            value = loss(model(x), y)
            value.backward()
            if i == 8:
                gradients = {f"gradient/Net_{name}": p.grad.numpy().copy() for name, p in model.named_parameters()}
                wanted = {**before, **gradients, "CrossEntropyLoss_output_0": value.detach().numpy()}
            optimizer.step()
        reply = answered(hook, asked)
        assert (reply.state, reply.step) == ("done", 8)
    saved = Recorded(tmp_path / "run").tensors()
    dumped = {name: one.array for (at, name), one in saved.items() if at == 8}
    assert dumped.keys() == wanted.keys()
    for name, values in wanted.items():
        np.testing.assert_array_equal(dumped[name], values)
    assert {at for at, name in saved if name in before} == {8}
    trial = create_trial(tmp_path / "run")
    assert trial.tensor("Net_fc1.weight").steps() == [8]


def test_a_dump_without_an_optimizer_wakes_an_idle_hook(tmp_path: Path) -> None:
    model = net().eval()
    with watched(tmp_path / "run", model, statistics_every=0) as hook, torch.no_grad():
        for i in range(10):
            if i == 5:
                asked = left(hook, "dump")
            model(torch.ones(1, 4))
        assert hook.idle
        at = answered(hook, asked).step
    assert at == 6
    assert Recorded(tmp_path / "run").saved_at("Net_fc1.weight") == [6]


# -- the learning rate ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "rates", "said"),
    [
        ({"lr": 0.001}, [0.001, 0.001], "lr from 0.1 to 0.001, 0.4 to 0.001"),
        ({"lr_factor": 0.5}, [0.05, 0.2], "lr from 0.1 to 0.05, 0.4 to 0.2"),
        ({"lr": 0}, [0.0, 0.0], "lr from 0.1 to 0, 0.4 to 0"),
    ],
)
@pytest.mark.parametrize("as_tensor", [False, True])
def test_the_learning_rate_of_every_group_is_set(
    tmp_path: Path, arguments: dict[str, float], rates: list[float], said: str, as_tensor: bool
) -> None:
    model = net()
    groups = [{"params": model.fc1.parameters(), "lr": 0.1}, {"params": model.fc2.parameters(), "lr": 0.4}]
    optimizer = torch.optim.AdamW(groups)
    if as_tensor:
        for group in optimizer.param_groups:
            group["lr"] = torch.tensor(group["lr"])
    held = [group["lr"] for group in optimizer.param_groups]
    with watched(tmp_path / "run", model, optimizer) as hook:
        step(model, optimizer)
        asked = left(hook, "set", **arguments)
        step(model, optimizer)
        assert [float(group["lr"]) for group in optimizer.param_groups] == pytest.approx(rates)
        step(model, optimizer)
        reply = answered(hook, asked)
        assert (reply.state, reply.step) == ("done", 1)
        assert reply.reason == f"{said}; a scheduler of the loop may set it again"
    if as_tensor:
        assert all(group["lr"] is one for group, one in zip(optimizer.param_groups, held, strict=True))
    assert Recorded(tmp_path / "run").scalars("learning_rate/1")[2] == pytest.approx(rates[1])


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({}, "but got nothing"),
        ({"lr": 1, "lr_factor": 2}, "but got lr, lr_factor"),
        ({"lrr": 1}, "Did you mean 'lr'"),
        ({"lr": -1}, "not negative, but got -1"),
        ({"lr": float("nan")}, "but got nan"),
        ({"lr": "0.1"}, "but got '0.1'"),
        ({"lr": True}, "but got True"),
    ],
)
def test_what_cannot_be_a_learning_rate_is_refused(tmp_path: Path, arguments: dict[str, Any], reason: str) -> None:
    model = net()
    optimizer = sgd(model)
    with watched(tmp_path / "run", model, optimizer) as hook:
        asked = left(hook, "set", **arguments)
        step(model, optimizer)
        reply = answered(hook, asked)
        assert reply.state == "refused"
        assert reason in reply.reason
        assert optimizer.param_groups[0]["lr"] == 0.1


def test_without_a_registered_optimizer_no_rate_is_set(tmp_path: Path) -> None:
    model = net()
    with watched(tmp_path / "run", model) as hook:
        asked = left(hook, "set", lr=0.1)
        for _ in range(2):
            step(model, sgd(model))
        assert answered(hook, asked).reason == "no optimizer is registered with `hook.register_optimizer`"


# -- two processes that train together -----------------------------------------------------------------------------

TWO = """
import sys, time
from datetime import timedelta
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
import cutaway.torch as smd

rank, meeting = int(sys.argv[1]), sys.argv[2]
dist.init_process_group("gloo", f"file://{meeting}", timedelta(seconds=60), rank=rank, world_size=2)
torch.manual_seed(0)
model = DistributedDataParallel(torch.nn.Linear(4, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
steps = 0
with smd.Hook(sys.argv[3], include_workers=sys.argv[4]) as hook:
    hook.register_module(model)
    hook.register_optimizer(optimizer)
    while not hook.should_stop:
        optimizer.zero_grad()
        model(torch.ones(1, 4)).square().sum().backward()
        optimizer.step()
        steps += 1
        time.sleep(0.003)
dist.barrier()
print("steps", steps)
dist.destroy_process_group()
"""


@pytest.mark.one_in(2)
@pytest.mark.skipif(not torch.distributed.is_available(), reason="torch was built without it")
@pytest.mark.parametrize("workers", ["one", "all"])
def test_all_processes_stop_at_the_same_step(tmp_path: Path, zygote: Zygote, workers: str) -> None:
    path = tmp_path / "run"
    children = [zygote.start(TWO, rank, tmp_path / "meeting", path, workers) for rank in (0, 1)]
    trained(path)
    for words in (["set", "lr=0.5"], ["pause"], ["resume"], ["stop"]):
        code = main(["control", str(path), *words, "--wait", "30"])
        assert code == (1 if words[0] == "set" else 0)
    ended = [child.wait() for child in children]
    assert [one.code for one in ended] == [0, 0], ended
    first, second = (int(one.output.splitlines()[-1].split()[-1]) for one in ended)
    assert first == second
    answers = [reply for _, reply in history(Run.open(path).storage) if reply is not None]
    assert "several processes" in answers[0].reason
    assert "timeout of its process group" in answers[1].reason
    assert answers[-1].step == first - 1
    assert Run.open(path).state() == "finished"
