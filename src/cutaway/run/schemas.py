"""The columns of every growing table of a run folder. The one place where they are named."""

from __future__ import annotations

import pyarrow as pa

from cutaway.tensors.statistic_names import COUNTS, FLOATS, STATISTIC_NAMES

__all__ = [
    "FINDINGS",
    "OVERVIEW",
    "SCALARS",
    "SCHEMAS",
    "STATISTICS",
    "STEPS",
    "TENSORS",
    "VALUES",
]

STEPS = "trace/steps"
STATISTICS = "trace/statistics"
OVERVIEW = "trace/overview"
TENSORS = "trace/tensors"
SCALARS = "scalars"
VALUES = "values"
FINDINGS = "findings"

SCHEMAS: dict[str, pa.Schema] = {
    STEPS: pa.schema(
        {
            "step": pa.int64(),
            "mode": pa.string(),
            "mode_step": pa.int64(),
            "epoch": pa.int32(),
            "time": pa.float64(),
            # Seconds of each phase; null where the hook could not see it.
            "data": pa.float32(),
            "forward": pa.float32(),
            "backward": pa.float32(),
            "optimizer": pa.float32(),
            "samples": pa.list_(pa.string()),
            "statistics": pa.bool_(),
            # How many steps just before this one left no record, because the writer could not keep up.
            "thinned": pa.int32(),
        }
    ),
    STATISTICS: pa.schema(
        {
            "step": pa.int64(),
            "tensor": pa.string(),
            "size": pa.int64(),
            **dict.fromkeys(COUNTS, pa.int64()),
            # `change` is null for all but weights.
            **dict.fromkeys(FLOATS, pa.float64()),
            # The share of positive values per channel, for activations of which it was asked.
            "active": pa.list_(pa.float32()),
        }
    ),
    # Statistics of stretches of steps: the coarse copy of the table above.
    OVERVIEW: pa.schema(
        {
            # The first and last step of the stretch,
            "step": pa.int64(),
            "last_step": pa.int64(),
            # and how many of its steps recorded the tensor, the first of these, and the last.
            "steps": pa.int64(),
            "own_first": pa.int64(),
            "own_last": pa.int64(),
            # 1 for the steps of the stretch that evaluate, 0 for those that train.
            "evaluation": pa.int32(),
            "tensor": pa.string(),
            "size": pa.int64(),
            # NaN where no step of the stretch has a value.
            **{
                f"{name}_{which}": pa.int64() if name in COUNTS else pa.float64()
                for name in STATISTIC_NAMES
                for which in ("min", "max", "last")
            },
        }
    ),
    TENSORS: pa.schema(
        {
            "step": pa.int64(),
            "tensor": pa.string(),
            "dtype": pa.string(),
            "shape": pa.list_(pa.int64()),
            "reductions": pa.map_(pa.string(), pa.float64()),
            # Where the raw bytes lie in the segment's .bin file; null where only reductions were asked.
            "offset": pa.int64(),
            "length": pa.int64(),
            "crc": pa.uint32(),
        }
    ),
    SCALARS: pa.schema(
        {
            "name": pa.string(),
            "step": pa.int64(),
            "mode": pa.string(),
            "value": pa.float64(),
            "time": pa.float64(),
        }
    ),
    VALUES: pa.schema({"step": pa.int64(), "sample": pa.string(), "name": pa.string(), "value": pa.float64()}),
    FINDINGS: pa.schema(
        {
            "id": pa.string(),
            "code": pa.string(),
            "severity": pa.string(),
            "message": pa.string(),
            "where": pa.string(),
            "evidence": pa.string(),
            "time": pa.float64(),
            "source": pa.string(),
        }
    ),
}
