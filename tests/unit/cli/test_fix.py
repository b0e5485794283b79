"""`cutaway fix` in this process: overlays written, listed and taken back; retrainings that read them, or do not."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from cutaway.cli import USAGE
from cutaway.dataset import Dataset
from cutaway.evaluation import evaluate
from cutaway.run import Run
from cutaway.run.alone import writing_alone
from cutaway.run.decisions import Decisions, Rejection, write_decisions
from cutaway.run.overlay_use import overlay_of
from cutaway.run.overlays import find_overlay, overlays

torch = pytest.importorskip("torch")
pytest.importorskip("sklearn")

Cutaway = Callable[..., tuple[int, str, str]]
# So many that it can be told how many labels are wrong.
TRAINED, ALL, FLIPPED = 960, 1_200, 48


def _labels() -> tuple[np.ndarray, np.ndarray]:
    """Three classes, and the same with some labels wrong."""
    truth = np.arange(TRAINED) % 3
    noisy = truth.copy()
    noisy[:FLIPPED] = (noisy[:FLIPPED] + 1) % 3
    return truth, noisy


def _evaluate(folder: Path) -> Path:
    """Evaluate a model that knows better than the labels."""
    _, noisy = _labels()
    inputs = np.random.default_rng(0).normal(0, 0.3, (ALL, 3)).astype(np.float32)
    inputs += np.eye(3, dtype=np.float32)[np.arange(ALL) % 3]
    names = ["ant", "bee", "cow"]
    dataset = Dataset.join(
        Dataset.from_arrays(inputs[:TRAINED], noisy, labels=names),
        Dataset.from_arrays(inputs[TRAINED:], np.arange(ALL - TRAINED) % 3, labels=names, subset="validation"),
    )
    model = torch.nn.Sequential(torch.nn.Linear(3, 3, bias=False), torch.nn.Linear(3, 3, bias=False)).eval()
    for layer in model:
        layer.weight.data = torch.eye(3) * 3
    evaluate(dataset, model, folder, keep_model=False)
    return folder


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An evaluation, made once."""
    return _evaluate(tmp_path_factory.mktemp("fix") / "old")


@pytest.fixture
def run(evaluated: Path, home: Path) -> Run:
    folder = home / "runs" / "old"
    shutil.copytree(evaluated, folder)
    return Run.open(folder)


