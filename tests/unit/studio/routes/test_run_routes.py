"""The routes of one run, on real trainings: what they answer is what the run folder holds."""

import base64
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from cutaway.run.failure import TrainingFailure
from cutaway.run.identity import Run
from cutaway.run.leases import RunState
from cutaway.tensors.modes import ModeKeys
from cutaway.testing.rules import ScriptedRun
from cutaway.trial import create_trial
from tests.unit.studio.one_run import SECRET, Asked, studio_of, train

pytest.importorskip("torch")

PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 20


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("runs")
    train(root / "healthy")
    train(root / "sick", sick=True)
    (root / "healthy" / "previews").mkdir()
    with pa.ipc.new_file(str(root / "healthy/previews/training.arrow"), PREVIEWS) as writer:
        pictures = [PNG, b"<svg onload=alert(1)>", None, PNG + b"0" * (5 << 20)]
        writer.write_table(pa.table([[f"training/{i}" for i in range(4)], pictures], schema=PREVIEWS))
    evaluated = {
        "id": ["training/0", "training/1"],
        "ground_truth.kind.label": ["cat", "dog"],
        "prediction.kind.label": ["dog", None],
    }
    (root / "healthy" / "samples" / "0").mkdir(parents=True)
    parquet.write_table(pa.table(evaluated), root / "healthy/samples/0/training.parquet")
    run = Run.open(root / "healthy")
    run.write_document("samples/0/source.json", {"state": "finished", "subsets": {"training": {"samples": 2}}})
    return root


PREVIEWS = pa.schema([("id", pa.string()), ("png", pa.binary())])


@pytest.fixture(scope="module")
def studio(root: Path) -> Iterator[Asked]:
    with studio_of(root) as asked:
        yield asked


class TestDetail:
    def test_it_says_what_the_run_is(self, studio: Asked) -> None:
        detail = studio.data("healthy")
        assert detail["row"]["name"] == "healthy"
        assert detail["row"]["steps"] == detail["steps"]["last"] + 1
        assert (detail["meaning"], detail["failure"]) == ("Completed normally", None)
        assert detail["next"].startswith("cutaway tensors ")
        assert detail["steps"] == {
            "recorded": 12,
            "first": 0,
            "last": 11,
            "by_mode": {"EVAL": 3, "TRAIN": 9},
            "epochs": 3,
            "with_statistics": 12,
            "thinned": 0,
            "workers": ["worker_0"],
            "samples_known": True,
        }
        assert {"name": "weights", "tensors": 2} in detail["collections"]
        assert [one["state"] for one in detail["attempts"]] == ["finished"]
        assert (detail["damage"], detail["telling"], detail["previews"]) == ([], [], True)
        assert "l2" in detail["statistics"]

    def test_a_sick_run_tells_what_to_try(self, studio: Asked) -> None:
        telling = studio.data("sick")["telling"]
        assert telling[0]["code"] == "ExplodingTensor"
        assert telling[0]["step"] == 7
        assert telling[0]["try_this"]

    def test_a_failed_run_has_what_was_raised(self, tmp_path: Path) -> None:
        run = ScriptedRun().write(tmp_path / "failed")
        _, lease = run.begin_attempt(from_step=0)
        failure = TrainingFailure("ValueError", "shapes differ", "Traceback\n  File x\nValueError: shapes differ")
        lease.release(RunState.FAILED, failure)
        with studio_of(tmp_path) as asked:
            detail = asked.data("failed")
        assert detail["meaning"].startswith("ValueError: shapes differ; ")
        assert detail["failure"] == failure._asdict()

    def test_no_secret_of_the_configuration_leaves(self, studio: Asked) -> None:
        detail = studio.data("healthy")
        assert detail["config"]["api_key"] == "(hidden)"
        assert detail["config"]["logging"] == {"password": "(hidden)", "level": "debug"}
        for path in ("", "/scalars", "/findings", "/steps"):
            assert SECRET not in studio.get("healthy", path).text

    def test_a_run_that_there_is_not(self, studio: Asked) -> None:
        answer = studio.client.get("/api/runs/nothing")
        assert answer.status_code == 404
        assert answer.json()["code"] == "run-not-found"


