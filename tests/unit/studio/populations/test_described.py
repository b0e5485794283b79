"""Columns of very many samples are described by some of them, and by what the files say of all."""

from __future__ import annotations

from pathlib import Path

import pytest

from cutaway.run.evaluated import glimpse
from cutaway.studio.populations import described
from cutaway.studio.wire.population import PopulationColumn
from tests.unit.studio.a_population import make
from tests.unit.studio.one_run import studio_of

SAMPLES = 60_000


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("large")
    make(folder, samples=SAMPLES)
    return folder


def columns_of(root: Path) -> tuple[dict[str, PopulationColumn], int]:
    with studio_of(root) as asked:
        found = asked.data("made", "/population")
        return {one["name"]: PopulationColumn(**one) for one in found["columns"]}, found["looked_at"]


def test_what_files_tell_of_all_samples_is_exact_and_the_rest_is_near(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, all_of_them = columns_of(root)
    for module in (glimpse, described):
        monkeypatch.setattr(module, "LARGE", 40_000)
    some, looked_at = columns_of(root)
    assert all_of_them == SAMPLES
    assert 10_000 < looked_at < SAMPLES
    assert list(some) == list(whole)
    for name, column in some.items():
        assert (column.kind, column.group, column.values) == (whole[name].kind, whole[name].group, whole[name].values)
        if name not in ("correct", "probability"):
            assert (column.missing, column.min, column.max) == (whole[name].missing, whole[name].min, whole[name].max)
        assert column.strength == pytest.approx(whole[name].strength, abs=0.05)
