"""A population of a run: what it holds, what is kept, and that a rerun goes on."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from cutaway.analysis import Population, analyze
from cutaway.analysis.filters import Filter
from cutaway.analysis.heat_maps.choosing import MethodChoice, choose_method
from cutaway.analysis.population import map as maps
from cutaway.dataset import Dataset
from cutaway.errors import AnalysisUnavailable, BindingError, ConfigurationError, EvaluationError
from cutaway.models import Model
from cutaway.run import Run

pytest.importorskip("onnxruntime")


def file_of(population: Population, name: str) -> Path:
    assert population.origin is not None
    return population.origin.evaluation.path / name


def test_samples_of_all_subsets_come_with_labels_predictions_and_facts(run_folder: Path) -> None:
    population = Population.open(run_folder)
    table = population.table
    assert len(population) == 420
    assert set(table["subset"].to_pylist()) == {"training", "validation"}
    assert {"label", "prediction", "correct", "loss", "metadata.brightness"} <= set(table.column_names)
    assert population.samples.classes == tuple("0123456789")
    assert "evaluation" not in population.table.column_names


def test_the_last_evaluation_is_taken_unless_another_is_named(run_folder: Path) -> None:
    assert Population.open(run_folder).origin.evaluation.number == 1  # type: ignore[union-attr]
    assert Population.open(run_folder, evaluation=0).origin.evaluation.number == 0  # type: ignore[union-attr]
    with pytest.raises(EvaluationError, match="It has 0, 1"):
        Population.open(run_folder, evaluation=7)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"subsets": ["trainig"]}, "Did you mean 'training'"),
        ({"space": "latnt"}, "Did you mean 'latent'"),
        ({"prediction": "nothing"}, "There is no prediction 'nothing'"),
        ({"space": "latent", "layers": ["0"]}, "Give one of them"),
    ],
)
def test_what_is_not_there_is_said_with_what_is(run_folder: Path, arguments: dict, message: str) -> None:
    with pytest.raises((EvaluationError, ConfigurationError), match=message):
        Population.open(run_folder, **arguments)


def test_a_run_without_an_evaluation_says_what_to_run(tmp_path: Path) -> None:
    Run.create(tmp_path / "empty")
    with pytest.raises(EvaluationError, match="run `cutaway evaluate`"):
        Population.open(tmp_path / "empty")


def test_a_map_is_kept_and_read_again(run_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Population.open(run_folder, subsets=["validation"])
    positions = first.map()
    table = pq.read_table(file_of(first, "validation.map.latent.parquet"))
    assert table["sample"].to_pylist() == first.ids
    monkeypatch.setattr(maps, "make_map", lambda *a, **k: pytest.fail("it was kept"))
    again = Population.open(run_folder, subsets=["validation"]).make_map()
    np.testing.assert_array_equal(again.positions, positions)
    assert again.trustworthiness is not None
    assert again.trustworthiness > 0.9


def test_another_seed_is_another_map(run_folder: Path) -> None:
    population = Population.open(run_folder, subsets=["validation"])
    assert not np.allclose(population.map(seed=0), population.map(seed=1))
    np.testing.assert_array_equal(
        population.map(seed=0), Population.open(run_folder, subsets=["validation"]).map(seed=0)
    )


def test_a_damaged_map_is_made_anew(run_folder: Path) -> None:
    population = Population.open(run_folder, subsets=["validation"])
    positions = population.map()
    path = file_of(population, "validation.map.latent.parquet")
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    np.testing.assert_array_equal(Population.open(run_folder, subsets=["validation"]).map(), positions)


def test_the_map_of_a_later_evaluation_is_aligned_to_the_earlier_one(run_folder: Path) -> None:
    before = Population.open(run_folder, evaluation=0).map()
    after = Population.open(run_folder, evaluation=1).make_map()
    alone = Population.open(run_folder, evaluation=1).make_map(align=False)
    width = np.ptp(before, axis=0).max()
    moved = [np.median(np.linalg.norm(one - before, axis=1)) / width for one in (after.positions, alone.positions)]
    assert any("Aligned to the map of evaluation 0" in note for note in after.notes)
    assert moved[0] < 0.5 * moved[1]


def test_some_rows_of_a_run_keep_nothing(run_folder: Path) -> None:
    population = Population.open(run_folder)
    some = population.where("metadata.odd = yes", "subset = validation")
    assert 0 < len(some) < 120
    some.map()
    assert not list(file_of(population, ".").glob("*.map.*"))


def test_balanced_samples_have_as_many_of_each_class(run_folder: Path) -> None:
    some = Population.open(run_folder).balanced("label", 50)
    counts = np.unique(some.table["label"].to_pylist(), return_counts=True)[1]
    assert (len(some), counts.min(), counts.max()) == (50, 5, 5)


def test_similar_samples_are_found_by_id_row_region_and_vector(run_folder: Path) -> None:
    population = Population.open(run_folder)
    by_row = population.similar(3, 5)
    assert by_row.equals(population.similar(population.ids[3], 5))
    assert by_row.column_names[:2] == ["sample", "distance"]
    assert population.ids[3] not in by_row["sample"].to_pylist()
    vector = population.similar(population.samples.latents[3], 6)
    assert vector["sample"].to_pylist()[0] == population.ids[3]
    x, y = population.map()[3]
    inside = population.in_region(np.array([[x - 1e-3, y - 1e-3], [x + 1e-3, y + 1e-3]]))
    assert population.ids[3] in inside.ids
    nines = population.similar(3, 5, where=["label = 9"])
    assert nines["label"].to_pylist() == ["9"] * 5


def test_an_unknown_sample_offers_near_ones(run_folder: Path) -> None:
    population = Population.open(run_folder)
    with pytest.raises(ConfigurationError, match="There is no sample 'training/0x'"):
        population.similar("training/0x")
    with pytest.raises(ConfigurationError, match="no row 420"):
        population.similar(420)


def test_similars_of_a_new_input_go_through_the_model(run_folder: Path, dataset: Callable[[], Dataset]) -> None:
    from cutaway.dataset.enums import Role

    data = dataset()
    image = data.subsets["validation"].encode(Role.INPUT, "input", 17)
    with Population.open(run_folder, dataset=data) as population:
        found = population.similar_to_input(image, 3).table
    assert found["sample"].to_pylist()[0] == "validation/17"
    assert found["distance"].to_pylist()[0] < 1e-3


def test_new_samples_are_placed_where_their_like_are(run_folder: Path) -> None:
    population = Population.open(run_folder)
    placed = population.place(population.samples.latents[:20])
    width = np.ptp(population.map(), axis=0).max()
    assert np.median(np.linalg.norm(placed - population.map()[:20], axis=1)) < 0.05 * width


def test_units_behind_an_answer_add_up_to_its_score(run_folder: Path, dataset: Callable[[], Dataset]) -> None:
    with Population.open(run_folder, dataset=dataset()) as population:
        found = population.units_of(0, top=16)
        reopened = population.origin.reopened()  # type: ignore[union-attr]
        bias = found.supporting + found.opposing  # type: ignore[operator]
        score = population.heat_maps(0, "occlusion", sanity=False)[0].score
    assert found.method == "contribution"
    assert reopened is not None
    # The head is linear: what is left over is its bias.
    assert abs(score - bias) < 1.0


def test_heat_maps_are_kept_with_their_figures(
    run_folder: Path, dataset: Callable[[], Dataset], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Population.open(run_folder, dataset=dataset()) as population:
        made = population.heat_maps("validation/3", "integrated_gradients", target=["3", "8"])
    assert [one.target for one in made] == [3, 8]
    assert all(one.sanity is not None and len(one.sanity.random) == 20 for one in made)
    assert all(one.completeness is not None and one.completeness < 0.05 for one in made)
    # Neither the data set nor the model is there: the maps were kept.
    again = Population.open(run_folder).heat_maps("validation/3", "integrated_gradients", target=["3", "8"])
    np.testing.assert_array_equal(again[1].values, made[1].values)
    assert again[0].sanity == made[0].sanity
    with pytest.raises(BindingError, match="Give the data set again"):
        Population.open(run_folder).heat_maps("validation/3", "occlusion")


def test_the_method_is_chosen_once_for_the_model_and_kept(
    run_folder: Path, dataset: Callable[[], Dataset], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def counted(model: Model, batch: Any, **more: Any) -> MethodChoice:
        asked.append(len(next(iter(batch.values()))))
        return choose_method(model, batch, **more)

    monkeypatch.setattr("cutaway.analysis.population.heat_map_choice.choose_method", counted)
    with Population.open(run_folder, dataset=dataset()) as population:
        made = [population.heat_maps(f"validation/{i}", sanity=False)[0] for i in range(3)]
    assert asked == [12]
    assert len({(one.method, one.notes[-1]) for one in made}) == 1
    assert f"{made[0].method} was chosen: on 12 samples it does 0." in made[0].notes[-1]
    [kept] = run_folder.rglob("joint.heat_maps_choice_*.npz")
    kept.write_bytes(b"damaged")
    with Population.open(run_folder, dataset=dataset()) as population:
        again = population.heat_maps("validation/9", sanity=False)[0]
    assert asked == [12, 12]
    assert again.method == made[0].method


@pytest.mark.slow
def test_another_baseline_is_another_map(run_folder: Path, dataset: Callable[[], Dataset]) -> None:
    with Population.open(run_folder, dataset=dataset()) as population:
        # Of what is tried in turn, the first method that has a baseline.
        (grey,) = population.heat_maps("validation/3", baseline="mean", sanity=False)
        (black,) = population.heat_maps("validation/3", baseline="zero", sanity=False)
        with pytest.raises(ConfigurationError, match="baseline"):
            population.heat_maps("validation/3", "grad_cam", baseline="mean")
    assert grey.method == black.method == "integrated_gradients"
    assert not np.allclose(grey.values, black.values)


def test_a_heat_map_of_the_loss_is_signed(run_folder: Path, dataset: Callable[[], Dataset]) -> None:
    with Population.open(run_folder, dataset=dataset()) as population:
        (made,) = population.heat_maps("validation/3", "integrated_gradients", loss=True, sanity=False)
    assert made.signed
    assert made.loss == "CategoricalCrossentropyFromLogits"


def test_everything_that_applies_is_done_and_a_rerun_reads_it(
    run_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = {part.analysis: part for part in analyze(Population.open(run_folder))}
    assert set(first) == {
        "map", "clusters", "class distances", "units", "curve", "confusion", "batches", "mislabeled", "ambiguous",
        "duplicates", "leakage", "outliers", "to label", "insights",
    }  # fmt: skip
    assert first["batches"].reason
    assert first["map"].words[-1].startswith("joint: 420 samples")
    for name in ("find_clusters", "unit_table", "confusion", "curve", "population_distances"):
        monkeypatch.setattr(
            f"cutaway.analysis.population.population.{name}", lambda *a, **k: pytest.fail("it was kept")
        )
    for name in ("labels.find_mislabeled", "doubles.find_duplicates", "insights.find_insights"):
        monkeypatch.setattr(f"cutaway.analysis.{name}", lambda *a, **k: pytest.fail("it was kept"))
    again = {part.analysis: part for part in analyze(Population.open(run_folder))}
    assert {name: part.words for name, part in again.items()} == {name: part.words for name, part in first.items()}
    assert again["units"].tables["units"].equals(first["units"].tables["units"])


def test_what_was_done_before_a_kill_is_not_done_again(run_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def dies(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("cutaway.analysis.population.population.unit_table", dies)
        with pytest.raises(KeyboardInterrupt):
            list(analyze(Population.open(run_folder)))
    times = {
        path.name: path.stat().st_mtime_ns for path in file_of(Population.open(run_folder), ".").glob("*.*.parquet")
    }
    assert "joint.clusters.latent.parquet" in times
    assert "joint.units.latent.parquet" not in times
    list(analyze(Population.open(run_folder)))
    after = {
        path.name: path.stat().st_mtime_ns for path in file_of(Population.open(run_folder), ".").glob("*.*.parquet")
    }
    assert {name: after[name] for name in times} == times
    assert "joint.units.latent.parquet" in after


def test_layers_make_a_latent_space(run_folder: Path, dataset: Callable[[], Dataset]) -> None:
    with Population.open(run_folder, dataset=dataset(), evaluation=1) as population:
        layers = [layer.name for layer in population.origin.reopened().model.layers]  # type: ignore[union-attr]
    chosen = layers[:2]
    joined = Population.open(run_folder, layers=chosen, dataset=dataset())
    assert joined.origin.space == "+".join(chosen)  # type: ignore[union-attr]
    assert joined.map().shape == (420, 2)
    # It is there now: neither data set nor model is needed.
    assert Population.open(run_folder, space="+".join(chosen)).samples.latents.shape == joined.samples.latents.shape


def test_a_figure_of_the_map_has_the_previews_of_the_run(run_folder: Path, tmp_path: Path) -> None:
    figure = Population.open(run_folder, subsets=["validation"]).plot()
    figure.save(tmp_path / "map.png")
    page = figure.html(tmp_path / "map.html")
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")
    assert "data:image/png" in page or "iVBOR" in page
    assert figure._repr_png_()


def test_nothing_is_left_in_the_process(run_folder: Path) -> None:
    import torch

    before = torch.get_num_threads(), torch.random.get_rng_state().sum(), np.random.get_state()[1].sum(), os.getcwd()  # noqa: PTH109
    population = Population.open(run_folder)
    population.map()
    population.clusters()
    after = torch.get_num_threads(), torch.random.get_rng_state().sum(), np.random.get_state()[1].sum(), os.getcwd()  # noqa: PTH109
    assert before == after


def test_analyses_without_labels_say_why(tmp_path: Path) -> None:
    population = Population.from_arrays(np.random.default_rng(0).normal(size=(40, 4)))
    reasons = {one.analysis: one.reason for one in population.applies()}
    assert reasons["map"] == reasons["similar"] == reasons["clusters"] == ""
    assert "no labels" in reasons["class distances"]
    with pytest.raises(AnalysisUnavailable, match="no labels"):
        population.class_distances()
    with pytest.raises(AnalysisUnavailable, match="no model"):
        population.heat_maps(0)


class TestConditionsOnText:
    """A condition that means something selects it; one that can select nothing says what there is."""

    @pytest.mark.parametrize(
        "condition",
        [
            "label in (4,9)",
            "label in 4,9",
            "label in ['4', '9']",
            Filter("label", "in", (4, 9)),
            Filter("label", "in", (4.0, 9.0)),
        ],
    )
    def test_numbers_mean_the_labels_of_their_names(self, run_folder: Path, condition: str | Filter) -> None:
        population = Population.open(run_folder)
        chosen = population.where(condition)
        wanted = [one in ("4", "9") for one in population.table["label"].to_pylist()]
        assert len(chosen) == sum(wanted) > 0

    def test_a_value_that_no_sample_has_is_refused_with_those_that_there_are(self, run_folder: Path) -> None:
        population = Population.open(run_folder)
        with pytest.raises(
            ConfigurationError, match=r"No sample has 'trainin' in column 'subset'. Did you mean 'training'\? It holds"
        ):
            population.where("subset = trainin")
        with pytest.raises(ConfigurationError, match="No sample has '44' or '99' in column 'label'"):
            population.find_similar(0, where=["label in (44, 99)"])

    def test_a_part_may_lack_what_others_have(self, run_folder: Path) -> None:
        part = Population.open(run_folder).where("subset = training")
        assert len(part.where("subset = validation")) == 0

    def test_a_class_that_no_sample_has_is_a_class_all_the_same(self) -> None:
        population = Population.from_arrays(np.zeros((3, 2)), [0, 1, 0], np.eye(3)[[0, 1, 0]])
        assert len(population.where("label = 2")) == 0

    def test_conditions_with_not_hold_for_all_others(self, run_folder: Path) -> None:
        population = Population.open(run_folder)
        assert len(population.where("subset != trainin", "label not in (44, 99)")) == len(population)
