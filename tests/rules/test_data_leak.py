"""DataLeak."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cutaway.errors import InsufficientInformationForRuleInvocation
from cutaway.rules.built_in.data_leak import DataLeak
from cutaway.tensors.modes import ModeKeys
from cutaway.testing.rules import RuleContract, ScriptedRun, findings
from cutaway.trial import create_trial

LEARNED = {"forward": 0.1, "backward": 0.1, "optimizer": 0.1}
LOOKED = {"forward": 0.1}


def fed(*batches: list[str | None]) -> ScriptedRun:
    run = ScriptedRun()
    for samples in batches:
        run.step(samples=samples)
    return run


def write_samples(folder: Path, evaluation: int, **subsets: dict[str, str | None]) -> None:
    """Write the hashes of the samples of an evaluation, by id, for each subset."""
    place = folder / "samples" / str(evaluation)
    place.mkdir(parents=True)
    for subset, hashes in subsets.items():
        pq.write_table(pa.table({"id": list(hashes), "hash": list(hashes.values())}), place / f"{subset}.parquet")


class TestDataLeak(RuleContract):
    rule = DataLeak

    def sick(self) -> tuple[ScriptedRun, int]:
        run = fed(*[["training/1", "training/2"]] * 10)
        run.step(ModeKeys.EVAL, samples=["test/1", "validation/2"])
        run.step(samples=["training/1", "validation/2"])
        return run, 11

    def healthy(self) -> ScriptedRun:
        run = fed(*[["training/1", "unlabeled/2", None]] * 10)
        run.step(ModeKeys.EVAL, samples=["test/1", "validation/2"])
        run.step(ModeKeys.PREDICT, samples=["test/1"])
        run.step(samples=["training/test/2"])
        return run


def test_it_names_the_samples_and_how_many_there_are() -> None:
    (found,) = findings(DataLeak(), fed(["training/1", "test/2", None, "validation/test/3"]))
    assert found.message == (
        "Step 0 trained on 2 of 4 samples that are kept to judge the model by: test/2, validation/test/3."
    )
    assert found.evidence["samples"] == ["test/2", "validation/test/3"]
    assert (found.evidence["count"], found.evidence["value"]) == (2, 2)
    assert found.where == {"step": 0, "mode": "TRAIN"}


def test_of_many_samples_the_first_are_named() -> None:
    (found,) = findings(DataLeak(), fed([f"test/{i}" for i in range(50)]))
    assert "test/19 and 30 others." in found.message
    assert "test/20" not in found.message
    assert len(found.evidence["samples"]) == 50


@pytest.mark.parametrize(
    ("mode", "seconds", "leaks"),
    [
        (ModeKeys.TRAIN, {}, True),
        (ModeKeys.TRAIN, LEARNED, True),
        (ModeKeys.TRAIN, LOOKED, False),  # an evaluation that nobody announced
        (ModeKeys.GLOBAL, LEARNED, True),
        (ModeKeys.GLOBAL, LOOKED, False),
        (ModeKeys.GLOBAL, {}, False),
        (ModeKeys.EVAL, LEARNED, False),
    ],
)
def test_only_steps_that_train_leak(mode: ModeKeys, seconds: dict[str, float], leaks: bool) -> None:
    run = ScriptedRun()
    run.step(mode, samples=["test/1"], seconds=seconds)
    assert bool(findings(DataLeak(), run)) is leaks


def test_a_run_without_ids_says_how_to_note_them() -> None:
    with pytest.raises(InsufficientInformationForRuleInvocation, match=r"hook\.samples\(loader\)"):
        findings(DataLeak(), ScriptedRun())


class TestOfEqualContent:
    """Hashes in the evaluations of a run folder."""

    def test_a_sample_of_another_subset_with_the_content_of_a_training_sample_is_named(self, tmp_path: Path) -> None:
        fed(["training/1"], ["training/2"]).write(tmp_path / "run")
        training = {"training/1": "a", "training/2": "b", "training/3": None}
        test = {"test/7": "b", "test/8": "c", "test/9": None}
        write_samples(tmp_path / "run", 0, training=training, test=test, unlabeled={"unlabeled/1": "a"})
        (found,) = findings(DataLeak(), create_trial(tmp_path / "run"))
        assert found.message == "1 test sample has the same content as in training: test/7 is training/2."
        assert found.where == {"step": 0, "mode": "TRAIN", "file": "samples/0/test.parquet"}
        assert found.evidence["samples"] == ["test/7"]
        assert found.evidence["same_as"] == {"test/7": "training/2"}

    def test_each_sample_counts_also_where_several_have_the_same_content(self, tmp_path: Path) -> None:
        fed(["training/1"], ["training/2"]).write(tmp_path / "run")
        test = {"test/7": "b", "test/8": "b", "test/9": "c"}
        write_samples(tmp_path / "run", 0, training={"training/1": "a", "training/2": "b"}, test=test)
        (found,) = findings(DataLeak(), create_trial(tmp_path / "run"))
        assert found.message.startswith("2 test samples have the same content as in training: test/7 is training/2")
        assert found.evidence["count"] == 2

    def test_evaluations_are_compared_each_for_itself(self, tmp_path: Path) -> None:
        fed(["training/1"]).write(tmp_path / "run")
        write_samples(tmp_path / "run", 0, training={"training/1": "a"}, test={"test/1": "b"})
        write_samples(tmp_path / "run", 1, training={"training/1": "b"}, test={"test/1": "c"})
        assert findings(DataLeak(), create_trial(tmp_path / "run")) == []

    def test_a_later_leak_into_a_step_is_told_too(self, tmp_path: Path) -> None:
        fed(["training/1"], ["training/1"], ["test/1"]).write(tmp_path / "run")
        write_samples(tmp_path / "run", 0, training={"1": "a"}, validation={"2": "a"})
        rule, trial = DataLeak(), create_trial(tmp_path / "run")
        found = [one for stop in (1, 2, 3) for one in findings(rule, trial, stop)]
        assert [one.where["step"] for one in found] == [0, 2]
        assert found[0].evidence["same_as"] == {"validation/2": "training/1"}

    def test_hashes_suffice_where_steps_have_no_ids(self, tmp_path: Path) -> None:
        run = ScriptedRun()
        run.step()
        run.write(tmp_path / "run")
        write_samples(tmp_path / "run", 0, training={"1": "a"}, test={"2": "a"})
        assert len(findings(DataLeak(), create_trial(tmp_path / "run"))) == 1

    def test_other_files_beside_are_left_alone(self, tmp_path: Path) -> None:
        fed(["training/1"]).write(tmp_path / "run")
        write_samples(tmp_path / "run", 0, training={"1": "a"})
        folder = tmp_path / "run" / "samples" / "0"
        pq.write_table(pa.table({"id": ["2"], "hash": ["a"]}), folder / "test.map.umap.parquet")
        pq.write_table(pa.table({"id": ["2"]}), folder / "test.parquet")
        assert findings(DataLeak(), create_trial(tmp_path / "run")) == []
