"""What goes wrong while training: the training ends as if nobody watched, and what was lost is said once."""

from __future__ import annotations

import errno
import itertools
import logging
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import cutaway.frameworks.torch.loss_taps
import cutaway.torch as smd
from cutaway.capture.background import QUEUE

# As users have them: imported before the tests are given longer ones.
from cutaway.capture.patience import FREE_SECONDS, STATISTICS_PATIENCE
from cutaway.capture.records import MOST_SLABS
from cutaway.capture.step_writer import StepWriter
from cutaway.capture.tensorboard import EventWriter
from cutaway.frameworks.torch.activations import Activations
from cutaway.frameworks.torch.forward_taps import ForwardTaps
from cutaway.frameworks.torch.optimizer_taps import OptimizerTaps
from cutaway.frameworks.torch.parameters import ParameterCapture
from cutaway.frameworks.torch.samples import _Overheard
from cutaway.run.catalog import run_sizes
from tests.faulty_storage import Fault, FaultyStorage
from tests.frameworks.torch.models import batches, net, sgd, train
from tests.frameworks.torch.zygote import Zygote
from tests.recording import Recorded

pytestmark = pytest.mark.faults

STEPS = 12
SAVING: dict[str, Any] = {"include_collections": ["weights", "outputs"], "save_config": {"save_interval": 1}}


def weights_without_a_hook() -> list[torch.Tensor]:
    model = net()
    train(model, sgd(model), nn.CrossEntropyLoss(), STEPS)
    return [p.detach() for p in model.parameters()]


def watch(path: Path, model: nn.Module, optimizer: torch.optim.Optimizer, loss: nn.Module, **settings: Any) -> smd.Hook:
    hook = smd.Hook(path, **{**SAVING, **settings})
    hook.register_module(model)
    hook.register_loss(loss)
    hook.register_optimizer(optimizer)
    return hook


def warnings_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


def assert_trained(model: nn.Module) -> None:
    """The model came out bit for bit as without a hook."""
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), weights_without_a_hook(), strict=True))


# -- a storage that fails --------------------------------------------------------------------------


@pytest.mark.one_in(3)
@pytest.mark.parametrize("lasting", [False, True])
@pytest.mark.parametrize("call", range(1, 40, 3))
def test_whichever_write_fails_training_ends_well_and_one_line_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, call: int, lasting: bool
) -> None:
    model, loss = net(), nn.CrossEntropyLoss()
    optimizer = sgd(model)
    with watch(tmp_path / "run", model, optimizer, loss) as hook:
        assert hook.run is not None
        assert hook.adapted.recorder is not None
        fault = Fault(call, errno.ENOSPC, written=0.5, lasting=lasting)
        faulty: Any = FaultyStorage(hook.run.storage, fault)
        hook.run.storage = hook.adapted.recorder._lease._storage = faulty
        train(model, optimizer, loss, STEPS)
        hook.save_scalar("accuracy", 0.5)
        hook.save_tensor("mine", torch.ones(2))
    assert_trained(model)
    recorded = Recorded(tmp_path / "run")
    steps = recorded.numbers()
    assert steps == list(range(len(steps)))
    if not faulty.failures:
        assert warnings_of(caplog) == []
        return
    assert len(warnings_of(caplog)) == 1
    assert "No space left" in warnings_of(caplog)[0]
    if not lasting and "stopped" in warnings_of(caplog)[0]:
        assert recorded.findings() == ["capture-stopped"]


@pytest.mark.parametrize("file", ["trace/statistics", "trace/tensors", "scalars", "trace/steps"])
def test_flush_says_that_capture_has_stopped(tmp_path: Path, file: str) -> None:
    model, loss = net(), nn.CrossEntropyLoss()
    optimizer = sgd(model)
    with watch(tmp_path / "run", model, optimizer, loss) as hook:
        assert hook.flush()
        (tmp_path / "run" / file).parent.mkdir(exist_ok=True)
        (tmp_path / "run" / file).write_text("in the way")
        train(model, optimizer, loss, steps=2)
        assert not hook.flush()
        assert not hook.active
    assert Recorded(tmp_path / "run").findings() == ["capture-stopped"]


