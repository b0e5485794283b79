"""Every operator gives what ONNX Runtime gives, and its gradient is what small differences show."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

import numpy as np
import pytest
import torch
from onnx import TensorProto
from torch import Tensor

from cutaway.frameworks.onnx.checking import CheckedModel
from cutaway.frameworks.onnx.graph import OnnxGraph
from cutaway.frameworks.onnx.operators import FAMILIES, WITHOUT_GRADIENT, find, known
from cutaway.frameworks.onnx.support import LIMITS, obstacle_to
from scripts.reference_onnx import LIMITED, onnx_page
from scripts.requirements import ROOT
from tests.frameworks.onnx.cases import CASES
from tests.frameworks.onnx.single import Array, Case, expected, model_of

CLOSE = 1e-5
torch.set_num_threads(1)


def answers(case: Case, inputs: list[Tensor | None]) -> list[Tensor]:
    """What our operator makes of the inputs."""
    (node,) = OnnxGraph.of(CheckedModel(model_of(case))).nodes
    found = find(case.kind)(node, *inputs)
    return list(found) if isinstance(found, tuple | list) else [found]


def tensors(case: Case, dtype: str | None = None) -> list[Tensor | None]:
    return [None if one is None else torch.tensor(_as(one, dtype)) for one in case.inputs]


def _as(values: Array, dtype: str | None) -> Array:
    return values.astype(dtype) if dtype and values.dtype == np.float32 else values


@pytest.mark.parametrize("case", CASES, ids=str)
def test_an_operator_gives_what_onnx_runtime_gives(case: Case) -> None:
    assert not obstacle_to(OnnxGraph.of(CheckedModel(model_of(case))), "y0")
    wanted = expected(case)
    got = answers(case, tensors(case))[: len(wanted)]
    assert len(got) == len(wanted)
    for ours, theirs in zip(got, wanted, strict=True):
        assert tuple(ours.shape) == theirs.shape
        assert np.dtype(str(ours.dtype).removeprefix("torch.")) == theirs.dtype
        if theirs.dtype.kind != "f":
            assert np.array_equal(ours.numpy(), theirs)
        elif theirs.size:
            assert np.abs(ours.numpy() - theirs).max() <= CLOSE * max(np.abs(theirs).max(), 1e-6)


def _steps(case: Case, place: int) -> bool:
    """Whether the answer is a step function of that input, or has no derivative by it."""
    if case.kind in ("Cast", "CastLike"):
        return case.attributes.get("to") != TensorProto.DOUBLE
    base = case.inputs[0]
    if case.kind == "Pow":
        return place == 1 and base is not None and bool((base < 0).any())
    return case.kind == "GridSample" and place == 1 and case.attributes["mode"] == "nearest"


# Inputs that steer an operator rather than being its values.
STEERING = {("Pad", 2), ("Resize", 1), ("Resize", 2), ("Upsample", 1), ("Range", 0)}
DIFFERENTIABLE = [
    (case, place)
    for case in CASES
    for place, one in enumerate(case.inputs)
    if case.kind not in WITHOUT_GRADIENT
    and (case.kind, place) not in STEERING
    and one is not None
    and one.dtype == np.float32
    and one.size
    and not _steps(case, place)
]


@pytest.mark.parametrize(("case", "place"), DIFFERENTIABLE, ids=str)
def test_its_gradient_is_what_small_differences_show(case: Case, place: int) -> None:
    inputs = tensors(case, "float64")
    leaf = inputs[place]
    assert leaf is not None
    before = answers(case, inputs)
    floating = [i for i, one in enumerate(before) if one.is_floating_point()]
    generator = torch.Generator().manual_seed(1)
    weights = [torch.rand(one.shape, generator=generator, dtype=torch.float64) for one in before]

    def along(x: Tensor) -> Tensor:
        outputs = answers(case, [*inputs[:place], x, *inputs[place + 1 :]])
        return torch.stack([(outputs[i].double() * weights[i]).sum() for i in floating]).sum()

    assert _agrees(along, leaf)


def _agrees(function: Callable[[Tensor], Tensor], x: Tensor) -> bool:
    """Along three random directions the derivative is the difference quotient."""
    x = x.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(function(x), [x])
    assert gradient.abs().max() > 0
    generator = torch.Generator().manual_seed(2)
    step = 1e-6
    for _ in range(3):
        direction = torch.randn(x.shape, generator=generator, dtype=torch.float64)
        with torch.no_grad():
            quotient = (function(x + step * direction) - function(x - step * direction)) / (2 * step)
        if not torch.allclose(quotient, (gradient * direction).sum(), rtol=1e-4, atol=1e-6):
            return False
    return True


def test_the_table_of_names_is_what_the_modules_have() -> None:
    for family, kinds in FAMILIES.items():
        module = import_module(f"cutaway.frameworks.onnx.operators.{family}")
        assert tuple(sorted(module.OPERATORS)) == tuple(sorted(kinds))


def test_the_page_of_operators_is_current_and_names_every_limit() -> None:
    assert (ROOT / "docs" / "reference" / "onnx-operators.md").read_text(encoding="utf-8") == onnx_page()
    assert set(LIMITED) == set(LIMITS)


def test_every_operator_has_a_case() -> None:
    assert {case.kind for case in CASES} == {kind for kinds in FAMILIES.values() for kind in kinds}
    assert all(map(known, WITHOUT_GRADIENT | set(LIMITS)))
