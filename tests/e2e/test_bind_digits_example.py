"""The example binding as its README says, and broken copies of it: each must get the right first diagnosis."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cutaway.evaluation import CheckReport, CheckStatus, Evaluation, check, evaluations
from cutaway.run import Run

pytest.importorskip("sklearn")

EXAMPLE = Path(__file__).parents[2] / "examples" / "bind_digits"
MODELS = ("model.onnx", "model.h5", "model.pt2")
NEEDS = {"model.onnx": "onnxruntime", "model.h5": "keras", "model.pt2": "torch"}
LARGEST = 100_000


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the example that may be broken."""
    folder = tmp_path / "bind_digits"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def cutaway(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cutaway", *words],
        cwd=cwd,
        env={**os.environ, "COLUMNS": "120", "NO_COLOR": "1", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Evaluation:
    """What `cutaway evaluate` made of the example and its ONNX file."""
    pytest.importorskip("onnxruntime")
    folder = tmp_path_factory.mktemp("evaluated") / "bind_digits"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    done = cutaway("evaluate", ".", MODEL, "--json", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    [run] = (folder / "runs").iterdir()
    [evaluation] = evaluations(Run.open(run))
    return evaluation


class TestHealthy:
    @pytest.mark.one_in(3)
    @pytest.mark.parametrize("model", MODELS)
    def test_the_binding_fits_each_of_its_models_and_they_are_right(self, model: str) -> None:
        pytest.importorskip(NEEDS[model])
        report = check(EXAMPLE, EXAMPLE / model)
        assert report.findings == ()
        assert {row.status for row in report.rows} == {CheckStatus.PASS}
        output = next(row for row in report.rows if row.kind == "model output")
        assert int(output.note.split()[0]) >= 44  # of 48

    def test_channels_are_moved_for_the_model_that_has_them_first(self) -> None:
        pytest.importorskip("onnxruntime")
        report = check(EXAMPLE, EXAMPLE / "model.onnx")
        assert next(row.note for row in report.rows if row.kind == "model input") == "from 'image', channels first"

    def test_the_page_has_a_line_for_each_function_and_the_next_command(self) -> None:
        pytest.importorskip("onnxruntime")
        done = cutaway("check", "--model", "model.onnx", cwd=EXAMPLE)
        assert done.returncode == 0, done.stdout + done.stderr
        lines = done.stdout.splitlines()
        assert lines[0] == "leap_binder.py  training 1,078, validation 359, test 360; looked at 48 samples"
        assert "Binding is valid: 14 passed." in done.stdout
        assert lines[-1] == "Next: cutaway evaluate . model.onnx"

    def test_evaluate_gives_every_sample_a_row(self, evaluated: Evaluation) -> None:
        assert {name: evaluated.table(name).num_rows for name in evaluated.subsets} == {
            "training": 1078,
            "validation": 359,
            "test": 360,
        }
        assert evaluated.failures() == []
        margins = np.array(evaluated.table("test")["metric.margin"].to_pylist())
        assert (margins > 0).mean() >= 0.95

    def test_answers_get_worse_with_the_distance_from_the_mean_image_of_the_class(self, evaluated: Evaluation) -> None:
        # The margin, not the loss: the smoothed one also rises where an answer is surer than its labels.
        unseen = pa.concat_tables([evaluated.table("validation"), evaluated.table("test")])
        nearest_first = np.argsort(unseen["metadata.distance_to_class_mean"].to_numpy())
        quarters = np.array_split(unseen["metric.margin"].to_numpy()[nearest_first], 4)
        margins = [quarter.mean() for quarter in quarters]
        assert margins == sorted(margins, reverse=True)
        assert (quarters[-1] < 0).mean() > 0.05 > (quarters[0] < 0).mean()

    @pytest.mark.parametrize(
        "function",
        [
            "def leap_save_model(target_file_path):\n    shutil.copy(HERE / 'model.onnx', target_file_path)\n",
            "@tensorleap_load_model([])\ndef load():\n    import onnxruntime\n"
            "    return onnxruntime.InferenceSession(HERE / 'model.onnx')\n",
        ],
    )
    def test_the_model_that_the_binding_brings_is_checked(self, function: str, copy: Path) -> None:
        pytest.importorskip("onnxruntime")
        path = copy / ENTRY
        start = "import shutil\nfrom pathlib import Path\nfrom cutaway.dataset import tensorleap_load_model\n"
        text = path.read_text(encoding="utf-8")
        path.write_text(f"{start}HERE = Path(__file__).parent\n{text}\n{function}", encoding="utf-8")
        report = check(copy)
        assert report.findings == ()
        assert ("model", "the binding's own") in [(row.kind, row.name) for row in report.rows]

    def test_model_files_are_small_and_name_no_folder_of_anybody(self) -> None:
        for name in MODELS:
            content = (EXAMPLE / name).read_bytes()
            assert len(content) < LARGEST
            for word in (b"site-packages", b"/home/", b"/Users/", b'.py", line'):
                assert word not in content


def edited(*changes: tuple[str, str]) -> Callable[[Path], None]:
    """Change lines of the entry file; each must be there."""

    def change(folder: Path) -> None:
        path = folder / "leap_binder.py"
        text = path.read_text(encoding="utf-8")
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        path.write_text(text, encoding="utf-8")

    return change


def lfs_pointer(folder: Path) -> None:
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 33095\n"
    (folder / "model.onnx").write_text(pointer, encoding="utf-8")


def cut_short(folder: Path) -> None:
    path = folder / "model.onnx"
    path.write_bytes(path.read_bytes()[:9000])


def larger_model(folder: Path) -> None:
    """A model of 28 x 28 pixels in place of the one that fits."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    weights = numpy_helper.from_array(np.zeros((784, 10), np.float32), "weights")
    graph = helper.make_graph(
        [helper.make_node("Flatten", ["image"], ["flat"]), helper.make_node("MatMul", ["flat", "weights"], ["scores"])],
        "larger",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 1, 28, 28])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["batch", 10])],
        [weights],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, folder / "model.onnx")


ENTRY, MODEL = "leap_binder.py", "model.onnx"
DECORATOR = '@tensorleap_input_encoder("image", channel_dim=-1)\n'
VALIDATION = "DataStateType.validation: (1078, 1437), "
IMAGE, PIXELS = "    return (subset.data", "[index][:, :, None]"
HOT = "np.eye(len(LABELS), dtype=np.float32)["
SHUFFLED = "np.random.default_rng(0).permutation(len(digits.target))"
# What is broken, the model that it is checked with, the first diagnosis, and words that its message must have.
Case = tuple[Callable[[Path], Any], str | None, str, str]
BINDINGS: dict[str, Case] = {
    "missing entry file": (lambda folder: (folder / ENTRY).unlink(), None, "binding-entry", ENTRY),
    "syntax error": (edited((IMAGE, "    return ((subset.data")), None, "binding-entry", "SyntaxError"),
    "missing package": (edited(("from sklearn", "from sklaern")), None, "binding-entry", "sklaern"),
    "preprocess raises": (edited(("digits.target", "digits.targets")), None, "binding-preprocess", "targets"),
    "missing subset": (edited((VALIDATION, "")), None, "binding-subset-missing", "validation"),
    "empty subset": (
        edited((VALIDATION, VALIDATION.replace("1078", "1437"))),
        None,
        "binding-subset-empty",
        "validation",
    ),
    "missing encoder": (edited((DECORATOR, "")), MODEL, "binding-no-input", "No input"),
    "encoder raises": (edited((IMAGE, f"    assert index < 300\n{IMAGE}")), MODEL, "binding-raises", "AssertionError"),
    "wrong shape": (edited((PIXELS, "[index][: 8 - index % 2, :, None]")), MODEL, "binding-shape", "(7, 8, 1)"),
    "wrong dtype": (edited((" / 16).astype(np.float32)", " / 16)")), MODEL, "binding-raises", "float32"),
    "NaN": (edited((PIXELS, f"{PIXELS} * (1 if index else np.nan)")), MODEL, "binding-nan", "NaN"),
    "random": (edited((PIXELS, f"{PIXELS} * np.random.random()")), MODEL, "binding-random", "'image'"),
    "labels from 1": (edited((HOT, "np.eye(11, dtype=np.float32)[1 + ")), MODEL, "binding-label-width", "11 wide"),
    "labels too few": (edited((", LABELS)", ", LABELS[:9])")), MODEL, "binding-label-width", "9 labels"),
    "leaked split": (edited(("(1078, 1437)", "(1000, 1437)")), MODEL, "binding-leak", "78 of 437"),
    "sorted split": (edited((SHUFFLED, "np.argsort(digits.target)")), None, "binding-class-absent", "training"),
}
MODELS_OF_OTHERS: dict[str, Case] = {
    "missing model": (lambda folder: (folder / MODEL).unlink(), MODEL, "model-missing", "model.onnx"),
    "Git LFS pointer": (lfs_pointer, MODEL, "model-unreadable", "LFS"),
    "model cut short": (cut_short, MODEL, "model-unreadable", "model.onnx"),
    "model of another shape": (larger_model, MODEL, "model-input", "(8, 8, 1)"),
    "labels in another order": (edited((HOT, f"{HOT}-3 + ")), MODEL, "model-guesses", "guessing"),
    "metric of something unknown": (edited(("margin(digit:", "margin(dgiit:")), MODEL, "function-wiring", "dgiit"),
}
BROKEN = BINDINGS | MODELS_OF_OTHERS


@pytest.mark.one_in(2)
@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_copy_gets_the_right_first_diagnosis(case: str, copy: Path) -> None:
    broken, model, code, words = BROKEN[case]
    if model is not None:
        pytest.importorskip("onnxruntime")
    broken(copy)
    # Where the model itself is sound it need not have a process of its own: that takes a second each time.
    report = check(copy, None if model is None else copy / model, trust=case in BINDINGS)
    first = report.first
    assert first is not None
    assert (first.code, words in first.message) == (code, True), first.message
    assert first.evidence["fix"]
    # Nothing that only follows from it is called a failure.
    assert {one.code for one in report.of("error")} <= {code}, _told(report)


@pytest.mark.parametrize(
    ("case", "line"),
    [
        ("syntax error", "return ((subset"),
        ("preprocess raises", "permutation(len("),
        ("encoder raises", "assert index"),
    ],
)
def test_the_first_diagnosis_names_the_line(case: str, line: str, copy: Path) -> None:
    BROKEN[case][0](copy)
    first = check(copy).first
    assert first is not None
    path, _, number = first.where["place"].rpartition(":")
    assert Path(path).name == "leap_binder.py"
    assert line in Path(path).read_text(encoding="utf-8").splitlines()[int(number) - 1]


@pytest.mark.slow
def test_a_broken_copy_ends_with_1_and_says_what_to_repair(copy: Path) -> None:
    BROKEN["encoder raises"][0](copy)
    done = cutaway("check", cwd=copy)
    assert done.returncode == 1
    assert "binding-raises  leap_binder.py:56: Input 'image' failed for" in done.stdout
    assert "assert index < 300" in done.stdout
    assert "Next: repair binding-raises, then `cutaway check .`" in done.stdout
    told = json.loads(cutaway("check", "--json", cwd=copy).stdout)
    assert (told["ok"], told["valid"]) == (True, False)
    assert told["findings"][0]["code"] == "binding-raises"


def _told(report: CheckReport) -> list[str]:
    return [f"{one.code}: {one.message}" for one in report.findings]