class TestScalars:
    def test_every_series_is_listed_with_its_numbers(self, root: Path, studio: Asked) -> None:
        rows = {row["series"]: row for row in studio.data("healthy", "/scalars")}
        trial = create_trial(root / "healthy")
        for name in trial.scalar_names():
            for mode in ("TRAIN", "EVAL"):
                known = trial.scalar_window(name, 0, 100, mode)
                if len(known["step"]):
                    row = rows[f"{name}@{mode}"]
                    assert (row["count"], row["last_step"]) == (len(known["step"]), known["step"][-1])
                    assert (row["min"], row["max"]) == (known["value"].min(), known["value"].max())
        assert rows["loss@TRAIN"]["group"] == "loss"
        assert rows["learning_rate@TRAIN"]["group"] == "rate"
        assert rows["score@TRAIN"]["group"] == "metric"
        assert not rows["loss@TRAIN"]["derived"]

    def test_throughput_and_phases_follow_from_the_steps(self, root: Path, studio: Asked) -> None:
        rows = {row["series"]: row for row in studio.data("healthy", "/scalars")}
        steps = create_trial(root / "healthy").step_window(0, 100)
        train = steps["mode"] == "TRAIN"
        assert rows["forward_seconds@TRAIN"]["max"] == steps["forward"][train].max()
        assert rows["backward_seconds@TRAIN"]["derived"]
        assert "backward_seconds@EVAL" not in rows
        table = studio.arrow("healthy", "/curves.arrow", series=["steps_per_second@TRAIN", "samples_per_second@TRAIN"])
        rate = table.filter(pa.compute.equal(table["series"], "steps_per_second@TRAIN")).to_pylist()
        # Step 4 follows an evaluation: the time in between is not the training's.
        assert [row["step"] for row in rate] == [1, 2, 5, 6, 9, 10]
        times = dict(zip(steps["step"].tolist(), steps["time"].tolist(), strict=True))
        for row in rate:
            assert row["value"] == pytest.approx(1 / (times[row["step"]] - times[row["step"] - 1]))
        fed = table.filter(pa.compute.equal(table["series"], "samples_per_second@TRAIN"))["value"].to_pylist()
        assert fed == pytest.approx([8 * row["value"] for row in rate])

    def test_what_is_not_finite_is_counted(self, studio: Asked) -> None:
        row = next(row for row in studio.data("sick", "/scalars") if row["series"] == "score@TRAIN")
        assert (row["nonfinite"], row["last"], row["max"]) == (3, None, 6.0)


class TestCurves:
    def test_few_points_are_exact(self, root: Path, studio: Asked) -> None:
        table = studio.arrow("healthy", "/curves.arrow", series="loss@TRAIN")
        known = create_trial(root / "healthy").scalar_window("loss", 0, 100, "TRAIN")
        assert table["step"].to_pylist() == known["step"].tolist()
        for column in ("value", "min", "max"):
            assert table[column].to_pylist() == known["value"].tolist()
        assert table.schema.metadata[b"thinned"] == b"[]"

    def test_epochs_stand_beside_the_steps(self, studio: Asked) -> None:
        table = studio.arrow("healthy", "/curves.arrow", series="score@TRAIN")
        assert table["epoch"].to_pylist() == [0, 0.25, 0.5, 1, 1.25, 1.5, 2, 2.25, 2.5]
        assert studio.arrow("healthy", "/curves.arrow", series="score@EVAL")["epoch"].to_pylist() == [0.75, 1.75, 2.75]

    def test_a_value_that_is_not_finite_is_null_and_counted(self, studio: Asked) -> None:
        table = studio.arrow("sick", "/curves.arrow", series="score@TRAIN")
        assert table["value"].to_pylist()[-3:] == [None] * 3
        assert table["nonfinite"].to_pylist() == [0] * 6 + [1] * 3

    def test_a_page_may_ask_for_the_tail_alone(self, studio: Asked) -> None:
        table = studio.arrow("healthy", "/curves.arrow", series=["score@TRAIN", "score@EVAL"], first=6, last=9)
        assert table["step"].to_pylist() == [6, 8, 9, 7]
        assert table["series"].to_pylist() == ["score@TRAIN"] * 3 + ["score@EVAL"]

    def test_an_unknown_series_offers_the_nearest(self, studio: Asked) -> None:
        answer = studio.get("healthy", "/curves.arrow", series="los@TRAIN")
        assert answer.status_code == 404
        assert "loss@TRAIN" in answer.json()["hint"]


class TestSteps:
    def test_they_are_those_of_the_run(self, root: Path, studio: Asked) -> None:
        rows = studio.data("healthy", "/steps")
        table = create_trial(root / "healthy").step_table()
        for name in ("step", "mode", "mode_step", "epoch", "time", "statistics", "thinned"):
            assert [row[name] for row in rows] == table[name].to_pylist()
        assert [row["samples"] for row in rows] == [8] * 12
        assert rows[0]["forward"] == pytest.approx(table["forward"][0].as_py())

    def test_they_come_in_pages(self, studio: Asked) -> None:
        page = studio.get("healthy", "/steps", first=2, last=9, offset=3, limit=2).json()
        assert ([row["step"] for row in page["data"]], page["total"]) == ([5, 6], 8)
        beyond = studio.get("healthy", "/steps", first=50, offset=10**15).json()
        assert (beyond["data"], beyond["total"]) == ([], 0)


