"""Values, shapes and the errors that say why there are none."""

from __future__ import annotations

import mmap
import uuid
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

from cutaway.errors import (
    InvalidWorker,
    NoMoreData,
    RunFormatError,
    ShapeUnavailableForStep,
    StepNotYetAvailable,
    StepUnavailable,
    TensorUnavailable,
    TensorUnavailableForStep,
)
from cutaway.tensors import modes
from cutaway.trial import Tensor, create_trial
from tests.unit.trial.conftest import Write, Writing

NAME = "Net_fc.weight"
DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64", "complex64")


def _array(step: int) -> npt.NDArray[np.float32]:
    return np.arange(6, dtype=np.float32).reshape(2, 3) + step


def _tensor(writing: Writing, name: str = NAME) -> Tensor:
    return create_trial(writing.run.path).tensor(name)


@pytest.mark.parametrize("closed", [True, False], ids=["finished", "running"])
@given(data=st.data())
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_values_come_back_bit_for_bit(write: Write, closed: bool, data: st.DataObject) -> None:
    shapes = st_numpy.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
    kinds = st.sampled_from(DTYPES)
    arrays = data.draw(st.lists(st_numpy.arrays(kinds, shapes), min_size=1, max_size=5))
    writing = write(f"run-{uuid.uuid4().hex}")
    named = {f"tensor_{i}": array for i, array in enumerate(arrays)}
    for step in range(3):
        writing.step(step, named)
    if closed:
        writing.close()
    trial = create_trial(writing.run.path)
    for name, array in named.items():
        value = trial.tensor(name).value(2)
        assert value.dtype == array.dtype
        assert value.shape == array.shape
        assert value.tobytes() == array.tobytes()
        assert trial.tensor(name).dtype(2) == str(array.dtype)


def test_a_value_cannot_be_written_to(write: Write) -> None:
    writing = write()
    arrays = {NAME: _array(0), "large": np.ones((100, 100), np.float64), "empty": np.ones((0, 3))}
    writing.step(0, arrays)
    growing = [_tensor(writing, name).value(0) for name in arrays]
    writing.close()
    finished = [_tensor(writing, name).value(0) for name in arrays]
    for value in (*growing, *finished):
        with pytest.raises(ValueError, match="read-only"):
            value[...] = 1
    assert isinstance(finished[1].base.base.obj, mmap.mmap)  # in place, where it lies in the file


def test_bfloat16_comes_as_float32_and_its_type_is_told(write: Write) -> None:
    writing = write()
    numbers = np.array([1.0, -2.5, 3e38, np.inf, 0.0], np.float32)
    bits = (numbers.view(np.uint32) >> 16).astype(np.uint16)
    writing.tensors(0, {NAME: bits}, dtypes={NAME: "bfloat16"})
    writing.listed(0)
    tensor = _tensor(writing)
    expected = (bits.astype(np.uint32) << 16).view(np.float32)
    assert tensor.value(0).dtype == np.float32
    np.testing.assert_array_equal(tensor.value(0), expected)
    assert tensor.dtype(0) == "bfloat16"


def test_a_type_that_numpy_does_not_have_is_said(write: Write) -> None:
    writing = write()
    writing.tensors(0, {NAME: np.zeros(3, np.uint8)}, dtypes={NAME: "float8_e4m3fn"})
    writing.listed(0)
    with pytest.raises(RunFormatError, match="float8_e4m3fn"):
        _tensor(writing).value(0)