CHILD = """
import hashlib, logging, os, resource, shutil, sys, time
import torch
import cutaway.torch as smd
logging.basicConfig(format="%(levelname)s %(message)s")
run, fault = sys.argv[1:]

def weights():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Linear(8, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return model, optimizer

def train(model, optimizer, steps, seed):
    torch.manual_seed(seed)
    for _ in range(steps):
        optimizer.zero_grad()
        model(torch.randn(3, 4)).square().sum().backward()
        optimizer.step()

def cause():
    if fault == "full":
        # The end of a file that may not grow any more is the end of a disk.
        resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, resource.RLIM_INFINITY))
    elif fault == "read-only":
        for folder, _, _ in os.walk(run):
            os.chmod(folder, 0o555)
        if os.getuid() == 0:
            os.setuid(65534)
    elif fault == "deleted":
        # Away at once, as below.
        os.rename(run, run + "-gone")
        shutil.rmtree(run + "-gone")

def result(model):
    return hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in model.parameters())).hexdigest()

model, optimizer = weights()
train(model, optimizer, 100, 1)
train(model, optimizer, 100, 2)
wanted = result(model)
model, optimizer = weights()
hook = smd.Hook(run)
hook.register_module(model)
hook.register_optimizer(optimizer)
train(model, optimizer, 100, 1)
hook.flush()
cause()
train(model, optimizer, 100, 2)
deadline = time.monotonic() + 60
while hook.active and fault != "none" and time.monotonic() < deadline:
    time.sleep(0.05)  # the lease that cannot be renewed is noticed within a second
hook.close()
print("equal" if result(model) == wanted else "different")
"""


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("fault", "reason"), [("full", "too large"), ("read-only", "ermission denied"), ("deleted", "gone")]
)
def test_a_disk_that_fails_in_mid_training(tmp_path: Path, zygote: Zygote, fault: str, reason: str) -> None:
    tmp_path.chmod(0o755)
    done = zygote.run(CHILD, tmp_path / "run", fault)
    lines = done.output.splitlines()
    assert done.code == 0, done.output
    assert lines[-1] == "equal"
    assert len(lines) == 2, done.output
    assert lines[0].startswith("WARNING Capture of 'run' stopped")
    assert reason in lines[0]
    if fault == "full":
        recorded = Recorded(tmp_path / "run")
        assert recorded.findings() == ["capture-stopped"]
        assert len(recorded.numbers()) >= 100
    if fault == "deleted":
        assert not (tmp_path / "run").exists()


def test_a_disk_that_does_not_fail_warns_of_nothing(tmp_path: Path, zygote: Zygote) -> None:
    done = zygote.run(CHILD, tmp_path / "run", "none")
    assert done.output == "equal\n"
    assert len(Recorded(tmp_path / "run").numbers()) == 200


def test_a_deleted_folder_does_not_come_back(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    model, loss = net(), nn.CrossEntropyLoss()
    optimizer = sgd(model)
    with watch(tmp_path / "run", model, optimizer, loss):
        # Away at once: what the hook writes meanwhile would be found by who deletes file by file.
        shutil.rmtree((tmp_path / "run").rename(tmp_path / "gone"))
        train(model, optimizer, loss, STEPS)
    assert not (tmp_path / "run").exists()
    assert len(warnings_of(caplog)) == 1
    assert_trained(model)


# -- our own mistakes ------------------------------------------------------------------------------


def broken(*_: Any, **__: Any) -> Any:
    raise ZeroDivisionError("our own mistake")


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (StepWriter, "write"),
        (ParameterCapture, "capture"),
        (Activations, "offer"),
        (EventWriter, "add_scalar"),
        (cutaway.frameworks.torch.loss_taps, "copy_of"),
        (ForwardTaps, "_before_forward"),
        (OptimizerTaps, "_after_update"),
    ],
)
def test_a_mistake_of_ours_stops_the_capture_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, owner: Any, name: str
) -> None:
    monkeypatch.setattr(owner, name, broken)
    model, loss = net(), nn.CrossEntropyLoss()
    optimizer = sgd(model)
    with watch(tmp_path / "run", model, optimizer, loss, export_tensorboard=True) as hook:
        train(model, optimizer, loss, STEPS)
        hook.save_scalar("accuracy", 1.0)
        assert not hook.flush()
    assert_trained(model)
    assert len(warnings_of(caplog)) == 1
    assert "our own mistake" in warnings_of(caplog)[0]
    recorded = Recorded(tmp_path / "run")
    assert "capture-stopped" in recorded.findings()
    assert recorded.run.state() == "finished"