class TestSamples:
    def test_the_worst_of_a_window_come_first(self, root: Path, studio: Asked) -> None:
        page = studio.get("healthy", "/samples", first=1, last=2, limit=4).json()
        assert page["total"] == 16
        table = create_trial(root / "healthy").sample_values(name="loss")
        known = zip(*(table[name].to_pylist() for name in ("value", "step", "sample")), strict=True)
        worst = sorted((one for one in known if one[1] in (1, 2)), reverse=True)[:4]
        assert [(row["values"]["loss"], row["step"], row["sample"]) for row in page["data"]] == worst
        assert {row["values"]["hard"] for row in page["data"]} <= set(range(8))

    def test_without_a_window_it_is_the_newest_step(self, studio: Asked) -> None:
        rows = studio.data("healthy", "/samples")
        assert {row["step"] for row in rows} == {11}
        assert len(rows) == 8

    def test_labels_and_predictions_are_those_of_the_last_evaluation(self, studio: Asked) -> None:
        rows = {row["sample"]: row for row in studio.data("healthy", "/samples", first=0, last=0)}
        assert [rows[f"training/{i}"]["label"] for i in range(3)] == ["cat", "dog", None]
        assert [rows[f"training/{i}"]["prediction"] for i in range(3)] == ["dog", None, None]
        # Which is not how the model was at that step: the answer says which evaluation they are of.
        assert [rows[f"training/{i}"]["evaluation"] for i in range(3)] == [0, 0, None]

    def test_a_window_that_is_too_wide_is_refused_in_words(
        self, studio: Asked, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("cutaway.studio.runs.steps.MOST_SEEN", 20)
        answer = studio.get("healthy", "/samples", first=0)
        assert (answer.status_code, answer.json()["code"]) == (400, "window-too-wide")
        assert "96 samples" in answer.json()["error"]
        assert studio.get("healthy", "/samples", first=0, last=1).status_code == 200

    def test_those_with_a_picture_say_so(self, studio: Asked) -> None:
        rows = studio.data("healthy", "/samples", first=0, last=0)
        assert {row["sample"] for row in rows if row["preview"]} == {f"training/{i}" for i in range(4)}


class TestPreviews:
    def test_a_picture_comes_alone_and_harmless(self, studio: Asked) -> None:
        answer = studio.get("healthy", "/preview", sample="training/0")
        assert (answer.status_code, answer.content) == (200, PNG)
        assert answer.headers["content-type"] == "image/png"
        assert answer.headers["content-security-policy"].endswith("sandbox")
        assert answer.headers["x-content-type-options"] == "nosniff"

    @pytest.mark.parametrize(
        "sample", ["training/1", "training/2", "training/3", "training/4", "../run.json", "", "training", "\0"]
    )
    def test_nothing_else_leaves(self, studio: Asked, sample: str) -> None:
        answer = studio.get("healthy", "/preview", sample=sample)
        assert answer.status_code == 404
        assert answer.json()["code"] == "preview-unavailable"

    def test_several_pictures_are_one_answer_without_those_that_are_none(self, studio: Asked) -> None:
        asked = [f"training/{i}" for i in range(6)] + ["no/1"]
        found = studio.data("healthy", "/previews", sample=asked)
        shown = [one for one in asked if studio.get("healthy", "/preview", sample=one).status_code == 200]
        assert list(found) == shown
        for one in shown:
            assert base64.b64decode(found[one]) == studio.get("healthy", "/preview", sample=one).content

    def test_a_run_without_pictures(self, studio: Asked) -> None:
        assert studio.get("sick", "/preview", sample="training/0").status_code == 404


def test_a_loss_that_was_not_saved_as_a_number_is_a_series_all_the_same(tmp_path: Path) -> None:
    run = ScriptedRun()
    for step in range(10):
        value = np.nan if step == 7 else 2.0 - step / 10
        mode = ModeKeys.TRAIN if step % 2 else ModeKeys.EVAL
        run.step(mode, tensors={"CrossEntropyLoss_output_0": np.array([value])})
    run.write(tmp_path / "runs" / "bare")
    with studio_of(tmp_path / "runs") as studio:
        rows = {row["series"]: row for row in studio.data("bare", "/scalars")}
        row = rows["CrossEntropyLoss_output_0@TRAIN"]
        assert (row["count"], row["nonfinite"], row["group"], row["derived"]) == (5, 1, "loss", False)
        table = studio.arrow("bare", "/curves.arrow", series="CrossEntropyLoss_output_0@EVAL")
        assert table["value"].to_pylist() == pytest.approx([2.0, 1.8, 1.6, 1.4, 1.2])


def test_a_later_attempt_hides_the_steps_that_it_replaced(tmp_path: Path) -> None:
    train(tmp_path / "runs" / "again", steps=8)
    from cutaway.torch import Hook

    with Hook(tmp_path / "runs" / "again", resume=True, from_step=5) as hook:
        hook.set_mode("TRAIN")
        hook.save_scalar("score", 100.0)
    assert len(Run.open(tmp_path / "runs" / "again").attempts()) == 2
    with studio_of(tmp_path / "runs") as studio:
        detail = studio.data("again")
        first = detail["attempts"][0]
        assert (first["attempt"], first["from_step"], first["last_step"]) == (0, 0, 4)
        assert all(row["step"] < 5 or row["mode"] == "TRAIN" for row in studio.data("again", "/steps"))
        table = studio.arrow("again", "/curves.arrow", series="score@TRAIN")
        assert table["value"].to_pylist() == [0.0, 1.0, 2.0, 4.0, 100.0]
