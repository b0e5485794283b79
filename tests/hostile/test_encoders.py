"""Cases 27, 28 and 30: encoders that misbehave. Sample, function and reason are named, and the process lives."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cutaway.dataset import load_entry
from cutaway.errors import EvaluationError
from cutaway.evaluation import check, evaluate
from cutaway.run import Run
from tests.unit.evaluation.linear_model import linear_model

BINDING = """
import os, sys, time
import numpy as np
from cutaway.dataset import PreprocessResponse, leap_binder, tensorleap_preprocess

calls = []

@tensorleap_preprocess()
def preprocess():
    return [PreprocessResponse(length=LENGTHS[seed], data=seed) for seed in (0, 1)]

def signal(index, subset):
    values = np.random.default_rng([subset.data, index]).random(4).astype(np.float32)
    calls.append(index)
    if index == BAD and subset.data == 0:
        HOSTILE
    return values

def kind(index, subset):
    return np.eye(3, dtype=np.float32)[CLASS]

leap_binder.set_input(signal, "signal")
leap_binder.set_ground_truth(kind, "kind")
leap_binder.add_prediction("kind", ["first", "second", "third"])
"""


def write(
    folder: Path, hostile: str = "pass", *, bad: int = 0, chosen: str = "index % 3", lengths: str = "(20, 20)"
) -> Path:
    """Write an entry file whose input does something hostile for one sample of training."""
    text = BINDING.replace("HOSTILE", hostile).replace("BAD", str(bad)).replace("CLASS", chosen)
    path = folder / "leap_binder.py"
    path.write_text(text.replace("LENGTHS", lengths), encoding="utf-8")
    return path


def run_check(path: Path, *words: str, memory: int | None = None) -> tuple[int, dict[str, Any]]:
    """Run the command in a process of its own, which has to end by itself and say what it found."""

    def limit() -> None:
        if memory is not None:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

    done = subprocess.run(
        [sys.executable, "-m", "cutaway", "check", str(path), "--json", *words],
        capture_output=True,
        check=False,
        timeout=120,
        preexec_fn=limit,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )
    return done.returncode, json.loads(done.stdout)


# What the encoder does for one sample, the finding, and words that its message has.
HOSTILE = {
    "raises": ("raise KeyError('label')", "binding-raises", "KeyError"),
    "raises something odd": ("raise BaseException('odd')", "binding-raises", "odd"),
    "recurses": ("signal(index, subset)", "binding-raises", "RecursionError"),
    "exits": ("sys.exit(0)", "binding-raises", "sys.exit"),
    "interrupts itself": ("raise GeneratorExit", "binding-raises", "GeneratorExit"),
    "returns NaN": ("values[:] = np.nan", "binding-nan", "4 of its 4 values are NaN"),
    "returns infinity": ("values[1] = np.inf", "binding-infinite", "1 of its 4 values are infinite"),
    "returns another shape": ("values = values[:3]", "binding-shape", "(3,)"),
    "returns another dtype": ("values = values.astype(np.float64)", "binding-dtype", "float64"),
    "returns text": ("values = np.array(['a', 'b'])", "binding-raises", "numbers"),
    "returns objects": ("values = np.array([1, 'a', None], dtype=object)", "binding-raises", "objects"),
    "returns ragged rows": ("values = [[1.0], [1.0, 2.0]]", "binding-raises", "array"),
    "returns nothing": ("values = None", "binding-raises", "None"),
    "returns an empty array": ("values = values[:0]", "binding-shape", "(0,)"),
    "returns another length each time": ("values = values[: 1 + len(calls) % 3]", "binding-shape", "(4,)"),
    "is random": ("values = np.random.random(4).astype(np.float32)", "binding-random", "differs"),
    "depends on how often it was called": ("values[0] = len(calls)", "binding-random", "differs"),
    "sleeps": ("time.sleep(60)", "binding-timeout", "0.5 s"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_encoder_is_named_with_its_sample(case: str, tmp_path: Path) -> None:
    hostile, code, words = HOSTILE[case]
    report = check(write(tmp_path, hostile), timeout=0.5)
    first = report.first
    assert first is not None
    assert first.code == code
    assert words in first.message
    assert (first.where["function"], first.where["sample"]) == ("signal", "training/0")
    assert first.where["place"].startswith(str(tmp_path / "leap_binder.py"))


def test_a_healthy_encoder_beside_them_has_nothing(tmp_path: Path) -> None:
    assert check(write(tmp_path)).ok


class TestTheProcessLives:
    def test_after_sys_exit(self, tmp_path: Path) -> None:
        code, told = run_check(write(tmp_path, "sys.exit(0)"))
        assert (code, told["findings"][0]["code"]) == (1, "binding-raises")

    def test_after_a_fork_and_answers_once(self, tmp_path: Path) -> None:
        code, told = run_check(write(tmp_path, "os.fork()"))
        assert (code, told["valid"]) == (0, True)

    def test_a_gigabyte_of_prints_costs_no_memory(self, tmp_path: Path) -> None:
        """With what the command itself takes, a gigabyte more would not fit below the limit."""
        flood = "for _ in range(1024): print('x' * 2**20)"
        code, told = run_check(write(tmp_path, flood), "--scan", "0", "--timeout", "60", memory=1500 * 2**20)
        assert (code, told["valid"]) == (0, True)
        assert len(told["prints"]) < 2**18
        assert "more characters" in told["prints"]

    def test_one_that_sleeps_does_not_keep_it_from_ending(self, tmp_path: Path) -> None:
        code, told = run_check(write(tmp_path, "time.sleep(600)"), "--timeout", "0.5")
        assert (code, told["findings"][0]["code"]) == (1, "binding-timeout")


# What evaluation can still use is no failure there: NaN goes into the model, as it would in production.
FAILING = ["raises", "exits", "returns another shape", "returns nothing", "returns ragged rows", "sleeps"]


class TestEvaluation:
    def evaluated(self, folder: Path, case: str, **options: Any) -> Any:
        dataset = load_entry(write(folder, HOSTILE[case][0], bad=7)).dataset()
        run = Run.create(folder / "run")
        return evaluate(dataset, linear_model(), run, keep_model=False, sample_timeout=0.5, **options)

    @pytest.mark.parametrize("case", FAILING)
    def test_skip_keeps_all_others_and_says_which_failed_and_why(self, case: str, tmp_path: Path) -> None:
        evaluation = self.evaluated(tmp_path, case)
        assert evaluation.finished
        assert evaluation.table("training").num_rows == 20
        [failure] = evaluation.failures()
        assert failure.id == "training/7"
        assert failure.error

    @pytest.mark.parametrize("case", ["raises", "exits", "returns another shape"])
    def test_fail_stops_at_the_first(self, case: str, tmp_path: Path) -> None:
        with pytest.raises(EvaluationError, match="training/7"):
            self.evaluated(tmp_path, case, on_error="fail")

    def test_a_fork_leaves_one_evaluation(self, tmp_path: Path) -> None:
        parent = os.getpid()
        dataset = load_entry(write(tmp_path, "os.fork()", bad=7)).dataset()
        evaluation = evaluate(dataset, linear_model(), Run.create(tmp_path / "run"), keep_model=False)
        assert os.getpid() == parent
        assert evaluation.failures() == []


class TestLabels:
    """Case 30: named before anybody trains."""

    @pytest.mark.parametrize(
        ("chosen", "code"),
        [
            ("index % 3", None),
            ("0", "binding-one-class"),
            ("index % 3 if subset.data else index % 2", "binding-class-absent"),
        ],
    )
    def test_classes_of_a_split(self, chosen: str, code: str | None, tmp_path: Path) -> None:
        first = check(write(tmp_path, chosen=chosen)).of("error") + check(write(tmp_path, chosen=chosen)).of("warning")
        assert (first[0].code if first else None) == code

    def test_a_label_outside_its_range(self, tmp_path: Path) -> None:
        path = write(tmp_path)
        text = path.read_text(encoding="utf-8")
        path.write_text(
            text.replace("return np.eye(3, dtype=np.float32)[index % 3]", "return index % 4"), encoding="utf-8"
        )
        first = check(path).first
        assert first is not None
        assert (first.code, "class 3 is outside of the 3 labels" in first.message) == ("binding-label-range", True)

    def test_an_empty_split(self, tmp_path: Path) -> None:
        first = check(write(tmp_path, lengths="(20, 0)")).first
        assert first is not None
        assert first.code == "binding-subset-empty"

    def test_a_split_that_overlaps(self, tmp_path: Path) -> None:
        path = write(tmp_path)
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace("default_rng([subset.data, index])", "default_rng(index)"), encoding="utf-8")
        first = check(path).first
        assert first is not None
        assert first.code == "binding-leak"
        assert "compared all 40 samples" in first.message


class TestArrayFiles:
    """Case 24: what an encoder reads from files of numpy."""

    def test_an_array_of_objects_is_refused_and_nothing_of_it_runs(self, tmp_path: Path) -> None:
        class Evil:
            def __reduce__(self) -> tuple[Any, ...]:
                return os.mkdir, (str(tmp_path / "pwned"),)

        np.save(tmp_path / "evil.npy", np.array([Evil()], dtype=object), allow_pickle=True)
        report = check(write(tmp_path, f"values = np.load({str(tmp_path / 'evil.npy')!r})"))
        first = report.first
        assert first is not None
        assert first.code == "binding-raises"
        assert "allow_pickle" in first.message
        assert not (tmp_path / "pwned").exists()

    def test_a_file_that_declares_more_than_it_holds_is_told_of(self, tmp_path: Path) -> None:
        path = tmp_path / "short.npy"
        np.save(path, np.zeros(1000, np.float32))
        path.write_bytes(path.read_bytes()[:500])
        first = check(write(tmp_path, f"values = np.load({str(path)!r})")).first
        assert first is not None
        assert first.code == "binding-raises"
        assert "ValueError" in first.message or "EOFError" in first.message
