"""Heat maps of exported programs, in a process of their own, against those of the live module they came from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from cutaway import models
from cutaway.analysis.heat_maps.making import heat_map
from tests.frameworks.torch.exporting import exported
from tests.frameworks.torch.networks import BATCHES, CNN, seeded

METHODS = ("grad_cam", "layer_cam", "integrated_gradients", "input_gradient", "occlusion", "rise")


@pytest.fixture(scope="module", params=[False, True], ids=["free", "fixed"])
def file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[models.Model]:
    """A program that takes any number of samples, and one that takes five only."""
    path: Path = exported(CNN, tmp_path_factory.mktemp("programs"), fixed=request.param)
    with models.load(path) as model:
        yield model


@pytest.mark.one_in(2)
@pytest.mark.parametrize("method", METHODS)
def test_a_file_gets_the_maps_of_the_module(file: models.Model, method: str) -> None:
    batch = BATCHES[CNN]["image"][:3]
    live = models.load(seeded(CNN), example=batch)
    wanted, got = (heat_map(model, batch, method=method, masks=40) for model in (live, file))
    assert [one.target for one in got] == [one.target for one in wanted]
    assert np.abs(np.stack([a.values - b.values for a, b in zip(wanted, got, strict=True)])).max() < 1e-5
