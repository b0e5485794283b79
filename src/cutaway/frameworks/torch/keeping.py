"""Keeps a copy of a live module that can be asked later: a `.pt2` file, an ONNX file where that fails, or the reason.

Every copy is opened by our own reader and asked for a prediction before it counts. The module is left as it was.
"""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import torch

from cutaway import registry
from cutaway.frameworks.torch.arguments import call_arguments, tensors_of
from cutaway.frameworks.torch.calls import as_in_prediction
from cutaway.frameworks.torch.model import wrap
from cutaway.frameworks.torch.names import unwrap
from cutaway.models.backend import Arrays, Backend
from cutaway.models.description import KeptModel

__all__ = ["keep"]

# What the copy's arithmetic may differ by, beside the largest value. GPUs multiply in TensorFloat-32, copies do not.
_CLOSE = 1e-4
_CLOSE_TO_GPU = 1e-2
_FIXED = "The copy takes batches of {rows} only, as the module could not be exported with an open batch size."


class _NotTheSame(Exception):
    """A copy that answers otherwise than the module."""


def keep(module: torch.nn.Module, batch: Arrays, folder: Path) -> KeptModel:
    """Write a copy of a module into a folder. `batch` is by name, as the module's inputs are.

    Never raises for a module that cannot be exported: `reason` then says why.
    """
    root = unwrap(module)
    # The exporter takes a batch of one for a size that is always one.
    several = {name: np.concatenate([values, values]) if len(values) == 1 else values for name, values in batch.items()}
    try:
        wanted = wrap(root, several).predict(several)
    except Exception as error:  # noqa: BLE001 - the user's own forward may raise anything
        return KeptModel(None, reason=f"{type(root).__name__} does not take the batch. {_first_line(error)}")
    folder.mkdir(parents=True, exist_ok=True)
    fixed = _FIXED.format(rows=len(next(iter(several.values()))))
    ways: list[tuple[str, str, Callable[[Path], None]]] = [
        ("pt2", "", lambda path: _export(root, several, path, fixed=False)),
        ("pt2", fixed, lambda path: _export(root, several, path, fixed=True)),
        ("onnx", "", lambda path: _export_onnx(root, several, list(wanted), path)),
    ]
    on_cpu = all(parameter.device.type == "cpu" for parameter in root.parameters())
    close = _CLOSE if on_cpu else _CLOSE_TO_GPU
    reasons = []
    for format_name, note, write in ways:
        try:
            path = _proven(folder, format_name, write, lambda copy: _compare(copy, several, wanted, close))
        except Exception as error:  # noqa: BLE001 - exporters raise anything, and a missing copy must not end anything
            reasons.append(f"{format_name}: {_first_line(error)}")
        else:
            return KeptModel(path, format_name, notes=(note,) if note else ())
    return KeptModel(None, reason=f"{type(root).__name__} cannot be exported. {' '.join(dict.fromkeys(reasons))}")


def _proven(folder: Path, format_name: str, write: Callable[[Path], None], prove: Callable[[Backend], None]) -> Path:
    """Write a file beside its place, ask it the same, and put it in its place once it answers the same."""
    draft, path = folder / f"unproven.{format_name}", folder / f"model.{format_name}"
    try:
        with _quiet():
            write(draft)
        copy: Backend = registry.load("model_formats", format_name)(draft, trust=False, custom_layers={})
        try:
            prove(copy)
        finally:
            copy.close()
        return draft.replace(path)
    finally:
        for left in folder.glob("unproven.*"):
            left.unlink()


@contextmanager
def _quiet() -> Iterator[None]:
    """Leave unsaid what exporters say to people who export by hand; a reason comes with the exception."""
    loggers = [logging.getLogger(name) for name in ("torch", "torch.fx", "torch.onnx", "torch.export", "onnxscript")]
    levels = [logger.level for logger in loggers]
    try:
        for logger in loggers:
            logger.setLevel(logging.CRITICAL)
        # An exporter that fails prints the graph as far as it came.
        with warnings.catch_warnings(), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _export(root: torch.nn.Module, batch: Arrays, path: Path, *, fixed: bool) -> None:
    positional, keywords = call_arguments(root, tensors_of(root, batch))
    names = [name for name in batch if name not in keywords]
    shapes = None if fixed else {name: {0: torch.export.Dim.DYNAMIC} for name in [*names, *keywords]}
    with torch.no_grad(), as_in_prediction(root):
        program = torch.export.export(root, tuple(positional), dict(keywords), dynamic_shapes=shapes)
    torch.export.save(program, str(path))


def _export_onnx(root: torch.nn.Module, batch: Arrays, outputs: list[str], path: Path) -> None:
    """Through torch.export as well: tracing would take one branch of the model's code for all samples, unsaid."""
    positional, keywords = call_arguments(root, tensors_of(root, batch))
    with torch.no_grad(), as_in_prediction(root):
        torch.onnx.export(
            root,
            tuple(positional),
            str(path),
            kwargs=dict(keywords) or None,
            input_names=list(batch),
            output_names=outputs,
            dynamic_shapes={name: {0: torch.export.Dim.DYNAMIC} for name in batch},
            external_data=False,
            dynamo=True,
            verbose=False,
        )


def _compare(copy: Backend, batch: Arrays, wanted: Arrays, close: float) -> None:
    inputs = {spec.name: np.asarray(batch[spec.name], dtype=spec.dtype) for spec in copy.description.inputs}
    got = copy.predict(inputs)
    for name, values in wanted.items():
        if name not in got or got[name].shape != values.shape:
            raise _NotTheSame(f"the copy does not answer {name!r} as the module does")
        largest = max(float(np.abs(values).max(initial=0)), 1e-30)
        difference = float(np.abs(got[name].astype(np.float64) - values).max(initial=0))
        if not difference <= close * largest:
            raise _NotTheSame(f"the copy's {name!r} differs by {difference:.2g} where the largest is {largest:.2g}")


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:300] if lines else 'no message'}."
