"""Where a population comes from: which evaluation, what its results are kept under, and which came before."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from cutaway.analysis import Population, analyze
from cutaway.analysis.samples.origin import Origin, open_origin
from cutaway.errors import EvaluationError
from cutaway.evaluation import evaluate, evaluations
from cutaway.run import Run
from cutaway.run.evaluated.kept import MAP
from cutaway.run.evaluations import write_source
from tests.unit.analysis.kinds import KINDS, evaluated_kind

pytest.importorskip("torch")


@pytest.fixture
def twice(tmp_path: Path) -> Path:
    """A run with two evaluations."""
    folder, kind = evaluated_kind("logits", tmp_path / "run")
    kind.model[0].weight.data *= 1.2
    evaluate(kind.dataset, kind.model, folder, keep_model=False)
    return folder


def test_a_result_is_of_one_question_about_one_evaluation(twice: Path) -> None:
    def key(origin: Origin, kind: str = "map", seed: int = 0) -> str:
        return origin.key(kind, {"seed": seed})

    last = open_origin(twice)
    keys = [
        key(last),
        key(last, seed=1),
        key(last, "clusters"),
        key(open_origin(twice, number=0)),
        key(open_origin(twice, subsets=["training"])),
    ]
    assert len(set(keys)) == len(keys)
    assert key(open_origin(twice)) == keys[0]
    assert key(open_origin(twice, subsets=["validation", "training"])) == keys[0]


def test_what_came_before_has_the_same_subsets_and_space(twice: Path) -> None:
    last = open_origin(twice)
    assert [one.evaluation.number for one in last.earlier()] == [0]
    assert open_origin(twice, number=0).earlier() == []
    before = evaluations(Run.open(twice))[0]
    write_source(before, {**before.source.document, "state": "running"})
    assert open_origin(twice).earlier() == []
    with pytest.raises(EvaluationError, match="is not finished"):
        open_origin(twice, number=0)


@pytest.mark.parametrize("damage", ["vectors", "table"])
def test_damage_in_an_earlier_evaluation_costs_the_alignment_only(twice: Path, damage: str) -> None:
    Population.open(twice, evaluation=0).map()
    before = evaluations(Run.open(twice))[0].path
    path = before / ("training.latent.npy" if damage == "vectors" else "training.parquet")
    path.write_bytes(path.read_bytes()[:50])
    made = Population.open(twice, evaluation=1).make_map()
    assert np.isfinite(made.positions).all()
    assert any("Not aligned to the map of evaluation 0" in note for note in made.notes)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_places_of_an_earlier_map_that_are_none_are_not_taken(twice: Path, value: float) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    Population.open(twice, evaluation=0).map()
    path = evaluations(Run.open(twice))[0].path / "joint.map.latent.parquet"
    table = pq.read_table(path)
    column = pa.array(np.full(table.num_rows, value, np.float32))
    pq.write_table(table.set_column(1, "x", column).replace_schema_metadata(table.schema.metadata), path)
    assert np.isfinite(Population.open(twice, evaluation=1).map()).all()


def test_clusters_are_those_of_the_map_that_is_shown(twice: Path) -> None:
    def clusters() -> list[int]:
        [part] = [one for one in analyze(Population.open(twice, evaluation=1)) if one.analysis == "clusters"]
        return [-1 if one is None else int(one) for one in part.tables["clusters"]["cluster"].to_pylist()]

    alone = clusters()
    Population.open(twice, evaluation=0).map(seed=0)
    aligned = Population.open(twice, evaluation=1)
    assert clusters() == aligned.clusters().labels.tolist() != alone


def test_an_earlier_map_of_other_samples_is_not_taken(twice: Path) -> None:
    import pyarrow as pa

    origin = open_origin(twice, number=0)
    table = pa.table({"sample": ["x", "y"], "x": np.zeros(2, np.float32), "y": np.ones(2, np.float32)})
    origin.keep(MAP, {}, table)
    assert np.isfinite(Population.open(twice, evaluation=1).map()).all()


REPEATED = """
import sys
import numpy as np
import torch
from cutaway.analysis import Population
from tests.unit.analysis.kinds import KINDS
torch.set_num_threads(1)
kind = KINDS["series"]()
with Population.open(sys.argv[1], dataset=kind.dataset, model=kind.model) as population:
    print(population.map(seed=3).tobytes().hex())
    print(population.map("tsne", seed=3).tobytes().hex())
    print(population.clusters(seed=3).labels.tolist(), population.clusters("kmeans", seed=3).labels.tolist())
    print(population.balanced("label", 9, seed=3).ids)
    [rise] = population.heat_maps(0, "rise", seed=3)
    print(rise.values.tobytes().hex(), rise.sanity)
"""


@pytest.mark.slow
def test_whatever_is_drawn_at_random_repeats_with_its_seed_in_another_process(tmp_path: Path) -> None:
    said = []
    for number in range(2):
        folder, _ = evaluated_kind("series", tmp_path / f"run{number}")
        done = subprocess.run(
            [sys.executable, "-c", REPEATED, str(folder)],
            capture_output=True,
            text=True,
            check=False,
            cwd=Path(__file__).parents[4],
        )
        assert done.returncode == 0, done.stderr
        said.append(done.stdout)
    assert said[0] == said[1]
    assert len(said[0].splitlines()) == 5


def test_kinds_repeat() -> None:
    """The test above compares two models: they have to be one."""
    one, other = KINDS["series"](), KINDS["series"]()
    assert bool((one.model[0].weight == other.model[0].weight).all())


LARGE = """
import resource
import sys
import numpy as np
import torch
from cutaway.analysis import Population, analyze
from cutaway.dataset import Dataset
from cutaway.evaluation import evaluate
chance = np.random.default_rng(0)
labels = chance.integers(0, 10, 60_000)
vectors = (chance.normal(size=(10, 128))[labels] * 2 + chance.normal(size=(60_000, 128))).astype(np.float32)
network = torch.nn.Sequential(torch.nn.Linear(128, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10)).eval()
evaluate(Dataset.from_arrays(vectors, labels), network, sys.argv[1], keep_model=False)
population = Population.open(sys.argv[1])
list(analyze(population))
population.similar(0)
population.plot().png()
population.plot().html()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.slow
def test_sixty_thousand_samples_fit_in_4_gb(tmp_path: Path) -> None:
    command = [sys.executable, "-c", LARGE, str(tmp_path / "run")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout.split()[-1]) * 1024 < 4e9