def test_a_mistake_in_following_the_loader_does_not_end_the_epoch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(_Overheard, "indices", property(broken, lambda *_: None), raising=False)
    data = torch.utils.data.TensorDataset(torch.arange(8.0))
    with smd.Hook(tmp_path / "run") as hook:
        loader = hook.samples(torch.utils.data.DataLoader(data, batch_size=2))
        assert [batch[0].tolist() for batch in loader] == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert len(warnings_of(caplog)) == 1


def test_a_tensorboard_file_that_cannot_be_written_does_not_end_the_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with smd.Hook(tmp_path / "run", export_tensorboard=True) as hook:
        monkeypatch.setattr(EventWriter, "add_scalar", full)
        hook.save_scalar("accuracy", 0.5)
        hook.save_scalar("accuracy", 0.6)
    assert len(warnings_of(caplog)) == 1
    assert "No space left" in warnings_of(caplog)[0]
    assert len(Recorded(tmp_path / "run").rows("scalars")) == 1


# -- a writer that cannot keep up ------------------------------------------------------------------


def test_a_slow_writer_thins_the_record_and_not_the_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("cutaway.capture.patience.STATISTICS_PATIENCE", 0.002)
    monkeypatch.setattr("cutaway.capture.patience.TENSOR_PATIENCE", 0.002)
    write, groups = StepWriter.write, list[int]()

    def slowly(self: StepWriter, records: Any) -> None:
        groups.append(len(records))
        time.sleep(0.2)
        write(self, records)

    monkeypatch.setattr(StepWriter, "write", slowly)
    model, loss, count = net(), nn.CrossEntropyLoss(), 300
    optimizer = sgd(model)
    with watch(tmp_path / "run", model, optimizer, loss, include_collections=None) as hook:
        train(model, optimizer, loss, count)
        assert hook._adapter.loop.model.parameters is not None
        assert hook._adapter.loop.model.parameters._pool._made <= MOST_SLABS
        hook.adapted.recorder._writer.flush()  # type: ignore[union-attr]
        # One more step, which tells how many were lost just before it.
        train(model, optimizer, loss, 1)
    assert max(groups) <= QUEUE
    recorded = Recorded(tmp_path / "run")
    rows = recorded.steps
    assert len(rows) < count
    assert len(rows) + sum(row["thinned"] for row in rows) == count + 1
    gaps = [b["step"] - a["step"] - 1 for a, b in itertools.pairwise(rows)]
    assert gaps == [row["thinned"] for row in rows[1:]]
    assert recorded.findings() == ["writer-behind"]
    assert len(warnings_of(caplog)) == 1


def test_a_stalled_writer_costs_one_wait_and_not_one_a_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    patience = 0.0625
    monkeypatch.setattr("cutaway.capture.patience.STATISTICS_PATIENCE", patience)
    monkeypatch.setattr("cutaway.capture.patience.TENSOR_PATIENCE", patience)
    go_on = threading.Event()
    write, wait_for = StepWriter.write, threading.Condition.wait_for
    in_vain: list[threading.Condition] = []

    def watched(self: threading.Condition, holds: Callable[[], bool], timeout: float | None = None) -> bool:
        held = wait_for(self, holds, timeout)
        if timeout == patience and not held:
            in_vain.append(self)
        return held

    def stalled(self: StepWriter, records: Any) -> None:
        go_on.wait(60)
        write(self, records)

    monkeypatch.setattr(StepWriter, "write", stalled)
    monkeypatch.setattr(threading.Condition, "wait_for", watched)
    model, loss = net(), nn.CrossEntropyLoss()
    optimizer = sgd(model)
    with watch(tmp_path / "run", model, optimizer, loss):
        train(model, optimizer, loss, 40)
        go_on.set()
    assert len(in_vain) == len(set(in_vain)) > 0, "no queue and no pool is waited for twice"