@pytest.fixture
def decided(home: Path) -> Path:
    """The right decisions about every wrong label."""
    names, (truth, _) = ["ant", "bee", "cow"], _labels()
    lines = [f"training/{i},relabel,{names[truth[i]]}," for i in range(FLIPPED)]
    (home / "decided.csv").write_text("sample,action,label,weight\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return home / "decided.csv"


def script(home: Path, *lines: str) -> str:
    """A training that makes a run; what it reads is in `lines`."""
    begin = [
        "import numpy as np",
        "from cutaway.dataset import corrected, sample_weights",
        "from cutaway.run import Run",
        "from cutaway.run.overlay_use import record_overlay",
        f"labels = (np.arange({TRAINED}) % 3)",
        f"labels[:{FLIPPED}] = (labels[:{FLIPPED}] + 1) % 3",
    ]
    (home / "train.py").write_text(
        "\n".join([*begin, *lines, "record_overlay(Run.create(name='new'))"]), encoding="utf-8"
    )
    return f"{sys.executable} train.py"


READS = f"labels = corrected(labels); assert (labels == np.arange({TRAINED}) % 3).all()"


def test_sure_corrections_are_written_beside_the_data(run: Run, cutaway: Cutaway) -> None:
    before = {path: path.read_bytes() for path in run.path.glob("samples/0/*.parquet") if "." not in path.stem}
    code, out, _ = cutaway("fix", "old")
    assert code == 0
    overlay = find_overlay(run)
    names, (truth, noisy) = ["ant", "bee", "cow"], _labels()
    assert 1 <= len(overlay.corrections) <= FLIPPED
    for one in overlay.corrections:
        place = int(one.sample.removeprefix("training/"))
        assert (one.field, one.old, one.new) == ("label", names[noisy[place]], names[truth[place]])
        assert one.who == "cutaway fix"
        assert one.score is not None
        assert one.reason
    assert overlay.classes == ("ant", "bee", "cow")
    assert overlay.about["precision"] == 0.9
    assert "Labels of validation are left alone" in out
    assert "of the new labels to be right" in out
    assert "expected mistakes" in out
    assert "expected gain" in out
    assert out.index("expected gain") < out.index("--retrain")
    assert 'cutaway fix runs/old --retrain "python train.py" --repeats 5' in out
    assert {path: path.read_bytes() for path in before} == before


def test_a_dry_run_writes_nothing(run: Run, decided: Path, cutaway: Cutaway) -> None:
    code, out, _ = cutaway("fix", "old", "--dry-run", "--from", str(decided))
    assert code == 0
    assert "Would be corrected" in out
    assert "bee -> ant" in out
    assert not (run.path / "overlays").exists()


def test_decisions_of_a_person_are_written_with_their_name(run: Run, decided: Path, cutaway: Cutaway) -> None:
    code, out, _ = cutaway("fix", "old", "--from", str(decided), "--name", "mine", "--json")
    told = json.loads(out)
    assert (code, told["ok"], told["accepted"]) == (0, True, FLIPPED)
    assert told["overlay"]["name"] == "mine"
    assert told["overlay"]["corrections"] == {"label": FLIPPED}
    assert told["overlay"]["digest"] == find_overlay(run, "mine").digest
    assert find_overlay(run).corrections[0].who != "cutaway fix"


def test_the_same_again_writes_no_second_overlay(run: Run, decided: Path, cutaway: Cutaway) -> None:
    cutaway("fix", "old", "--from", str(decided))
    code, out, _ = cutaway("fix", "old", "--from", str(decided))
    assert code == 0
    assert "was there already" in out
    assert [one.name for one in overlays(run)] == ["fix-1"]


def test_overlays_are_listed_and_taken_back(run: Run, decided: Path, cutaway: Cutaway) -> None:
    assert "has no overlay" in cutaway("fix", "old", "--list")[1]
    cutaway("fix", "old", "--from", str(decided))
    decided.write_text("sample,action,label,weight\ntraining/200,drop,,\n", encoding="utf-8")
    cutaway("fix", "old", "--from", str(decided))
    _, out, _ = cutaway("fix", "old", "--list")
    assert "fix-1" in out
    assert "1 dropped" in out
    code, out, _ = cutaway("fix", "old", "--undo")
    assert code == 0
    assert "The overlay fix-2 is taken back. The newest is fix-1 again." in out
    code, out, _ = cutaway("fix", "old", "--undo", "--name", "fix-1", "--json")
    assert json.loads(out)["overlays"] == []
    assert json.loads(cutaway("fix", "old", "--list", "--json")[1])["undone"][0]["name"] in ("fix-1", "fix-2")
    assert cutaway("fix", "old", "--undo")[0] == USAGE


@pytest.mark.parametrize("action", ["drop", "reweight"])
def test_samples_can_be_dropped_or_count_less(action: str, run: Run, cutaway: Cutaway) -> None:
    assert cutaway("fix", "old", "--action", action)[0] == 0
    field = {"drop": "drop", "reweight": "weight"}[action]
    assert set(find_overlay(run).counts) == {field}


def test_nothing_sure_enough_is_said_and_nothing_written(run: Run, cutaway: Cutaway) -> None:
    code, out, _ = cutaway("fix", "old", "--precision", "1.0", "--retrain", "python nothing.py")
    assert code == 0
    assert "Nothing is changed" in out
    assert "No gain expected" in out
    assert "--from decided.csv" in out
    assert overlays(run) == []


def test_what_people_decided_is_never_touched_and_goes_along(run: Run, home: Path, cutaway: Cutaway) -> None:
    """One suggestion was rejected on the page, one sample got another label than the suggested one from a file."""
    with writing_alone(run):
        write_decisions(run, Decisions(rejected={"training/0": Rejection("training/0")}, classes=("ant", "bee", "cow")))
    (home / "mine.csv").write_text("sample,action,label,weight\ntraining/1,relabel,ant,\n", encoding="utf-8")
    assert cutaway("fix", "old", "--from", "mine.csv", "--name", "mine")[0] == 0
    code, out, _ = cutaway("fix", "old")
    assert code == 0
    made = {one.sample: one for one in find_overlay(run, "fix-1").corrections}
    assert "training/0" not in made
    assert (made["training/1"].new, made["training/1"].who) != ("bee", "cutaway fix")
    assert made["training/1"].new == "ant"
    others = [one for one in made.values() if one.sample != "training/1"]
    assert others
    assert {one.who for one in others} == {"cutaway fix"}
    assert "2 samples that people decided on stay as decided" in out
    assert "1 sample, corrected as they decided" in out


def scored(*values: str) -> tuple[str, ...]:
    """Lines of a training that records an accuracy, by seed and by whether it has the overlay."""
    return (
        "import os; from cutaway.run.segments import WriterId; import pyarrow as pa",
        f"with_it = 'CUTAWAY_OVERLAY' in os.environ; labels = corrected(labels); sample_weights({TRAINED})",
        "run = Run.create(name='new'); number, lease = run.begin_attempt(from_step=0)",
        "seed = int(os.environ['CUTAWAY_SEED'])",
        "from cutaway.run.schemas import SCALARS, SCHEMAS",
        *values,
        "row = {'name': 'accuracy', 'step': 0, 'mode': 'EVAL', 'value': value, 'time': 0.0}",
        "writer = run.writer(SCALARS, WriterId('train', 'worker_0', number))",
        "writer.append(pa.RecordBatch.from_pylist([row], SCHEMAS[SCALARS]), 0); writer.close(); record_overlay(run)",
        "raise SystemExit",
    )


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("value", "said", "code"),
    [
        ("value = 0.9 + 0.01 * seed - 0.1 * with_it", "This is a loss, not a fix", 1),
        ("value = 0.9 + 0.1 * with_it * (seed - 1)", "no difference found", 0),
        ("value = 0.8 + 0.01 * seed + 0.1 * with_it", ": better", 0),
    ],
)
def test_a_loss_is_never_a_fix_and_is_taken_back(
    value: str, said: str, code: int, run: Run, home: Path, cutaway: Cutaway
) -> None:
    command = script(home, *scored(value))
    ended, out, err = cutaway("fix", "old", "--retrain", command, "--repeats", "3")
    assert (ended, said in out) == (code, True), out + err
    assert [one.name for one in overlays(run)] == ([] if code else ["fix-1"])


