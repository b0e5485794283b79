"""The routes of findings: from what was concluded to its evidence, its steps, and what was done about it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cutaway.rules.actions import Checkpoint
from cutaway.run.findings import BY_ANALYSIS, Finding, append_findings
from cutaway.run.identity import Run
from cutaway.run.schemas import FINDINGS
from cutaway.run.segments import WriterId
from cutaway.testing.rules import ScriptedRun
from tests.unit.studio.one_run import Asked, studio_of

SPIKE = Finding(
    "UnchangedTensor",
    "warning",
    "fc.weight has not changed.",
    where={"step": 8, "mode": "TRAIN", "tensor": "fc.weight", "attempt": 0},
    evidence={"since": 5, "value": float("nan"), "tensors": {"fc.weight": 0.0, "gone.weight": 0.0}},
    source="watch",
    time=10.0,
)
INSIGHT = Finding("mislabeled-samples", "info", "3 labels are wrong.", source=BY_ANALYSIS, time=30.0)
HOSTILE = Finding(
    "<script>alert(1)</script>",
    "error",
    "half \\ud800 a letter",
    where={"step": True, "tensor": ["no"], "attempt": "x"},
    evidence={"since": -4, "tensors": 7},
    time=20.0,
)
REPLACED = Finding("LossSpike", "error", "A spike.", where={"step": 9, "attempt": 7}, source="hook", time=5.0)


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    root = tmp_path_factory.mktemp("runs")
    scripted = ScriptedRun()
    for step in range(10):
        scripted.step(tensors={"fc.weight": [1.0]}, samples=["training/1"] if step > 6 else None)
    run = scripted.write(root / "watched")
    writer = run.writer(FINDINGS, WriterId("watch", "watcher_0", 0))
    append_findings(writer, [SPIKE, INSIGHT, HOSTILE, REPLACED])
    writer.close()
    Checkpoint().act(run, SPIKE)
    Checkpoint().act(run, REPLACED)
    ScriptedRun().write(root / "silent")
    with studio_of(root) as asked:
        yield asked


def test_they_come_with_the_newest_step_first(studio: Asked) -> None:
    rows = studio.data("watched", "/findings")
    assert [row["code"] for row in rows] == ["LossSpike", "UnchangedTensor", "mislabeled-samples", HOSTILE.code]
    assert [row["replaced"] for row in rows] == [True, False, False, False]
    assert (rows[3]["step"], rows[3]["tensor"], rows[3]["attempt"]) == (None, None, None)
    assert studio.data("silent", "/findings") == []


@pytest.mark.parametrize(
    ("asked", "codes"),
    [
        ({"severity": ["warning"]}, ["UnchangedTensor"]),
        ({"severity": ["warning", "info"]}, ["UnchangedTensor", "mislabeled-samples"]),
        ({"code": "lossspike"}, ["LossSpike"]),
        ({"about": "samples"}, ["mislabeled-samples"]),
        ({"about": "training", "severity": "warning"}, ["UnchangedTensor"]),
        ({"limit": 1, "offset": 1}, ["UnchangedTensor"]),
    ],
)
def test_they_are_chosen(studio: Asked, asked: dict[str, object], codes: list[str]) -> None:
    assert [row["code"] for row in studio.data("watched", "/findings", **asked)] == codes


def test_a_finding_leads_to_its_window_its_tensors_and_what_was_done(studio: Asked) -> None:
    detail = studio.data("watched", f"/findings/{SPIKE.id}")
    assert (detail["first_step"], detail["last_step"], detail["samples_known"]) == (5, 8, True)
    assert detail["tensors"] == ["fc.weight"]
    assert all(detail[name] for name in ("sees", "why", "try_this"))
    assert detail["evidence"]["value"] == "NaN"
    assert [(one["action"], one["state"], one["who"]) for one in detail["actions"]] == [
        ("checkpoint", "waiting", "rule UnchangedTensor")
    ]


def test_a_finding_of_no_rule_and_of_a_stranger_is_shown_all_the_same(studio: Asked) -> None:
    detail = studio.data("watched", f"/findings/{HOSTILE.id}")
    assert (detail["sees"], detail["first_step"], detail["tensors"], detail["actions"]) == ("", None, [], [])
    assert detail["finding"]["message"] == HOSTILE.message


def test_only_a_rule_can_be_missing_here(tmp_path: Path) -> None:
    by_rule = Finding(
        "LopsidedGradient", "warning", "One way.", evidence={"parameters": {"share": 0.9}}, source="watch"
    )
    lost = Finding("writer-behind", "warning", "Some steps are not recorded.", source="capture worker_0")
    run = ScriptedRun().write(tmp_path / "run")
    writer = run.writer(FINDINGS, WriterId("watch", "watcher_0", 0))
    append_findings(writer, [by_rule, lost, SPIKE])
    writer.close()
    with studio_of(tmp_path) as asked:
        rows = {row["code"]: row for row in asked.data("run", "/findings")}
        missing = {code: asked.data("run", f"/findings/{row['id']}")["rule_missing"] for code, row in rows.items()}
    assert missing == {"LopsidedGradient": True, "writer-behind": False, "UnchangedTensor": False}
    assert rows["writer-behind"]["severity"] == "info"


def test_one_that_there_is_not(studio: Asked) -> None:
    answer = studio.get("watched", "/findings/nothing")
    assert (answer.status_code, answer.json()["code"]) == (404, "finding-unavailable")


def test_findings_that_come_later_are_seen(studio: Asked, tmp_path: Path) -> None:
    run: Run = ScriptedRun().write(tmp_path / "runs" / "later")
    with studio_of(tmp_path / "runs") as asked:
        assert asked.data("later", "/findings") == []
        writer = run.writer(FINDINGS, WriterId("watch", "watcher_0", 0))
        append_findings(writer, [SPIKE])
        writer.close()
        assert [row["id"] for row in asked.data("later", "/findings")] == [SPIKE.id]
