"""Real exports, written once for all tests."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from tests.frameworks.torch.networks import BATCHES, seeded

Export = Callable[..., Path]


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def export(tmp_path_factory: pytest.TempPathFactory) -> Export:
    """Return a function that exports a small network of torch's tests, by either exporter."""
    folder = tmp_path_factory.mktemp("exports")

    def exported(kind: type[torch.nn.Module], *, dynamo: bool, rows: int | None = None) -> Path:
        path = folder / f"{kind.__name__}-{'dynamo' if dynamo else 'legacy'}-{rows}.onnx"
        if not path.exists():
            batch = {name: torch.tensor(values[:rows]) for name, values in BATCHES[kind].items()}
            _write(seeded(kind), batch, path, dynamo=dynamo, free=rows is None)
        return path

    return exported


def _write(module: torch.nn.Module, batch: dict[str, torch.Tensor], path: Path, *, dynamo: bool, free: bool) -> None:
    free_dynamo = {name: {0: torch.export.Dim("rows")} for name in batch} if free and dynamo else None
    free_legacy = {name: {0: "rows"} for name in batch} if free and not dynamo else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        logging.getLogger("torch.onnx").setLevel(logging.ERROR)
        torch.onnx.export(
            module,
            tuple(batch.values()),
            path,
            input_names=list(batch),
            dynamo=dynamo,
            dynamic_shapes=free_dynamo,
            dynamic_axes=free_legacy,
            verbose=False,
        )
