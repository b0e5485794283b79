"""Heat maps of ONNX files against captum's of the module that they were exported from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch

from cutaway import models
from cutaway.analysis.heat_maps.making import heat_map
from cutaway.errors import AnalysisUnavailable
from tests.frameworks.onnx.conftest import Export, _write
from tests.frameworks.torch.networks import BATCHES, Encoder, seeded
from tests.frameworks.torch.twins import IMAGES, METHODS, STRIDE, TARGETS, WINDOW, by_captum, twin

pytest.importorskip("captum")


@pytest.fixture(scope="module", params=[True, False], ids=["child", "here"])
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[models.Model]:
    path = tmp_path_factory.mktemp("twin") / "twin.onnx"
    _write(twin(), {"image": torch.tensor(IMAGES)}, path, dynamo=True, free=True)
    with models.load(path, trust=not request.param) as opened:
        yield opened


def values_of(maps: Any) -> Any:
    return np.stack([one.values if one.attribution is None else one.attribution for one in maps])


@pytest.mark.one_in(2)
@pytest.mark.parametrize("method", METHODS)
def test_an_export_has_captums_map_of_the_module(model: models.Model, method: str) -> None:
    windows = {"window": WINDOW, "stride": STRIDE} if method == "occlusion" else {}
    maps = heat_map(model, IMAGES, method=method, target=TARGETS, **windows)
    assert np.abs(values_of(maps) - by_captum(twin(), method)).max() < 1e-3


def test_tokens_go_by_a_layer_or_are_taken_away(export: Export) -> None:
    batch = BATCHES[Encoder]["tokens"]
    live = models.load(seeded(Encoder), example=batch)
    with models.load(export(Encoder, dynamo=True), trust=True) as file:
        for method in ("occlusion", "rise"):
            wanted, got = (values_of(heat_map(one, batch, method=method, masks=30)) for one in (live, file))
            assert np.abs(wanted - got).max() < 1e-3
        for method in ("grad_cam", "input_gradient"):
            assert values_of(heat_map(file, batch, method=method)).shape == batch.shape
        with pytest.raises(AnalysisUnavailable, match="whole numbers"):
            heat_map(file, batch, method="integrated_gradients")


def test_a_graph_without_gradients_says_which_methods_work(tmp_path: Path) -> None:
    helper = onnx.helper
    image = helper.make_tensor_value_info("image", onnx.TensorProto.FLOAT, ["rows", 1, 6, 6])
    scores = helper.make_tensor_value_info("scores", onnx.TensorProto.FLOAT, ["rows", 36])
    nodes = [
        helper.make_node("Flatten", ["image"], ["flat"]),
        helper.make_node("DynamicQuantizeLinear", ["flat"], ["bytes", "scale", "zero"]),
        helper.make_node("DequantizeLinear", ["bytes", "scale", "zero"], ["scores"]),
    ]
    graph = helper.make_graph(nodes, "bytes", [image], [scores])
    path = tmp_path / "bytes.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    batch = np.random.default_rng(0).random((2, 1, 6, 6)).astype(np.float32)
    with models.load(path, trust=True) as model:
        assert model.description.differentiable
        with pytest.raises(AnalysisUnavailable, match="These methods need no gradients: occlusion, rise"):
            heat_map(model, batch, method="integrated_gradients")
        found = heat_map(model, batch, method="occlusion", target=7, window=1, stride=1)[0].values
        assert np.unravel_index(found.argmax(), found.shape) == (1, 1)
        assert np.isfinite(heat_map(model, batch, method="rise", masks=30)[0].values).all()
