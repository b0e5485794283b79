"""Where tensors lie in the buffer, checked value by value."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cutaway.tensors.chunk_layout import CHUNK, ChunkLayout

sizes = st.lists(st.integers(0, 3 * CHUNK) | st.sampled_from([0, 1, CHUNK, 2 * CHUNK]), max_size=8)


@given(sizes, st.integers(1, 5))
def test_every_value_lies_in_exactly_one_segment_of_its_tensor(numels: list[int], chunks: int) -> None:
    layout = ChunkLayout([(str(place), numel) for place, numel in enumerate(numels)], chunks * CHUNK)
    whose = np.full(layout.size, -1)
    for place, tensor in enumerate(layout.slices):
        whose[tensor] = place
    found, number = np.full(layout.size, -1), -1
    first = set(layout.kept[layout.first_segment].tolist())
    segment = 0
    for block in layout.blocks:
        ends = [*block.cuts[1:].tolist(), block.stop - block.start]
        for start, end, holds in zip(block.cuts.tolist(), ends, block.holds.tolist(), strict=True):
            number += segment in first
            if holds:
                found[block.start + start : block.start + end] = layout.filled[number]
            segment += 1
    assert segment == layout.segments
    np.testing.assert_equal(found, whose)


@given(sizes)
def test_every_chunk_belongs_to_one_tensor_and_knows_its_padding(numels: list[int]) -> None:
    layout = ChunkLayout([(str(place), numel) for place, numel in enumerate(numels)], CHUNK)
    assert layout.owner.size == layout.valid.size == layout.size // CHUNK
    for place, count in zip(layout.filled, layout.count, strict=True):
        chunks = np.flatnonzero(layout.filled[layout.owner] == place)
        assert layout.valid[chunks].sum() == count
        assert layout.slices[place].start == chunks[0] * CHUNK
        assert layout.reach(place + 1) == (chunks[-1] + 1) * CHUNK
