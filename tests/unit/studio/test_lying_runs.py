"""Runs of strangers: every checksum is right, and what is written is not what anybody of ours would write."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cutaway.run.documents import read_document, write_document
from cutaway.run.identity import Run
from cutaway.run.schemas import FINDINGS, SCALARS, STATISTICS, STEPS, TENSORS
from cutaway.run.segments import WriterId
from cutaway.run.storage import LocalStorage
from cutaway.testing.rules import ScriptedRun
from tests.unit.studio.one_run import studio_of

Lie = Callable[[Path], None]
PATHS = (
    *("", "/scalars", "/steps", "/samples", "/layers", "/tensors", "/tensors/overview.arrow", "/findings", "/requests"),
    *("/tensor?name=odd", "/tensor/histogram?name=odd&step=0", "/findings/g", "/curves.arrow?series=loss@TRAIN"),
)
STEP: dict[str, Any] = {"step": 3, "mode": "TRAIN", "mode_step": 3, "epoch": 0, "time": 5.0, "samples": ["a", None]}
NUMBERS = dict.fromkeys(("min", "max", "mean", "std", "l1", "l2", "abs_min"), 1.0)
SIZES: dict[str, Any] = {"step": 2, "tensor": "odd", "size": 4, "nonfinite": 0, "zeros": 0, **NUMBERS}
FOUND: dict[str, Any] = {"id": "g", "code": "C", "severity": "error", "message": "m", "where": "{}", "evidence": "{}"}


def document(key: str, **changes: object) -> Lie:
    def tell(path: Path) -> None:
        storage = LocalStorage(path)
        try:
            content = read_document(storage, key)
        except FileNotFoundError:
            content = {}
        write_document(storage, key, {**content, **changes})

    return tell


def row(table: str, given: Mapping[str, Any], **changes: Any) -> Lie:
    def tell(path: Path) -> None:
        role, worker = ("watch", "watcher_0") if table == FINDINGS else ("train", "worker_0")
        writer = Run.open(path).writer(table, WriterId(role, worker, 0))
        writer.append_rows({name: [value] for name, value in {**given, **changes}.items()}, 2)
        writer.close()

    return tell


LEASE = "leases/train-worker_0-0.json"
REQUEST = {"action": "stop", "role": "train", "who": "a", "why": "b", "arguments": {}, "attempt": 0, "time": 1.0}
LIES: dict[str, Lie] = {
    "attempts that are a number": document("run.json", attempts=5),
    "attempts that are texts": document("run.json", attempts=["x"]),
    "an attempt from nowhere": document("run.json", attempts=[{"attempt": 0, "from_step": None}]),
    "an attempt from beyond": document("run.json", attempts=[{"attempt": 0, "from_step": 2**70}]),
    "a name that is a list": document("run.json", name=[1], created={}, stopped_by="x", versions=3),
    "a lease of no state": document(LEASE, state="dancing"),
    "a lease of another worker": document(LEASE, worker=["a"], attempt={}),
    "collections that are none": document("trace/collections.json", collections=7),
    "collections of a wrong pattern": document("trace/collections.json", collections={"a": {"include_regex": ["("]}}),
    "a request with a place for an id": document("control/f.json", id="../../x", **REQUEST),
    "a request with half a letter": document("control/f.json", id="\ud800", **REQUEST),
    "a step of no mode": row(STEPS, STEP, mode=None),
    "a step of an unknown mode": row(STEPS, STEP, mode="DANCE"),
    "a step without its number": row(STEPS, STEP, mode_step=None, epoch=-(2**31), time=float("nan")),
    "a scalar without a name": row(SCALARS, {"name": None, "step": 2, "mode": None, "value": None, "time": None}),
    "a tensor without a name": row(STATISTICS, SIZES, tensor=None),
    "a tensor of a thousand parts": row(STATISTICS, SIZES, tensor="a." * 1000),
    "a tensor of no size": row(STATISTICS, SIZES, size=0, zeros=9, l2=float("nan")),
    "a value beyond its file": row(
        TENSORS,
        {"step": 0, "tensor": "odd", "dtype": "float32"},
        shape=[2**40, 2**40],
        offset=2**50,
        length=2**50,
        crc=0,
    ),
    "a value of no type": row(
        TENSORS, {"step": 0, "tensor": "odd", "dtype": "object"}, shape=[1], offset=0, length=4, crc=0
    ),
    "a finding of nothing": row(FINDINGS, FOUND, code=None, severity="awful", message=None, where="[", evidence=None),
    "a finding of half letters": row(FINDINGS, FOUND, where='{"tensor": "\\ud800", "step": 1e400, "attempt": 9}'),
    "a finding without end": row(FINDINGS, FOUND, evidence='{"a":' + "[" * 5000 + "]" * 5000 + "}"),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_no_answer_fails_and_the_honest_part_is_shown(lie: Lie, tmp_path: Path) -> None:
    scripted = ScriptedRun()
    for step in range(3):
        scripted.step(tensors={"fc.weight": np.ones(4)}, scalars={"loss": float(step)}, save=True)
    scripted.write(tmp_path / "runs" / "run")
    lie(tmp_path / "runs" / "run")
    with studio_of(tmp_path / "runs") as studio:
        run = studio.studio.index.table().rows[0].id
        answers = {path: studio.client.get(f"/api/runs/{run}{path}") for path in PATHS}
    assert {path: answer.text for path, answer in answers.items() if answer.status_code >= 500} == {}
    assert answers[""].status_code == 200
    assert "fc.weight" in answers["/tensors"].text
    assert "loss@TRAIN" in answers["/scalars"].text
