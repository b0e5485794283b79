"""The fast path agrees with the reference, for whatever a tensor may hold."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cutaway.tensors.blocked_statistics import CHUNK, StatisticsPlan
from cutaway.tensors.statistics import reference_change, reference_statistics

COLUMNS = {"size", "nonfinite", "zeros", "min", "max", "mean", "std", "l1", "l2", "abs_min", "change"}


def lay(arrays: list[np.ndarray], block: int = 4 * CHUNK) -> tuple[StatisticsPlan, np.ndarray]:
    plan = StatisticsPlan([(f"t{place}", array.size) for place, array in enumerate(arrays)], block=block)
    buffer = plan.buffer()
    for place, array in zip(plan.slices, arrays, strict=True):
        buffer[place] = array
    return plan, buffer


def assert_agree(found: dict[str, np.ndarray], arrays: list[np.ndarray], scale: float = 1.0) -> None:
    assert set(found) == COLUMNS
    for place, array in enumerate(arrays):
        row = {name: column[place] for name, column in found.items()}
        expected = reference_statistics(array if scale == 1 else array * np.float64(scale))
        context = f"tensor {place} of {array.size}: {row} but {expected}"
        for name in ("size", "nonfinite", "zeros", "min", "max", "abs_min"):
            # The sign of a zero is nobody's statistic: adding 0 takes it away.
            np.testing.assert_equal(row[name] + 0, getattr(expected, name) + 0, err_msg=context)
        count = max(1, expected.size - expected.nonfinite)
        mean, std = expected.mean, expected.std
        np.testing.assert_allclose(row["mean"], mean, rtol=0, atol=1e-6 * expected.l1 / count, err_msg=context)
        np.testing.assert_allclose(row["l1"], expected.l1, rtol=1e-5, err_msg=context)
        np.testing.assert_allclose(row["l2"], expected.l2, rtol=1e-5, err_msg=context)
        if expected.size > expected.nonfinite:
            assert abs(row["std"] - std) <= 1e-5 * max(std, 1e-3 * abs(mean)), context


def normal(mean: float, std: float) -> Callable[[np.random.Generator, int], np.ndarray]:
    return lambda generator, size: (mean + std * generator.standard_normal(size)).astype(np.float32)


def sprinkled(value: float, share: float) -> Callable[[np.random.Generator, int], np.ndarray]:
    def make(generator: np.random.Generator, size: int) -> np.ndarray:
        return np.where(generator.random(size) < share, np.float32(value), normal(0, 1)(generator, size))

    return make


def any_bits(generator: np.random.Generator, size: int) -> np.ndarray:
    # Quiet NaN only: arithmetic on the other ones warns, in this file as well.
    bits = generator.integers(0, 2**32, size, dtype=np.uint32)
    return np.where(np.isnan(bits.view(np.float32)), bits | np.uint32(1 << 22), bits).view(np.float32)


def wide(generator: np.random.Generator, size: int) -> np.ndarray:
    signs = generator.choice([-1.0, 1.0], size)
    return (signs * 10.0 ** generator.uniform(-44, 38, size)).astype(np.float32)


KINDS = {
    "usual": normal(0, 0.05),
    "shifted": normal(1, 0.3),
    "far from zero": normal(100, 1e-2),
    "nearly constant": normal(-3e4, 1e-3),
    "last bits": lambda generator, size: (1 + generator.integers(0, 3, size) * 2.0**-23).astype(np.float32),
    "constant": lambda _, size: np.full(size, 0.1, dtype=np.float32),
    "zeros": lambda _, size: np.zeros(size, dtype=np.float32),
    "negative zeros": lambda _, size: np.full(size, -0.0, dtype=np.float32),
    "one": lambda _, size: np.eye(1, size, dtype=np.float32)[0],
    "huge": normal(0, 1e37),
    "huge and shifted": normal(3e37, 1e35),
    "overflowing squares": normal(0, 1e19),
    "tiny": normal(0, 1e-25),
    "tiny and shifted": normal(1e-12, 1e-22),
    "denormal": normal(0, 1e-41),
    "some NaN": sprinkled(np.nan, 0.01),
    "some inf": sprinkled(np.inf, 0.3),
    "sparse": sprinkled(0.0, 0.7),
    "all NaN": lambda _, size: np.full(size, np.nan, dtype=np.float32),
    "all inf": lambda _, size: np.full(size, -np.inf, dtype=np.float32),
    "positive": lambda generator, size: generator.random(size, dtype=np.float32),
    "any bits": any_bits,
    "wide": wide,
}
SIZES = [0, 1, 2, 255, 256, 257, 1000, 1024, 5000]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", SIZES)
def test_every_kind_of_values_agrees_with_the_reference(kind: str, size: int) -> None:
    generator = np.random.default_rng(size)
    arrays = [KINDS[kind](generator, size) for _ in range(3)]
    plan, buffer = lay(arrays)
    assert_agree(plan.compute(buffer), arrays)


tensors = st.lists(
    st.tuples(st.sampled_from(sorted(KINDS)), st.integers(0, 3000) | st.sampled_from(SIZES)), max_size=12
)


@settings(max_examples=150, deadline=None)
@given(tensors, st.integers(0, 2**32 - 1), st.sampled_from([1, 2, 7, 512]))
def test_any_mixture_of_tensors_agrees_with_the_reference(kinds: list[tuple[str, int]], seed: int, chunks: int) -> None:
    generator = np.random.default_rng(seed)
    arrays = [KINDS[kind](generator, size) for kind, size in kinds]
    plan, buffer = lay(arrays, block=chunks * CHUNK)
    assert_agree(plan.compute(buffer), arrays)


small = hnp.arrays(np.float32, st.integers(0, 300), elements=st.floats(width=32), fill=st.floats(width=32))


@settings(deadline=None)
@given(st.lists(small, max_size=4))
def test_values_that_hypothesis_makes_up_agree_with_the_reference(arrays: list[np.ndarray]) -> None:
    plan, buffer = lay(arrays, block=CHUNK)
    assert_agree(plan.compute(buffer), arrays)


@pytest.mark.parametrize("kind", KINDS)
def test_the_change_agrees_with_the_reference(kind: str) -> None:
    generator = np.random.default_rng(1)
    before = [KINDS[kind](generator, size) for size in SIZES]
    after = [array + np.float32(0.01) * KINDS["usual"](generator, array.size) for array in before]
    for now in (after, before, [KINDS[kind](generator, size) for size in SIZES]):
        plan, buffer = lay([*now, *before])
        previous = lay([*before, *now])[1]
        change = plan.compute(buffer, previous, len(now))["change"]
        expected = [reference_change(left, right) for left, right in zip(now, before, strict=True)]
        np.testing.assert_allclose(change[: len(now)], expected, rtol=1e-5)
        assert np.isnan(change[len(now) :]).all()


def test_the_change_needs_no_more_of_the_previous_buffer_than_the_changed_tensors() -> None:
    plan, buffer = lay([np.ones(300, np.float32), np.ones(5, np.float32)])
    assert plan.compute(buffer, np.zeros(512, np.float32), 1)["change"][0] == pytest.approx(np.sqrt(300))


def test_one_plan_computes_again_and_again_without_remembering() -> None:
    generator = np.random.default_rng(2)
    plan = StatisticsPlan([("a", 700), ("b", 3)], block=2 * CHUNK)
    for kind in ("some NaN", "sparse", "usual", "far from zero", "zeros", "huge", "usual"):
        arrays = [KINDS[kind](generator, 700), KINDS[kind](generator, 3)]
        buffer = plan.buffer()
        for place, array in zip(plan.slices, arrays, strict=True):
            buffer[place] = array
        assert_agree(plan.compute(buffer), arrays)


def test_results_stay_when_the_plan_computes_the_next_step() -> None:
    plan, buffer = lay([np.arange(9, dtype=np.float32)])
    first = plan.compute(buffer)
    kept = {name: column.copy() for name, column in first.items()}
    buffer[plan.slices[0]] = 7
    plan.compute(buffer)
    for name, column in first.items():
        np.testing.assert_equal(column, kept[name])


@pytest.mark.parametrize("factor", [1 / 65536, 2.0, 0.3])
def test_a_scale_counts_as_if_the_values_were_multiplied(factor: float) -> None:
    arrays = [KINDS["usual"](np.random.default_rng(3), size) for size in (10, 600)]
    plan, buffer = lay(arrays)
    found = plan.compute(buffer, plan.buffer(), 2, scale=[factor, factor])
    for name in ("min", "max", "abs_min"):
        found[name] = np.array([getattr(reference_statistics(array * np.float64(factor)), name) for array in arrays])
    assert_agree(found, arrays, factor)
    np.testing.assert_allclose(found["change"], found["l2"], rtol=1e-5)


def test_tensors_begin_at_whole_chunks_and_do_not_overlap() -> None:
    plan = StatisticsPlan([("a", 1), ("none", 0), ("b", 256), ("c", 257)])
    assert plan.names == ("a", "none", "b", "c")
    assert [(place.start, place.stop) for place in plan.slices] == [(0, 1), (256, 256), (256, 512), (512, 769)]
    assert plan.size == 1024
    assert plan.buffer().shape == (1024,)


@pytest.mark.parametrize("sizes", [[], [0], [0, 0]])
def test_nothing_has_statistics_too(sizes: list[int]) -> None:
    arrays = [np.empty(size, np.float32) for size in sizes]
    plan, buffer = lay(arrays)
    assert_agree(plan.compute(buffer, buffer, len(sizes)), arrays)


@pytest.mark.parametrize(
    ("buffer", "previous", "changed", "message"),
    [
        (np.zeros(256), None, 0, "256 contiguous float32"),
        (np.zeros(255, np.float32), None, 0, "256 contiguous float32"),
        (np.zeros(512, np.float32)[::2], None, 0, "256 contiguous float32"),
        (np.zeros(256, np.float32), None, 1, "needs `previous`"),
        (np.zeros(256, np.float32), np.zeros(9, np.float32), 1, "needs `previous`"),
        (np.zeros(256, np.float32), None, 2, "`0 <= changed <= 1`"),
    ],
)
def test_wrong_buffers_are_refused(buffer: np.ndarray, previous: np.ndarray | None, changed: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        StatisticsPlan([("a", 3)]).compute(buffer, previous, changed)


@pytest.mark.parametrize("block", [0, 100, 300])
def test_a_block_is_whole_chunks(block: int) -> None:
    with pytest.raises(ValueError, match="multiple of 256"):
        StatisticsPlan([("a", 3)], block=block)
