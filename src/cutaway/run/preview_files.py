"""The previews of a run, `previews/<subset>.arrow`: one small PNG a sample. Draws nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import pyarrow as pa

from cutaway.run.identity import Run
from cutaway.run.sample_merging import preview_key

__all__ = ["has_previews", "previews"]


def has_previews(run: Run, subset: str) -> bool:
    """Whether a subset has previews."""
    return (run.path / preview_key(subset)).is_file()


def previews(run: Run, subset: str, ids: Collection[str] | None = None) -> Iterator[tuple[str, bytes | None]]:
    """Yield the id and the PNG of each sample, or of those of some ids; None where it could not be drawn."""
    import pyarrow.compute as pc

    wanted = None if ids is None else pa.array(ids, pa.string())
    with pa.memory_map(str(run.path / preview_key(subset))) as source:
        reader = pa.ipc.open_file(source)
        for i in range(reader.num_record_batches):
            batch = reader.get_batch(i)
            if wanted is not None:
                batch = batch.filter(pc.is_in(batch.column(0), wanted))
            yield from zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True)