@pytest.mark.one_in(2)
@pytest.mark.parametrize("change", [-0.4, 0.09])
def test_one_training_each_is_not_enough_to_tell_and_takes_nothing_back(
    change: float, run: Run, home: Path, cutaway: Cutaway
) -> None:
    """Over 28 trials in which nothing was changed, five were called better or worse for certain."""
    command = script(home, *scored(f"value = 0.5 + {change} * with_it"))
    code, out, err = cutaway("fix", "old", "--retrain", command, "--repeats", "1")
    assert code == 0, err
    assert "not enough to tell" in out
    assert ": better" not in out
    assert ": worse" not in out
    assert "--repeats 5" in out
    assert [one.name for one in overlays(run)] == ["fix-1"]


def test_a_loss_by_what_a_person_decided_is_said_and_stands(
    run: Run, home: Path, decided: Path, cutaway: Cutaway
) -> None:
    command = script(home, *scored("value = 0.9 + 0.01 * seed - 0.1 * with_it"))
    code, out, _ = cutaway("fix", "old", "--from", str(decided), "--retrain", command, "--repeats", "3")
    assert code == 1
    assert ": worse" in out
    assert [one.name for one in overlays(run)] == ["fix-1"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--action", "relable"], "Did you mean 'relabel'?"),
        (["--precision", "95"], "precision"),
        (["--subset", "train"], "Did you mean 'training'?"),
        (["--repeats", "3"], "Give the command with `--retrain`"),
        (["--repeats", "-1", "--retrain", "x"], "`--repeats >= 0` must hold"),
        (["--undo", "--list"], "does nothing else"),
        (["--dry-run", "--retrain", "x"], "none to retrain with"),
        (["--from", "gone.csv"], "No such file"),
        (["--name", "../x"], "An overlay's name"),
        (["--evaluation", "7"], "has no evaluation 7"),
        (["--undo", "--name", "nope"], "has no overlay 'nope'"),
    ],
)
def test_wrong_usage_ends_with_2(words: list[str], said: str, run: Run, cutaway: Cutaway) -> None:
    code, _, err = cutaway("fix", "old", *words)
    assert code == USAGE
    assert said in err
    assert overlays(run) == []


def test_a_file_with_unknown_samples_writes_nothing(run: Run, home: Path, cutaway: Cutaway) -> None:
    (home / "bad.csv").write_text(
        "sample,action,label\ntraining/9999,drop,\ntraining/1,relabel,=1+1\n", encoding="utf-8"
    )
    code, _, err = cutaway("fix", "old", "--from", "bad.csv")
    assert code == USAGE
    assert "line 2: there is no sample 'training/9999'" in err
    assert "line 3: there is no label '=1+1'" in err
    assert overlays(run) == []


def test_a_retraining_that_reads_the_overlay_is_known_by_its_digest(
    run: Run, home: Path, decided: Path, cutaway: Cutaway
) -> None:
    code, out, _ = cutaway("fix", "old", "--from", str(decided), "--retrain", script(home, READS))
    assert code == 0, out
    new = next(one for one in (home / "runs").iterdir() if one.name.startswith("new"))
    told = overlay_of(Run.open(new))
    assert told is not None
    assert told["digest"] == find_overlay(run).digest
    assert told["read"] == [{"by": "corrected", "subset": "training", "samples": FLIPPED}]
    assert "Trained with it" in out
    assert "The gain is unknown." in out
    assert "cutaway.evaluation.evaluate" in out


