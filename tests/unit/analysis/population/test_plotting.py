"""Figures of a population: previews that are asked for, titles, and what cannot be drawn."""

from __future__ import annotations

from pathlib import Path

import pytest

from cutaway.analysis import Population, analyze
from cutaway.analysis.population import plotting as plots
from cutaway.analysis.population.whole import figures_of_part
from cutaway.errors import AnalysisUnavailable
from tests.unit.analysis.kinds import evaluated_kind

pytest.importorskip("torch")
PNG = b"\x89PNG"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return evaluated_kind("probabilities", tmp_path_factory.mktemp("plots") / "run")[0]


def test_previews_are_those_of_the_samples_that_are_asked_for(folder: Path) -> None:
    population = Population.open(folder)
    assert len(plots.previews_of(population)) == 90
    some = plots.previews_of(population, ["training/3", "validation/0", "nobody"])
    assert set(some) == {"training/3", "validation/0"}
    assert all(png.startswith(PNG) for png in some.values())
    alone = Population.open(folder, subsets=["validation"])
    assert set(plots.previews_of(alone)) == set(alone.ids)
    assert set(plots.previews_of(population.where("subset = training"), ["validation/0"])) == set()


def test_arrays_have_no_previews() -> None:
    assert plots.previews_of(Population.from_arrays([[0.0, 1.0]])) == {}  # type: ignore[arg-type]


def test_every_part_of_the_whole_has_figures(folder: Path, tmp_path: Path) -> None:
    population = Population.open(folder)
    drawn = 0
    for part in analyze(population):
        figures = figures_of_part(population, part)
        # Nothing that was found is nothing to draw; insights are sentences.
        found = any(table.num_rows for table in part.tables.values())
        assert bool(figures) == (found and part.analysis not in ("class distances", "insights"))
        for number, draw in enumerate(figures.values()):
            figure = draw()
            assert figure.png().startswith(PNG)
            assert figure.save(tmp_path / f"{part.analysis}{number}.html").stat().st_size > 1000
            drawn += 1
    assert drawn == 12


def test_a_title_counts_the_samples_of_each_subset(folder: Path) -> None:
    assert "run: 60 training, 30 validation" in Population.open(folder).plot().html()


def test_similar_samples_and_distances_are_drawn(folder: Path) -> None:
    population = Population.open(folder)
    found = population.find_similar("training/0", 5)
    assert plots.plot_similar(population, ["training/0"], found, "Near").png().startswith(PNG)
    assert plots.plot_distances(population, population.distances(), 0).png().startswith(PNG)


def test_distances_to_many_classes_are_not_drawn(tmp_path: Path) -> None:
    population = Population.open(evaluated_kind("ten_thousand_classes", tmp_path / "run")[0])
    with pytest.raises(AnalysisUnavailable, match="10,000 classes are too many"):
        plots.plot_distances(population, population.distances(), 0)


def test_chosen_samples_stand_out(folder: Path) -> None:
    population = Population.open(folder)
    assert population.plot(selected=["training/0", 3]).html() != population.plot().html()
