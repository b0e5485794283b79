"""Networks of torch, in every format that torch writes: the same answers, layers, latent vectors and gradients."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from cutaway.models.backend import Backend
from cutaway.registry import load
from tests.matrix.matrix import Matrix, Source, cells, measure

torch = pytest.importorskip("torch")
from tests.matrix import torch_architectures as networks  # noqa: E402

FORMATS = ("live", ".pt2", ".onnx (dynamo)", ".onnx (legacy)")
MATRIX = Matrix("PyTorch", FORMATS)


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> None:
    torch.set_num_threads(1)


def exported(module: torch.nn.Module, batch: networks.Batch, kind: str, folder: Path) -> Backend:
    arguments = tuple(torch.from_numpy(values) for values in batch.values())
    rows = torch.export.Dim("rows", min=1, max=1024)
    path = folder / "model"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # exporters announce their own future
        if kind == ".pt2":
            program = torch.export.export(module, arguments, dynamic_shapes=tuple({0: rows} for _ in arguments))
            torch.export.save(program, path.with_suffix(".pt2"))
            return load("model_formats", "pt2")(path.with_suffix(".pt2"), trust=False, custom_layers={})
        names = list(batch)
        target = path.with_suffix(".onnx")
        if kind == ".onnx (dynamo)":
            shapes = tuple({0: rows} for _ in arguments)
            torch.onnx.export(
                module, arguments, target, input_names=names, dynamic_shapes=shapes, dynamo=True, verbose=False
            )
        else:
            axes = {name: {0: "rows"} for name in names}
            torch.onnx.export(module, arguments, target, input_names=names, dynamic_axes=axes, dynamo=False)
    return load("model_formats", "onnx")(target, trust=False, custom_layers={})


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("name", "kind"), cells(networks.ARCHITECTURES, FORMATS, whole="LSTM"))
def test_a_network_is_the_same_in_every_format(name: str, kind: str, tmp_path: Path) -> None:
    module, batch = networks.make(name)
    source = Source(batch, lambda b: networks.answers(module, b), lambda b: networks.input_gradient(module, b))
    live = kind == "live"
    backend = (
        load("model_objects", "torch")(module, list(batch(3).values()))
        if live
        else exported(module, batch(3), kind, tmp_path)
    )
    MATRIX.check_cell(name, kind, measure(backend, source).mark)
    backend.close()


@pytest.mark.slow
def test_the_page_says_what_was_found() -> None:
    if len(MATRIX.cells) < len(FORMATS) * len(networks.ARCHITECTURES):
        pytest.skip("not every cell was tried in this session")
    MATRIX.check_page()