def test_a_retraining_that_never_read_it_fails_with_the_line_to_add(
    run: Run, home: Path, decided: Path, cutaway: Cutaway
) -> None:
    command = script(home, "corrected([0, 1], subset='validation')")
    code, _, err = cutaway("fix", "old", "--from", str(decided), "--retrain", command)
    assert code == 1
    assert "The retraining never read the overlay" in err
    assert 'labels = cutaway.dataset.corrected(labels, subset="training", ids=None)' in err
    code, out, _ = cutaway("fix", "old", "--from", str(decided), "--retrain", command, "--json")
    told = json.loads(out)
    assert (code, told["ok"], told["code"], told["status"]) == (1, False, "OverlayNeverRead", 1)
    assert told["lines"] == ['labels = cutaway.dataset.corrected(labels, subset="training", ids=None)']
    assert told["overlay"]["name"] == "fix-1"


def test_weights_that_were_never_asked_for_are_said(run: Run, home: Path, decided: Path, cutaway: Cutaway) -> None:
    decided.write_text("sample,action,label,weight\ntraining/0,relabel,ant,\ntraining/9,drop,,\n", encoding="utf-8")
    code, out, _ = cutaway("fix", "old", "--from", str(decided), "--retrain", script(home, "corrected(labels)"))
    assert code == 0
    assert "never asked for 1 drop" in out
    assert "sample_weights(len(labels)" in out
    decided.write_text("sample,action,label,weight\ntraining/9,drop,,\n", encoding="utf-8")
    arguments = ("fix", "old", "--from", str(decided), "--name", "drops", "--retrain")
    code, _, err = cutaway(*arguments, script(home, "corrected(labels)"))
    assert code == 1
    assert 'weights = cutaway.dataset.sample_weights(len(labels), subset="training")' in err
    assert cutaway(*arguments, script(home, f"assert sample_weights({TRAINED})[9] == 0"))[0] == 0


def test_a_command_that_fails_ends_with_1_and_its_last_lines(
    run: Run, home: Path, decided: Path, cutaway: Cutaway
) -> None:
    command = f"{sys.executable} -c \"print('cannot go on'); raise SystemExit(5)\""
    code, _, err = cutaway("fix", "old", "--from", str(decided), "--retrain", command)
    assert code == 1
    assert "The retraining ended with exit code 5." in err
    assert err.count("cannot go on") == 2, "once as it was printed, once below the failure"
    assert [one.name for one in overlays(run)] == ["fix-1"], "the overlay stays"


def test_a_training_that_makes_no_run_proves_nothing(run: Run, decided: Path, cutaway: Cutaway) -> None:
    code, _, err = cutaway("fix", "old", "--from", str(decided), "--retrain", f"{sys.executable} -c pass")
    assert code == 1
    assert "made no new run here" in err


def test_repeats_train_without_and_with_the_overlay_for_each_seed(
    run: Run, home: Path, decided: Path, cutaway: Cutaway
) -> None:
    lines = scored("value = 0.8 + 0.01 * seed + 0.1 * with_it")
    arguments = ("fix", "old", "--from", str(decided), "--retrain", script(home, *lines), "--repeats", "2", "--json")
    code, out, err = cutaway(*arguments)
    assert code == 0, err
    told = json.loads(out)
    assert told["gain"]["over"] == "seeds"
    assert (told["gain"]["count"], told["gain"]["better"]) == (2, 2)
    assert told["gain"]["difference"] == pytest.approx(0.1)
    assert len(told["runs"]) == 4
    assert "seed 1: with the overlay" in err


def test_a_run_that_was_evaluated_with_an_overlay_is_corrected_on_top_of_it(
    run: Run, home: Path, decided: Path, cutaway: Cutaway, monkeypatch: pytest.MonkeyPatch
) -> None:
    cutaway("fix", "old", "--from", str(decided))
    first = find_overlay(run)
    monkeypatch.setenv("CUTAWAY_OVERLAY", str(first.path))
    second = Run.open(_evaluate(home / "runs" / "second"))
    decided.write_text("sample,action,label,weight\ntraining/0,relabel,cow,\n", encoding="utf-8")
    code, out, err = cutaway("fix", "second", "--from", str(decided))
    assert code == 0, err
    assert "on top of" in out
    made = find_overlay(second)
    assert len(made.corrections) == FLIPPED
    changed = {one.sample: (one.old, one.new) for one in made.corrections}
    assert changed["training/0"] == ("bee", "cow"), "the label of the data, not the corrected one, is the old one"
    monkeypatch.delenv("CUTAWAY_OVERLAY")
    code, _, err = cutaway("fix", "second", "--from", str(decided), "--name", "again")
    assert code == USAGE
    assert "Set CUTAWAY_OVERLAY to where it lies now" in err
