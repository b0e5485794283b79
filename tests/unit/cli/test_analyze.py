"""`cutaway analyze`: every question, as words, JSON and files; what is wrong is said, never traced."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from cutaway.analysis import counting
from cutaway.analysis.population.names import analysis_names, command_name, name_of
from cutaway.cli import progress as shown
from cutaway.cli.analyze_pages import _stem
from cutaway.evaluation import Progress
from tests.unit.analysis.kinds import KINDS, evaluated_kind
from tests.unit.cli.conftest import Cutaway

pytest.importorskip("torch")

SAMPLE = ("--sample", "training/0")
ASKED: dict[str, tuple[str, ...]] = {
    "map": ("--method", "pca"),
    "similar": SAMPLE,
    "heat-maps": SAMPLE,
    "loss-heat-maps": SAMPLE,
    "clusters": ("--method", "kmeans", "--count", "3"),
    "class-distances": SAMPLE,
    "units": SAMPLE,
    "curve": ("--x", "metadata.size"),
    "confusion": ("--by", "subset"),
    "batches": (),
    "mislabeled": (),
    "ambiguous": (),
    "duplicates": (),
    "leakage": (),
    "outliers": (),
    "to-label": ("--count", "5"),
    "insights": (),
    "compare": ("--with", "animals"),
}
COMMANDS = [command_name(name) for name in analysis_names()]
# What has no picture: the units of one sample, insights, and where nothing was found.
NO_FIGURE = ("units", "insights", "leakage")
# What needs another run: a training or a model that can be asked, samples without a label, a model that learned.
ASKED_ELSEWHERE = ("heat-maps", "loss-heat-maps", "batches", "to-label", "mislabeled")


@pytest.fixture
def run(home: Path) -> str:
    evaluated_kind("probabilities", home / "runs" / "animals")
    return "animals"


@pytest.fixture
def bound(home: Path) -> str:
    """A run whose data set and model come back by themselves."""
    (home / "leap_binder.py").write_text(
        "import numpy as np\n"
        "import torch\n"
        "from cutaway.dataset import leap_binder, PreprocessResponse\n"
        "from cutaway.dataset import tensorleap_load_model\n"
        "leap_binder.set_preprocess(lambda: [PreprocessResponse(length=40), PreprocessResponse(length=12)])\n"
        "leap_binder.set_input(lambda i, s: np.random.default_rng(i).normal(size=6).astype('float32'), 'x')\n"
        "leap_binder.set_ground_truth(lambda i, s: np.eye(3, dtype='float32')[i % 3], 'y')\n"
        "leap_binder.set_metadata(lambda i, s: float(i), 'size')\n",
        encoding="utf-8",
    )
    import torch

    from cutaway.dataset import load_entry
    from cutaway.evaluation import evaluate

    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(6, 5), torch.nn.ReLU(), torch.nn.Linear(5, 3)).eval()
    evaluate(load_entry(home / "leap_binder.py").dataset(), network, home / "runs" / "bound")
    return "bound"


def test_everything_that_applies_is_said_and_the_rest_with_why(cutaway: Cutaway, run: str) -> None:
    code, out, err = cutaway("analyze", run)
    assert code == 0, err
    assert "training: 60 samples, trustworthiness 0." in out
    assert "batches  does not apply: the run holds an evaluation only" in out
    assert "kept in" in out
    assert "next" in out
    assert cutaway("analyze", run)[1] == out


def test_every_question_is_asked_here() -> None:
    assert set(ASKED) == set(COMMANDS)


@pytest.mark.parametrize("what", [one for one in COMMANDS if one not in ASKED_ELSEWHERE])
def test_every_question_has_words_json_and_files(cutaway: Cutaway, run: str, home: Path, what: str) -> None:
    code, out, err = cutaway("analyze", run, what, *ASKED[what])
    assert (code, err) == (0, "")
    assert out.startswith("animals  evaluation 0, 90 samples (training, validation), space latent of 5 units")
    code, out, _ = cutaway("analyze", run, what, *ASKED[what], "--json")
    answer = json.loads(out)
    assert (code, answer["ok"], answer["samples"]) == (0, True, 90)
    [only] = answer["analyses"]
    assert (only["analysis"], only["applies"]) == (name_of(what), True)
    code, out, _ = cutaway("analyze", run, what, *ASKED[what], "--out", "files")
    endings = {path.suffix for path in (home / "files").iterdir()}
    assert {".csv", ".parquet"} <= endings
    if what not in NO_FIGURE:
        assert {".png", ".html"} <= endings
    assert f"{len(list((home / 'files').iterdir()))} files in files" in out


def test_wrong_labels_are_ranked_and_shown(cutaway: Cutaway, home: Path) -> None:
    import torch

    from cutaway.dataset import Dataset
    from cutaway.evaluation import evaluate

    truth = np.arange(120) % 3
    inputs = (np.eye(3, 6)[truth] * 6 + np.random.default_rng(0).normal(size=(120, 6))).astype(np.float32)
    labels = np.where(np.arange(120) < 6, (truth + 1) % 3, truth)
    network = torch.nn.Sequential(torch.nn.Linear(6, 6), torch.nn.ReLU(), torch.nn.Linear(6, 3)).eval()
    with torch.no_grad():
        network[0].weight.copy_(torch.eye(6))
        network[2].weight.copy_(torch.eye(3, 6))
    evaluate(Dataset.from_arrays(inputs, labels), network, home / "runs" / "blobs")
    code, out, err = cutaway("analyze", "blobs", "mislabeled", "--out", "files", "--json")
    assert code == 0, err
    rows = json.loads(out)["analyses"][0]["tables"]["mislabeled"]["first"]
    assert {one["sample"] for one in rows[:6]} == {f"training/{row}" for row in range(6)}
    assert {path.suffix for path in (home / "files").iterdir()} == {".csv", ".parquet", ".png", ".html"}


def test_a_model_that_learned_nothing_is_no_judge_of_labels(cutaway: Cutaway, run: str) -> None:
    code, _, err = cutaway("analyze", run, "mislabeled")
    assert code == 2
    assert "does not tell these classes apart" in " ".join(err.split())


def test_what_to_label_next_comes_with_an_estimate(cutaway: Cutaway, home: Path) -> None:
    evaluated_kind("an_unlabelled_subset", home / "runs" / "animals")
    code, out, err = cutaway("analyze", "animals", "to-label", "--count", "5", "--method", "coreset", "--json")
    assert code == 0, err
    [answer] = json.loads(out)["analyses"]
    assert answer["tables"]["to label"]["rows"] == 5
    assert all(one["sample"].startswith("unlabeled/") for one in answer["tables"]["to label"]["first"])


def test_nothing_to_label_is_said_with_what_to_do(cutaway: Cutaway, run: str) -> None:
    code, _, err = cutaway("analyze", run, "to-label")
    assert code == 2
    assert "unlabeled" in err


def test_two_runs_are_compared_on_the_same_samples(cutaway: Cutaway, bound: str, home: Path) -> None:
    import torch

    from cutaway.dataset import load_entry
    from cutaway.evaluation import evaluate

    torch.manual_seed(1)
    network = torch.nn.Sequential(torch.nn.Linear(6, 5), torch.nn.ReLU(), torch.nn.Linear(5, 3)).eval()
    evaluate(load_entry(home / "leap_binder.py").dataset(), network, home / "runs" / "other")
    code, out, err = cutaway("analyze", bound, "compare", "--with", "other", "--json")
    assert code == 0, err
    flips = json.loads(out)["analyses"][0]["tables"]["compare"]
    assert flips["rows"] > 0
    assert {"sample", "score", "reason"} <= set(flips["first"][0])


def test_a_model_file_is_evaluated_on_the_same_samples_and_compared(cutaway: Cutaway, bound: str, home: Path) -> None:
    import torch

    torch.manual_seed(1)
    network = torch.nn.Sequential(torch.nn.Linear(6, 5), torch.nn.ReLU(), torch.nn.Linear(5, 3)).eval()
    torch.export.save(
        torch.export.export(network, (torch.zeros(2, 6),), dynamic_shapes=({0: torch.export.Dim.AUTO},)),
        home / "new.pt2",
    )
    code, out, err = cutaway("analyze", bound, "compare", "--with", "new.pt2")
    assert code == 0, err
    assert "compared with new.pt2" in out


def test_what_to_compare_with_must_be_there(cutaway: Cutaway, run: str) -> None:
    code, _, err = cutaway("analyze", run, "compare")
    assert code == 2
    assert "`--with`" in err
    code, _, err = cutaway("analyze", run, "compare", "--with", "nowhere.onnx")
    assert code == 2
    assert "no model file 'nowhere.onnx'" in err


def test_the_model_and_the_data_set_come_back_for_heat_maps(cutaway: Cutaway, bound: str, home: Path) -> None:
    code, out, err = cutaway("analyze", bound, "heat-maps", *SAMPLE, "--target", "0", "--target", "2", "--out", "maps")
    assert code == 0, err
    assert out.count("integrated_gradients of class") == 2
    assert len(list((home / "maps").glob("*.png"))) == 1
    code, out, err = cutaway("analyze", bound, "units", *SAMPLE)
    assert code == 0, err
    assert "behind the score" in out
    np.save(home / "new.npy", np.random.default_rng(7).normal(size=6).astype(np.float32))
    code, out, err = cutaway(
        "analyze", bound, "similar", "--input", "new.npy", "-k", "3", "--where", "subset = training"
    )
    assert code == 0, err
    assert "3 nearest to new.npy" in out
    assert "training/7" in out
    assert "validation/" not in out


def test_units_of_a_sample_say_when_the_model_is_not_there(cutaway: Cutaway, run: str) -> None:
    code, out, _ = cutaway("analyze", run, "units", *SAMPLE)
    assert code == 0
    assert "most unusual" in out
    assert "existed only in memory" in " ".join(out.split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["confusio"], "Did you mean 'confusion'"),
        (["map", "--x", "loss"], "`--x` is for curve"),
        (["--sample", "training/0"], "put that after the run"),
        (["similar"], "needs one of `--sample`, `--region` and `--input`"),
        (["similar", "--sample", "training/0x"], "There is no sample 'training/0x'"),
        (["similar", "--region", "1,2,3"], "x,y,x,y"),
        (["similar", "--region", "9000,9000,9001,9001"], "No sample lies in the region"),
        (["similar", "--input", "nowhere.npy"], "nowhere.npy"),
        (["similar", "--sample", "training/0", "--where", "labl = ant"], "Did you mean 'label'"),
        (["similar", "--sample", "training/0", "--where", "label"], "label"),
        (["heat-maps"], "needs `--sample`"),
        (["heat-maps", "--sample", "training/0"], "existed only in memory"),
        (["curve"], "`curve` needs `--x`"),
        (["curve", "--x", "metadata.siz"], "Did you mean 'metadata.size'"),
        (["map", "--balance-by", "label"], "needs `--count`"),
        (["map", "--method", "umpa"], "Did you mean 'umap'"),
        (["map", "--color", "labl"], ""),
        (["map", "--device", "gpu9"], "gpu9"),
        (["clusters", "--method", "kmean"], "Did you mean 'kmeans'"),
        (["--subset", "tranining"], "Did you mean 'training'"),
        (["--space", "latnt"], "Did you mean 'latent'"),
        (["--prediction", "otput"], "Did you mean 'output'"),
        (["--evaluation", "7"], "has no evaluation 7"),
        (["--layer", "conv1"], "existed only in memory"),
        (["batches"], "holds an evaluation only"),
    ],
)
def test_what_is_wrong_is_said_in_words(cutaway: Cutaway, run: str, words: list[str], said: str) -> None:
    code, out, err = cutaway("analyze", run, *words, "--out", "files", columns=1000)
    if not said:
        assert code == 2
        return
    assert code == 2, out + err
    assert said in err
    code, out, _ = cutaway("analyze", run, *words, "--json", "--out", "files")
    assert json.loads(out)["ok"] is False


@pytest.mark.parametrize("what", ["clusters", "class-distances"])
def test_the_command_that_a_page_names_makes_what_the_page_misses(
    cutaway: Cutaway, run: str, home: Path, what: str
) -> None:
    kept = home / "runs" / run / "samples" / "0" / f"joint.{what.replace('-', '_')}.latent.parquet"
    assert not kept.exists()
    code, out, err = cutaway("analyze", run, what)
    assert code == 0, err
    assert kept.exists()
    assert cutaway("analyze", run, what)[1] == out


def test_clusters_of_another_method_are_not_kept_as_those_of_the_map(cutaway: Cutaway, run: str, home: Path) -> None:
    assert cutaway("analyze", run, "clusters", "--method", "kmeans", "--count", "3")[0] == 0
    assert not (home / "runs" / run / "samples" / "0" / "joint.clusters.latent.parquet").exists()


def test_a_run_that_is_not_there_is_said(cutaway: Cutaway) -> None:
    code, _, err = cutaway("analyze", "nowhere")
    assert code == 2
    assert "nowhere" in err


@pytest.mark.parametrize("name", ["one_sample", "nan_latents"])
def test_every_kind_ends_in_words(cutaway: Cutaway, home: Path, name: str) -> None:
    evaluated_kind(name, home / "runs" / "kind")
    for words in (
        [],
        ["map"],
        ["clusters"],
        ["class-distances"],
        ["units"],
        ["confusion"],
        ["curve", "--x", "metadata.size"],
    ):
        code, out, err = cutaway("analyze", "kind", *words)
        assert code in (0, 2), err
        assert code == 0 or err.startswith("Error: No ")
        assert "\x1b" not in out
        json.loads(cutaway("analyze", "kind", *words, "--json")[1])
        assert cutaway("analyze", "kind", *words, "--out", "files")[0] == code


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_every_question_about_every_kind_ends_in_words(cutaway: Cutaway, home: Path, name: str) -> None:
    folder = home / "runs" / "kind"
    evaluated_kind(name, folder)
    sample = pq.read_table(folder / "samples" / "0" / "training.parquet", columns=["id"])["id"][0].as_py()
    for what, options in ASKED.items():
        given = [sample if one == "training/0" else one for one in options]
        for extra in ([], ["--json"], ["--out", "files"]):
            code, out, err = cutaway("analyze", "kind", what, *given, *extra)
            assert code in (0, 2), err
            assert "Traceback" not in err
            assert "\x1b" not in out + err


@pytest.mark.slow
def test_tables_are_the_same_in_csv_and_parquet(cutaway: Cutaway, run: str, home: Path) -> None:
    import csv

    cutaway("analyze", run, "--out", "files")
    tables = sorted((home / "files").glob("*.parquet"))
    assert len(tables) > 8
    for path in tables:
        table = pq.read_table(path)
        with path.with_suffix(".csv").open(newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
        assert rows[0] == table.column_names
        assert len(rows) - 1 == table.num_rows


def test_files_of_two_samples_are_two() -> None:
    assert _stem("similar", "similar") == "similar"
    assert _stem("heat maps", "validation/3") == "heat_maps.validation_3"
    assert _stem("heat maps", "a b") == "heat_maps.a_b"
    names = {_stem("heat maps", one) for one in ("ä", "ö", "a:b", "a;b", "x" * 10_000, "x" * 10_001)}
    assert len(names) == 6
    assert max(map(len, names)) < 100


def test_no_file_is_written_where_none_can_be(cutaway: Cutaway, run: str, home: Path) -> None:
    (home / "taken").write_text("a file", encoding="utf-8")
    code, _, err = cutaway("analyze", run, "confusion", "--out", "taken")
    assert code == 2
    assert "Cannot write to 'taken'" in err


def test_progress_comes_in_lines_where_there_is_no_terminal(
    cutaway: Cutaway, run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shown, "LINE_SECONDS", 0.0)
    monkeypatch.setattr(counting, "SECONDS_BETWEEN", 0.0)  # a fast machine lays this map out between two reports
    _, _, err = cutaway("analyze", run, "map")
    assert "analyze, laying the map out: " in err
    assert "left" in err


def test_progress_has_an_eta(run: str, home: Path) -> None:
    from cutaway.analysis import Population

    heard: list[Progress] = []
    Population.open(home / "runs" / run).make_map(progress=heard.append)
    stages = dict.fromkeys(one.stage for one in heard)
    assert "laying the map out" in stages
    assert "measuring how far the map can be trusted" in stages
    assert all(one.eta is not None for one in heard if one.seconds > 0)
    assert all(one.done <= one.total for one in heard)


def test_the_words_of_a_question_are_kept_for_machines(cutaway: Cutaway, run: str) -> None:
    answer: dict[str, Any] = json.loads(cutaway("analyze", run, "--json")[1])
    by_name = {one["analysis"]: one for one in answer["analyses"]}
    assert by_name["batches"]["reason"]
    assert by_name["units"]["tables"]["drivers"]["rows"] == 50
    assert by_name["map"]["tables"]["training"]["first"][0].keys() == {"sample", "x", "y"}
