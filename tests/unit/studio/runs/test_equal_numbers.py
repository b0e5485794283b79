"""Table, header, curves, comparison, commands and API tell the same numbers of one series, and these are true."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cutaway.cli.run_facts import compare_runs, list_facts, show_facts
from cutaway.run import Run
from tests.unit.studio.one_run import Asked, studio_of

Losses = dict[str, list[float]]
STEPS, ROUNDS = 96, 8


def train(path: Path, seed: int, reduction: str) -> list[float]:
    """Train as our how-to does, with a round of validation after every 12 steps; return the true losses."""
    import torch

    from cutaway.torch import Hook

    torch.manual_seed(seed)
    model = torch.nn.Linear(4, 3)
    criterion, optimizer = torch.nn.CrossEntropyLoss(reduction=reduction), torch.optim.SGD(model.parameters(), lr=0.3)
    inputs = torch.randn(STEPS, 8, 4)
    labels = inputs[:, :, :3].argmax(2)
    true = []
    with Hook(path) as hook:
        hook.register_module(model)
        hook.register_loss(criterion)
        hook.register_optimizer(optimizer)
        for step in range(STEPS):
            hook.set_mode("TRAIN")
            optimizer.zero_grad()
            loss = criterion(model(inputs[step]), labels[step]).mean()
            loss.backward()
            optimizer.step()
            true.append(float(loss.detach()))
            if step % (STEPS // ROUNDS) == 0:
                hook.set_mode("EVAL")
                with torch.no_grad():
                    criterion(model(inputs[step]), labels[step])
    return true


@pytest.fixture(scope="module", params=["none", "mean"])
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Losses]:
    root = tmp_path_factory.mktemp("runs")
    return root, {name: train(root / name, seed, request.param) for seed, name in enumerate(("a", "b"))}


@pytest.fixture(scope="module")
def asked(made: tuple[Path, Losses]) -> Iterator[Asked]:
    with studio_of(made[0]) as studio:
        yield studio


@pytest.fixture
def truth(made: tuple[Path, Losses]) -> dict[str, tuple[float, float]]:
    """The last and the best loss of each run."""
    return {name: (losses[-1], min(losses)) for name, losses in made[1].items()}


def loss_series(asked: Asked, run: str) -> str:
    """What the loss of a run is called: `loss` where it is one number a step."""
    return next(
        row["series"] for row in asked.data(run, "/scalars") if row["group"] == "loss" and row["mode"] == "TRAIN"
    )


@pytest.mark.parametrize("name", ["a", "b"])
def test_last_and_best_are_the_true_ones_everywhere(
    name: str, asked: Asked, truth: dict[str, tuple[float, float]], made: tuple[Path, Losses]
) -> None:
    run, series = Run.open(made[0] / name), loss_series(asked, name)
    scalar, mode = series.split("@")
    row = next(one for one in asked.data(name, "/scalars") if one["series"] == series)
    columns = [f"scalar.{scalar}.{mode}.{which}" for which in ("last", "min")]
    answer = asked.client.get("/api/runs", params={"columns": columns}).json()["data"]
    table = next(one for one in answer if one["name"] == name)
    detail = asked.data(name)["row"]
    curve = asked.arrow(name, "/curves.arrow", series=series, points=20)
    (listed,), shown = list_facts([run]), show_facts(run)
    (said,) = [one for one in shown["scalars"] if (one["name"], one["mode"]) == (scalar, mode)]
    told = {
        "scalars": (row["last"], row["min"]),
        "table": (table["loss"]["last"], table["loss"]["best"]),
        "cells": tuple(table["cells"][column] for column in columns),
        "header": (detail["loss"]["last"], detail["loss"]["best"]),
        "legend": (curve["value"][-1].as_py(), min(curve["min"].to_pylist())),
        "runs list": (listed["loss"]["last"], listed["loss"]["min"]),
        "runs show": (said["last"], said["min"]),
    }
    assert set(told.values()) == {told["scalars"]}, told
    assert told["scalars"] == pytest.approx(truth[name], rel=1e-6)
    assert row["count"] == STEPS


def test_the_comparison_lists_the_loss_with_the_numbers_of_the_runs(
    asked: Asked, truth: dict[str, tuple[float, float]], made: tuple[Path, Losses]
) -> None:
    series = loss_series(asked, "a")
    ids = [asked.id_of(name) for name in ("a", "b")]
    compared = asked.client.get("/api/compare", params={"run": ids}).json()["data"]
    row = next(one for one in compared["scalars"] if one["series"] == series)
    assert (row["count"], row["derived"], row["group"]) == (2 * STEPS, False, "loss")
    assert row["min"] == pytest.approx(min(best for _, best in truth.values()), rel=1e-6)
    answer = asked.client.get("/api/compare/curves.arrow", params={"run": ids, "series": series})
    assert answer.status_code == 200
    lines = compare_runs([Run.open(made[0] / name) for name in ("a", "b")]).to_dict()["scalars"]
    mine = next(values for key, values in lines.items() if key.startswith(series.split("@")[0]) and "EVAL" not in key)
    assert mine == pytest.approx([last for last, _ in truth.values()], rel=1e-6)
    assert json.loads(json.dumps(mine)) == mine


def test_a_loss_that_is_not_finite_is_no_best_and_is_counted(tmp_path: Path) -> None:
    from cutaway.testing.rules import ScriptedRun

    run = ScriptedRun()
    for step in range(30):
        run.step(tensors={"CrossEntropyLoss_output_0": np.array([math.nan if step == 20 else 30.0 - step, 1.0])})
    run.write(tmp_path / "runs" / "sick")
    with studio_of(tmp_path / "runs") as studio:
        (row,) = [one for one in studio.data("sick", "/scalars") if one["group"] == "loss"]
        table: Any = studio.data("sick")["row"]["loss"]
        assert (row["nonfinite"], row["min"], row["last"]) == (1, 1.0, 1.0)
        assert (table["best"], table["last"]) == (1.0, 1.0)
