"""A run with a real evaluation, of a binding that can be opened again; and waiting for its jobs."""

from __future__ import annotations

import time
from pathlib import Path
from shutil import copy
from typing import Any

from cutaway.dataset import load_entry
from cutaway.evaluation import evaluate
from tests.unit.studio.one_run import Asked

SLOW = "TEST_BINDING_SECONDS"
BINDING = """
import os, time
import numpy as np
from cutaway.dataset import (
    DatasetMetadataType, DataStateType, PredictionTypeHandler, PreprocessResponse, tensorleap_gt_encoder,
    tensorleap_input_encoder, tensorleap_load_model, tensorleap_metadata, tensorleap_preprocess,
)
from a_model import a_model

NAMES = ["ant", "bee", "cow"]


@tensorleap_preprocess()
def preprocess():
    chance = np.random.default_rng(0)
    found = []
    for state, rows in ((DataStateType.training, 240), (DataStateType.validation, 90)):
        truth = np.arange(rows) % 3
        x = chance.normal(0, 0.25, (rows, 3)).astype(np.float32) + np.eye(3, dtype=np.float32)[truth]
        shown = truth.copy()
        if state == DataStateType.training:
            shown[:12] = (shown[:12] + 1) % 3
        found.append(PreprocessResponse(length=rows, data={"x": x, "y": shown}, state=state))
    return found


@tensorleap_input_encoder("x", channel_dim=-1)
def x(index, subset):
    time.sleep(float(os.environ.get("TEST_BINDING_SECONDS", "0")))
    return subset.data["x"][index]


@tensorleap_gt_encoder("kind")
def kind(index, subset):
    return np.eye(3, dtype=np.float32)[subset.data["y"][index]]


@tensorleap_metadata("width", DatasetMetadataType.float)
def width(index, subset):
    return float(np.abs(subset.data["x"][index]).max())


@tensorleap_load_model([PredictionTypeHandler("kind", NAMES)])
def model():
    return a_model()
"""


def evaluated_run(folder: Path) -> Path:
    """Write a binding and evaluate it into `folder/runs/insects`; of its labels, twelve are wrong."""
    binding = folder / "binding" / "leap_binder.py"
    binding.parent.mkdir(parents=True)
    binding.write_text(BINDING)
    copy(Path(__file__).with_name("a_model.py"), binding.parent)
    run = folder / "runs" / "insects"
    run.parent.mkdir()
    evaluate(load_entry(binding).dataset(), None, run)
    return run


def start(asked: Asked, **job: Any) -> dict[str, Any]:
    """Start a job, and return its row."""
    answer = asked.client.post("/api/jobs", json={"run": asked.id_of("insects"), **job})
    assert answer.status_code == 201, answer.text
    return dict(answer.json()["data"])


def row(asked: Asked, job: str) -> dict[str, Any]:
    answer = asked.client.get(f"/api/jobs/{job}")
    assert answer.status_code == 200, answer.text
    return dict(answer.json()["data"])


def cancel(asked: Asked, job: str) -> dict[str, Any]:
    answer = asked.client.post(f"/api/jobs/{job}/cancel", json={})
    assert answer.status_code == 200, answer.text
    return dict(answer.json()["data"])


def until(asked: Asked, job: str, *states: str, seconds: float = 60) -> dict[str, Any]:
    """Wait until a job is in one of these states; return its row."""
    end = time.monotonic() + seconds
    while (found := row(asked, job))["state"] not in states:
        assert time.monotonic() < end, found
        time.sleep(0.05)
    return found
