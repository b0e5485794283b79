"""Decisions about labels over HTTP: into a reversible overlay that real trainings read, and never one lost."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from httpx import Response

from cutaway.analysis import Population
from cutaway.cli import main
from cutaway.dataset import corrected, load_entry
from cutaway.evaluation import evaluate
from cutaway.run import Run
from cutaway.run.decisions import read_decisions
from cutaway.run.overlays import OVERLAY_VARIABLE, find_overlay, overlays, undo_overlay
from cutaway.studio.insights.deciding import decide as decide_directly
from cutaway.studio.populations import Populations
from cutaway.studio.wire.sample import NewDecision
from tests.unit.studio.one_run import Asked

WRONG = [f"training/{row}" for row in range(12)]


@pytest.fixture(scope="module")
def made(evaluated_once: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = Path(shutil.copytree(evaluated_once, tmp_path_factory.mktemp("decisions") / "insects"))
    with Population.open(run) as population:
        population.mislabeled()
    return run


def _post(asked: Asked, sample: str, decision: str, label: str | None = None, **more: Any) -> Response:
    body = {"sample": sample, "decision": decision, "label": label, **more}
    return asked.client.post(f"/api/runs/{asked.id_of('insects')}/decisions", json=body)


def _decide(asked: Asked, sample: str, decision: str, label: str | None = None, **more: Any) -> dict[str, Any]:
    answer = _post(asked, sample, decision, label, **more)
    assert answer.status_code == 200, answer.text
    return dict(answer.json()["data"])


def _suggestions(asked: Asked, **params: Any) -> list[dict[str, Any]]:
    answer = asked.get("insects", "/suggestions", limit=1000, **params)
    assert answer.status_code == 200, answer.text
    assert answer.json()["total"] == len(answer.json()["data"])
    return list(answer.json()["data"])


def _named(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {one["sample"]: one for one in rows}


class TestSuggestions:
    def test_are_the_wrong_labels_the_likeliest_first(self, asked: Asked) -> None:
        found = _suggestions(asked)
        assert {one["sample"] for one in found} == set(WRONG)
        scores = [one["score"] for one in found]
        assert scores == sorted(scores, reverse=True)
        first = _named(found)["training/0"]
        assert (first["label"], first["suggested"], first["row"], first["decision"]) == ("bee", "ant", 0, None)

    def test_labels_that_were_not_looked_at_are_told_from_labels_that_are_fine(self, asked: Asked, run: Path) -> None:
        kept = run / "samples" / "0" / "joint.mislabeled.latent.parquet"
        table = pq.read_table(kept)
        pq.write_table(table.filter(pc.less(table["score"], 0.01)), kept)
        fine = asked.get("insects", "/suggestions").json()
        assert (fine["data"], fine["analyzed"]) == ([], True)
        kept.unlink()
        unseen = asked.get("insects", "/suggestions").json()
        assert (unseen["data"], unseen["analyzed"]) == ([], False)

    def test_can_be_asked_for_by_what_was_decided(self, asked: Asked) -> None:
        _decide(asked, "training/0", "accept")
        _decide(asked, "training/1", "reject")
        assert {one["sample"]: one["decision"] for one in _suggestions(asked, decided="decided")} == {
            "training/0": "accepted",
            "training/1": "rejected",
        }
        assert {"training/0", "training/1"}.isdisjoint(_named(_suggestions(asked, decided="open")))

    def test_a_decision_without_a_suggestion_is_listed_too(self, asked: Asked) -> None:
        _decide(asked, "validation/5", "accept", "ant")
        found = _named(_suggestions(asked, decided="decided"))["validation/5"]
        assert (found["suggested"], found["score"], found["decided_label"]) == (None, None, "ant")


class TestAccepting:
    def test_is_a_correction_of_the_overlay_that_a_training_reads(
        self, asked: Asked, run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        row = _decide(asked, "training/0", "accept")
        assert row == {
            "sample": "training/0",
            "decision": "accepted",
            "label": "ant",
            "overlay": "studio",
            "corrections": 1,
        }
        [overlay] = overlays(Run.open(run))
        [one] = overlay.corrections
        assert (one.old, one.new, one.who) == ("bee", "ant", "studio")
        assert one.score is not None
        assert one.reason
        assert one.when
        main(["fix", str(run), "--list"])
        assert "studio" in capsys.readouterr().out
        monkeypatch.setenv(OVERLAY_VARIABLE, str(overlay.path))
        shown = np.array([1, 2, 0, *[2] * 237])
        assert corrected(shown).tolist()[:3] == [0, 2, 0]

    def test_takes_another_label_than_the_suggested_one(self, asked: Asked, run: Path) -> None:
        assert _decide(asked, "training/0", "accept", "cow")["label"] == "cow"
        assert _decide(asked, "training/0", "accept", "ant")["corrections"] == 1
        [one] = overlays(Run.open(run))[0].corrections
        assert (one.old, one.new) == ("bee", "ant")

    @pytest.mark.parametrize(
        ("sample", "label", "status", "said"),
        [
            ("training/0", "ants", 400, "Did you mean 'ant'"),
            ("training/00", "ant", 404, "or 'training/0'"),
            ("../../etc/passwd", "ant", 404, "No sample"),
            ("training/0", "bee", 409, "has the label 'bee'"),
        ],
    )
    def test_refuses_what_it_cannot_be_sure_of(
        self, asked: Asked, run: Path, sample: str, label: str | None, status: int, said: str
    ) -> None:
        answer = _post(asked, sample, "accept", label)
        assert answer.status_code == status
        assert said in f"{answer.json()['error']} {answer.json()['hint']}"
        assert overlays(Run.open(run)) == []

    def test_without_a_suggestion_needs_a_label(self, asked: Asked, run: Path) -> None:
        (run / "samples" / "0" / "joint.mislabeled.latent.parquet").unlink()
        answer = _post(asked, "training/0", "accept")
        assert answer.status_code == 409
        assert "No label is suggested" in answer.json()["error"]
        assert _decide(asked, "training/0", "accept", "ant")["corrections"] == 1

    def test_is_shown_wherever_the_sample_is(self, asked: Asked) -> None:
        _decide(asked, "training/0", "accept")
        assert _named(_suggestions(asked))["training/0"]["decided_label"] == "ant"
        table = asked.studio.populations.of(asked.id_of("insects")).column("decision")
        assert table[0].as_py() == "accepted"


class TestTakingBack:
    def test_leaves_everything_as_it_was(self, asked: Asked, run: Path) -> None:
        _decide(asked, "training/0", "accept")
        row = _decide(asked, "training/0", "undo")
        assert (row["decision"], row["overlay"], row["corrections"]) == ("undone", None, 0)
        assert overlays(Run.open(run)) == []
        assert _suggestions(asked, decided="decided") == []

    def test_what_was_rejected_stays_when_no_correction_is_left(self, asked: Asked, run: Path) -> None:
        _decide(asked, "training/1", "reject")
        _decide(asked, "training/0", "accept")
        _decide(asked, "training/0", "undo")
        assert overlays(Run.open(run)) == []
        assert [one["sample"] for one in _suggestions(asked, decided="decided")] == ["training/1"]
        _decide(asked, "training/2", "accept")
        assert len(_suggestions(asked, decided="decided")) == 2
        _decide(asked, "training/1", "undo")
        assert [one["sample"] for one in _suggestions(asked, decided="decided")] == ["training/2"]

    def test_a_rejection_takes_the_place_of_a_correction_and_the_other_way_round(self, asked: Asked) -> None:
        _decide(asked, "training/0", "accept")
        assert _decide(asked, "training/0", "reject")["overlay"] is None
        assert _named(_suggestions(asked))["training/0"]["decision"] == "rejected"
        _decide(asked, "training/0", "accept")
        assert _named(_suggestions(asked))["training/0"]["decision"] == "accepted"

    def test_an_overlay_that_a_terminal_takes_back_loses_its_corrections_and_keeps_what_it_rejects(
        self, asked: Asked, run: Path
    ) -> None:
        _decide(asked, "training/0", "accept")
        _decide(asked, "training/1", "reject")
        undo_overlay(Run.open(run), "studio")
        assert [one["sample"] for one in _suggestions(asked, decided="decided")] == ["training/1"]
        assert _decide(asked, "training/2", "accept")["corrections"] == 1

    def test_nothing_decided_is_said(self, asked: Asked) -> None:
        assert _post(asked, "training/0", "undo").status_code == 409


class TestNothingIsLost:
    def test_when_many_decide_at_once(self, asked: Asked, run: Path) -> None:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda sample: _decide(asked, sample, "accept"), WRONG))
        assert len(overlays(Run.open(run))[0].corrections) == len(WRONG)

    @pytest.mark.slow
    def test_when_two_studios_decide_in_one_run(self, run: Path) -> None:
        context = get_context("spawn")
        both = [context.Process(target=_decide_all, args=(run, WRONG[start::2])) for start in (0, 1)]
        for one in both:
            one.start()
        for one in both:
            one.join()
            assert one.exitcode == 0
        found = overlays(Run.open(run))[0]
        assert {one.sample for one in found.corrections} == set(WRONG)

    def test_a_damaged_file_is_said_and_not_written_over(self, asked: Asked, run: Path) -> None:
        _decide(asked, "training/0", "accept")
        path = run / "overlays" / "studio.parquet"
        path.write_bytes(path.read_bytes()[:-20])
        before = path.read_bytes()
        answer = _post(asked, "training/1", "accept")
        assert answer.status_code == 422
        assert "cannot be read" in answer.json()["error"] + answer.json()["hint"]
        assert path.read_bytes() == before

    def test_nothing_is_written_through_a_link(self, asked: Asked, run: Path, tmp_path: Path) -> None:
        outside = tmp_path / "outside"
        outside.mkdir()
        for link in (run / "overlays", run / "overlays" / "undone"):
            link.symlink_to(outside)
            answer = _post(asked, "training/0", "reject")
            assert (answer.status_code, answer.json()["code"]) == (503, "storage-error")
            link.unlink()
            if link.name == "overlays":
                link.mkdir()
        assert not list(outside.iterdir())


def _decide_all(run: Path, samples: list[str]) -> None:
    loaded = Populations(Run.open).of(str(run))
    for sample in samples:
        decide_directly(loaded, NewDecision(sample=sample, decision="accept"))


class TestAnEvaluationThatWasMadeWithAnOverlay:
    @pytest.fixture
    def again(self, asked: Asked, run: Path, evaluated_once: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """Accept two corrections, and evaluate with them."""
        for sample in ("training/0", "training/1"):
            _decide(asked, sample, "accept")
        path = overlays(Run.open(run))[0].path
        assert path is not None
        monkeypatch.setenv(OVERLAY_VARIABLE, str(path))
        evaluate(load_entry(evaluated_once.parent.parent / "binding" / "leap_binder.py").dataset(), None, run)
        monkeypatch.delenv(OVERLAY_VARIABLE)
        return run

    def test_shows_the_corrected_labels_and_corrects_the_original_ones(self, asked: Asked, again: Path) -> None:
        loaded = asked.studio.populations.of(asked.id_of("insects"), 1)
        assert loaded.column("label")[0].as_py() == "ant"
        _decide(asked, "training/0", "accept", "cow", evaluation=1)
        _decide(asked, "training/5", "accept", "ant" if _label(asked, 5) != "ant" else "cow", evaluation=1)
        found = {one.sample: (one.old, one.new) for one in overlays(Run.open(again))[0].corrections}
        assert found["training/0"] == ("bee", "cow")
        assert set(found) == {"training/0", "training/1", "training/5"}

    def test_what_was_taken_back_meanwhile_still_has_its_original_label(self, asked: Asked, again: Path) -> None:
        _decide(asked, "training/0", "undo")
        _decide(asked, "training/0", "accept", "cow", evaluation=1)
        found = {one.sample: (one.old, one.new) for one in overlays(Run.open(again))[0].corrections}
        assert found["training/0"] == ("bee", "cow")

    def test_the_corrections_of_another_overlay_are_held_too_and_are_nobodys_decision(
        self, asked: Asked, again: Path
    ) -> None:
        first = again / "overlays" / "studio.parquet"
        _rewritten(first, first.with_name("fix-1.parquet"))
        first.unlink()
        assert _decide(asked, "training/9", "reject", evaluation=1)["overlay"] is None
        row = _decide(asked, "training/2", "accept", "bee" if _label(asked, 2) != "bee" else "cow", evaluation=1)
        assert row["corrections"] == 3
        assert read_decisions(Run.open(again)).words() == {"training/9": "rejected", "training/2": "accepted"}
        _decide(asked, "training/0", "accept", "cow", evaluation=1)
        found = {one.sample: (one.old, one.new) for one in find_overlay(Run.open(again), "studio").corrections}
        assert found["training/0"] == ("bee", "cow")
        _decide(asked, "training/0", "undo", evaluation=1)
        found = {one.sample: (one.old, one.new) for one in find_overlay(Run.open(again), "studio").corrections}
        assert found["training/0"] == ("bee", "ant")
        assert _decide(asked, "training/2", "undo", evaluation=1)["overlay"] is None
        assert [one.name for one in overlays(Run.open(again))] == ["fix-1"]


def _label(asked: Asked, row: int) -> str:
    return str(asked.studio.populations.of(asked.id_of("insects"), 1).column("label")[row].as_py())


def _rewritten(path: Path, to: Path) -> None:
    """Write an overlay as `cutaway fix` would have made it."""
    from dataclasses import replace

    from cutaway.run.overlays import read_overlay, replace_overlay

    held = read_overlay(path)
    theirs = tuple(replace(one, who="cutaway fix") for one in held.corrections)
    replace_overlay(to, replace(held, corrections=theirs, about={}))
