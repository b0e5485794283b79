"""Training with two processes: who writes, into which run, and which gradients."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import cutaway.torch as smd
from cutaway.run import list_runs
from tests.frameworks.torch.zygote import Ended, Zygote
from tests.recording import Recorded, assert_statistics

pytestmark = pytest.mark.skipif(not torch.distributed.is_available(), reason="torch was built without it")

TRAINER = """
import json, sys
from datetime import timedelta
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset
import cutaway.torch as smd

rank, meeting, settings = int(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
dist.init_process_group("gloo", f"file://{meeting}", timedelta(seconds=60), rank=rank, world_size=2)
seen, accumulate = [], settings.pop("accumulate", False)
for runs in range(settings.pop("runs", 1)):
    torch.manual_seed(0)
    model = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU(), torch.nn.Linear(3, 2)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    data = TensorDataset(torch.arange(48.0).reshape(12, 4) / 48)
    loader = DataLoader(data, batch_size=2, sampler=DistributedSampler(data, shuffle=False))
    with smd.Hook(**settings) as hook:
        hook.register_module(model)
        hook.register_optimizer(optimizer)
        for step, (x,) in enumerate(hook.samples(loader)):
            optimizer.zero_grad()
            if accumulate:
                with model.no_sync():
                    model(x + 1).square().sum().backward()
            model(x).square().sum().backward()
            seen.append({name: p.grad.flatten().tolist() for name, p in model.module.named_parameters()})
            optimizer.step()
            if rank == 1:
                hook.save_scalar("from the second", step)
    dist.barrier()
print(json.dumps({"gradients": seen, "out_dir": str(hook.out_dir), "active": hook.worker.rank}))
dist.destroy_process_group()
"""


def launch(zygote: Zygote, tmp_path: Path, **settings: Any) -> list[dict[str, Any]]:
    """Run both ranks and return what each printed last."""
    meeting = tmp_path / f"meeting-{len(list(tmp_path.glob('meeting-*')))}"
    children = [
        zygote.start(TRAINER, rank, meeting, json.dumps(settings), CUTAWAY_HOME=str(tmp_path)) for rank in (0, 1)
    ]
    ended: list[Ended] = [child.wait() for child in children]
    for one in ended:
        assert one.code == 0, one.output
    return [json.loads(one.output.splitlines()[-1]) for one in ended]


def assert_averaged(recorded: Recorded, worker: str, gradients: list[dict[str, list[float]]]) -> None:
    rows = recorded.statistics(worker)
    for step, found in enumerate(gradients):
        for name, values in found.items():
            assert_statistics(rows[step, f"gradient/Sequential_{name}"], np.array(values, np.float64))


@pytest.mark.parametrize("accumulate", [pytest.param(False, marks=pytest.mark.slow), True])
def test_one_worker_writes_and_its_gradients_are_the_averaged_ones(
    tmp_path: Path, zygote: Zygote, accumulate: bool
) -> None:
    first, second = launch(zygote, tmp_path, out_dir=str(tmp_path / "run"), accumulate=accumulate)
    assert first["gradients"] == second["gradients"]
    recorded = Recorded(tmp_path / "run")
    assert {row["worker"] for row in recorded.steps} == {"worker_0"}
    assert recorded.numbers() == [0, 1, 2]
    assert_averaged(recorded, "worker_0", first["gradients"])
    assert recorded.rows("scalars")
    assert not recorded.scalars("from the second")
    assert recorded.run.state() == "finished"
    assert second["out_dir"] == "None"


@pytest.mark.parametrize("explicit", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_all_workers_write_into_the_chiefs_run(tmp_path: Path, zygote: Zygote, explicit: bool) -> None:
    out_dir = str(tmp_path / "run") if explicit else None
    first, second = launch(zygote, tmp_path, out_dir=out_dir, include_workers="all")
    assert first["out_dir"] == second["out_dir"]
    recorded = Recorded(first["out_dir"])
    for rank, worker in enumerate(("worker_0", "worker_1")):
        assert recorded.numbers(worker) == [0, 1, 2]
        assert_averaged(recorded, worker, first["gradients"])
        samples = [row["samples"] for row in recorded.steps if row["worker"] == worker]
        assert samples == [[f"training/{4 * step + rank}", f"training/{4 * step + rank + 2}"] for step in range(3)]
    assert list(recorded.scalars("from the second").values()) == [0, 1, 2]
    assert recorded.run.state() == "finished"
    assert recorded.findings() == []
    if not explicit:
        assert len(list_runs(tmp_path / "runs")) == 1


@pytest.mark.slow
def test_a_second_launch_does_not_join_the_run_of_the_first(tmp_path: Path, zygote: Zygote) -> None:
    one = launch(zygote, tmp_path, include_workers="all")
    two = launch(zygote, tmp_path, include_workers="all")
    assert one[0]["out_dir"] == one[1]["out_dir"] != two[0]["out_dir"] == two[1]["out_dir"]
    for launched in (one, two):
        recorded = Recorded(launched[0]["out_dir"])
        assert recorded.numbers("worker_0") == recorded.numbers("worker_1") == [0, 1, 2]


@pytest.mark.slow
def test_two_hooks_of_one_launch_have_two_runs_that_both_workers_share(tmp_path: Path, zygote: Zygote) -> None:
    first, second = launch(zygote, tmp_path, include_workers="all", runs=2)
    assert first["out_dir"] == second["out_dir"]
    runs = list_runs(tmp_path / "runs")
    assert len(runs) == 2
    for run in runs:
        recorded = Recorded(run.path)
        assert recorded.numbers("worker_0") == recorded.numbers("worker_1") == [0, 1, 2]


def test_all_workers_resume_together(tmp_path: Path, zygote: Zygote) -> None:
    launch(zygote, tmp_path, out_dir=str(tmp_path / "run"), include_workers="all")
    launch(zygote, tmp_path, out_dir=str(tmp_path / "run"), include_workers="all", resume=True)
    recorded = Recorded(tmp_path / "run")
    assert recorded.numbers("worker_0") == recorded.numbers("worker_1") == list(range(6))
    assert {row["attempt"] for row in recorded.steps if row["step"] >= 3} == {1}


def test_rank_and_size_come_from_the_environment_before_a_group_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "4")
    hook = smd.Hook(tmp_path / "run")
    assert hook.worker.name == "worker_1"
    assert not hook.active
    assert not (tmp_path / "run").exists()