def test_values_are_read_in_their_modes_numbering(write: Write) -> None:
    writing = write()
    for step in range(6):
        mode = "EVAL" if step % 2 else "TRAIN"
        writing.step(step, {NAME: _array(step)}, mode=mode, mode_step=step // 2)
    tensor = _tensor(writing)
    assert tensor.steps() == [0, 1, 2, 3, 4, 5]
    assert tensor.steps(modes.EVAL) == [0, 1, 2]
    np.testing.assert_array_equal(tensor.value(1, modes.EVAL), _array(3))
    np.testing.assert_array_equal(tensor.value(1, mode="train"), _array(2))
    assert {step: value[0, 0] for step, value in tensor.values(modes.EVAL).items()} == {0: 1, 1: 3, 2: 5}
    assert sorted(tensor.values()) == [0, 1, 2, 3, 4, 5]


def test_previous_steps_include_the_step_and_ascend(write: Write) -> None:
    writing = write()
    for step in (0, 10, 20, 30):
        writing.step(step, {NAME: _array(step)})
    tensor = _tensor(writing)
    assert tensor.prev_steps(20, 2) == [10, 20]
    assert tensor.prev_steps(25, 2) == [10, 20]
    assert tensor.prev_steps(20) == [0, 10, 20]
    assert tensor.prev_steps(20, 99) == [0, 10, 20]
    assert tensor.prev_steps(20, 0) == []
    assert tensor.prev_steps(-1, 3) == []
    assert tensor.prev_steps(30, 1, modes.EVAL) == []


def test_shapes_are_those_of_each_step(write: Write) -> None:
    writing = write()
    writing.step(0, {NAME: np.zeros((2, 3)), "scalar": np.float32(3)})
    writing.step(1, {NAME: np.zeros((4, 0, 1)), "scalar": np.float32(4)})
    trial = create_trial(writing.run.path)
    assert trial.tensor(NAME).shapes() == {0: (2, 3), 1: (4, 0, 1)}
    assert trial.tensor(NAME).shape(1, modes.TRAIN) == (4, 0, 1)
    assert trial.tensor("scalar").shape(0) == ()
    assert trial.tensor("scalar").value(1) == 4


def test_a_shape_without_a_value_can_be_read(write: Write) -> None:
    writing = write()
    writing.tensors(0, {NAME: _array(0)}, raw=False)
    writing.listed(0)
    tensor = _tensor(writing)
    assert tensor.steps() == [0]
    assert tensor.shape(0) == (2, 3)
    assert tensor.values() == {}


def test_no_such_tensor_is_said_with_the_nearest(write: Write) -> None:
    writing = write()
    writing.step(0, {"fc1_output_0": _array(0), "fc2_output_0": _array(0)})
    trial = create_trial(writing.run.path)
    with pytest.raises(TensorUnavailable, match="Did you mean 'fc1_output_0'") as caught:
        trial.tensor("fc1_outputs")
    assert caught.value.tensor == "fc1_outputs"
    assert not trial.has_tensor("fc1_outputs")


@pytest.mark.parametrize(
    "ask",
    [
        lambda tensor, step: tensor.value(step),
        lambda tensor, step: tensor.value(step, modes.TRAIN),
        lambda tensor, step: tensor.dtype(step),
        lambda tensor, step: tensor.shape(step),
        lambda tensor, step: tensor.workers(step),
        lambda tensor, step: tensor.reduction_value(step, "mean"),
        lambda tensor, step: tensor.reduction_values(step),
    ],
)
def test_each_reason_for_no_value_has_its_error(write: Write, ask: Callable[[Tensor, int], object]) -> None:
    writing = write()
    writing.step(0, {NAME: _array(0)})
    writing.step(2, {"other": _array(0)})
    writing.step(4, {NAME: _array(0)})
    tensor = _tensor(writing)
    ask(tensor, 4)
    with pytest.raises(StepUnavailable):
        ask(tensor, 1)
    with pytest.raises((TensorUnavailableForStep, ShapeUnavailableForStep)) as absent:
        ask(tensor, 2)
    assert (absent.value.tensor, absent.value.step) == (NAME, 2)
    assert not getattr(absent.value, "has_reductions", False)
    with pytest.raises(StepNotYetAvailable):
        ask(tensor, 5)
    writing.close()
    with pytest.raises(NoMoreData) as over:
        ask(tensor, 5)
    assert over.value.last_step == 4


def test_where_only_reductions_or_statistics_are_kept_the_error_says_so(write: Write) -> None:
    writing = write()
    writing.step(0, {NAME: _array(0)})
    writing.tensors(1, {NAME: _array(1)}, reductions={NAME: {"mean": 3.5}}, raw=False)
    writing.listed(1)
    writing.step(2, seen={NAME: _array(2)})
    tensor = _tensor(writing)
    for step in (1, 2):
        with pytest.raises(TensorUnavailableForStep, match="use `reduction_value`") as caught:
            tensor.value(step)
        assert caught.value.has_reductions
    with pytest.raises(ShapeUnavailableForStep):
        tensor.shape(2)


def test_a_tensor_that_only_has_statistics_is_a_tensor_too(write: Write) -> None:
    writing = write()
    writing.step(0, seen={NAME: _array(0)})
    tensor = _tensor(writing)
    assert tensor.steps() == []
    assert tensor.values() == {}
    assert tensor.reduction_value(0, "max") == 5
    writing.close()
    with pytest.raises(NoMoreData, match="its last GLOBAL step is 0,"):
        tensor.reduction_value(1, "max")


def test_each_worker_has_its_own_value_and_the_first_by_name_is_the_default(write: Write) -> None:
    writing = write(workers=("worker_0", "worker_1", "worker_2"))
    for rank, worker in reversed(list(enumerate(writing.leases))):
        writing.step(0, {NAME: _array(10 * rank)}, worker=worker)
        if rank:
            writing.step(1, {NAME: _array(10 * rank)}, {NAME: _array(10 * rank)}, worker=worker)
    tensor = _tensor(writing)
    assert tensor.value(0)[0, 0] == 0
    assert tensor.value(1)[0, 0] == 10
    assert tensor.value(0, worker="worker_2")[0, 0] == 20
    assert tensor.workers(0) == ["worker_0", "worker_1", "worker_2"]
    assert tensor.workers(1) == ["worker_1", "worker_2"]
    assert tensor.reduction_value(1, "min") == 10
    assert tensor.reduction_value(1, "min", worker="worker_2") == 20
    for ask in (tensor.value, tensor.shape, tensor.dtype):
        with pytest.raises(InvalidWorker, match="worker_0, worker_1, worker_2"):
            ask(0, worker="worker_9")


def test_a_worker_that_lacks_a_value_is_still_a_worker_of_the_run(write: Write) -> None:
    writing = write(workers=("worker_0", "worker_1"))
    writing.step(0, {NAME: _array(0)}, worker="worker_0")
    writing.step(0, worker="worker_1")
    tensor = _tensor(writing)
    for ask in (tensor.value, tensor.dtype, tensor.shape):
        with pytest.raises(KeyError, match=r"was not saved at GLOBAL step 0 by worker_1\. It was by worker_0\."):
            ask(0, worker="worker_1")
    with pytest.raises(TensorUnavailableForStep) as lacking:
        tensor.value(0, worker="worker_1")
    assert (lacking.value.worker, lacking.value.saved_by) == ("worker_1", ("worker_0",))
    assert tensor.value(0, worker="worker_0")[0, 0] == 0


def test_a_tensor_tells_notebooks_what_it_is_without_markup_from_names(write: Write) -> None:
    writing = write()
    writing.step(0, {"<b>evil</b>": _array(0)})
    tensor = _tensor(writing, "<b>evil</b>")
    assert "<b>evil" not in tensor._repr_html_()
    assert "&lt;b&gt;evil&lt;/b&gt;" in tensor._repr_html_()
    assert "(2, 3)" in tensor._repr_html_()
    assert repr(tensor) == "Tensor('<b>evil</b>', run='mnist')"