def test_a_writer_that_a_busy_machine_holds_up_for_a_second_loses_no_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("cutaway.capture.patience.STATISTICS_PATIENCE", STATISTICS_PATIENCE)
    monkeypatch.setattr("cutaway.capture.patience.FREE_SECONDS", FREE_SECONDS)
    write, held = StepWriter.write, list[int]()

    def held_up(self: StepWriter, records: Any) -> None:
        if len(held) < 2:
            held.append(len(records))
            time.sleep(1.0)
        write(self, records)

    monkeypatch.setattr(StepWriter, "write", held_up)
    model, loss = net(), nn.CrossEntropyLoss()
    optimizer = sgd(model)
    with watch(tmp_path / "run", model, optimizer, loss, include_collections=None):
        train(model, optimizer, loss, 60)
    assert len(held) == 2
    assert [row["step"] for row in Recorded(tmp_path / "run").steps] == list(range(60))
    assert warnings_of(caplog) == []


def test_a_writer_that_keeps_up_thins_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    model, loss = net(), nn.CrossEntropyLoss()
    optimizer = sgd(model)
    with watch(tmp_path / "run", model, optimizer, loss):
        train(model, optimizer, loss, 300)
    rows = Recorded(tmp_path / "run").steps
    assert len(rows) == 300
    assert not any(row["thinned"] for row in rows)
    assert warnings_of(caplog) == []


# -- the disk budget -------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [60_000, 300_000, 1_000_000])
def test_the_disk_budget_is_never_exceeded_and_thinning_is_said(tmp_path: Path, budget: int) -> None:
    model, loss = nn.Linear(4, 300), nn.CrossEntropyLoss()
    optimizer = sgd(model)
    with watch(tmp_path / "run", model, optimizer, loss, disk_budget=budget) as hook:
        for x, y in batches(400):
            optimizer.zero_grad()
            loss(model(x), y).backward()
            optimizer.step()
        for i in range(50):
            hook.save_tensor("mine", torch.ones(5_000))
            hook.save_scalar("accuracy", i)
    used = sum(run_sizes(Recorded(tmp_path / "run").run).values())
    assert used <= budget
    recorded = Recorded(tmp_path / "run")
    assert {"capture-thinned", "tensors-refused", "capture-stopped"} & set(recorded.findings())
    if budget == 1_000_000:
        assert used > 0.5 * budget
        assert "capture-thinned" in recorded.findings()
        rows = recorded.steps
        assert not all(row["statistics"] for row in rows)


def test_a_budget_that_suffices_thins_nothing(tmp_path: Path) -> None:
    model, loss = net(), nn.CrossEntropyLoss()
    optimizer = sgd(model)
    with watch(tmp_path / "run", model, optimizer, loss):
        train(model, optimizer, loss, 50)
    recorded = Recorded(tmp_path / "run")
    assert recorded.findings() == []
    assert all(row["statistics"] for row in recorded.steps)


def test_outputs_of_ever_new_sizes_do_not_pile_up_in_memory(tmp_path: Path) -> None:
    model = net()
    with smd.Hook(tmp_path / "run", include_collections=["outputs"]) as hook:
        hook.register_module(model)
        for size in range(1, 120):
            model(torch.ones(size, 4))
        hook.flush()
        assert hook.adapted.recorder is not None
        assert hook.adapted.recorder._steps is not None
        assert len(hook.adapted.recorder._steps._plans) < 50
