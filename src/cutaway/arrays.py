"""Names for arrays, by the type of their values. Every module that speaks of arrays takes them from here."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = [
    "Array",
    "BoolArray",
    "Float32Array",
    "Float64Array",
    "IndexArray",
    "Int32Array",
    "Int64Array",
    "ObjectArray",
    "UInt8Array",
]

Array = npt.NDArray[Any]
BoolArray = npt.NDArray[np.bool_]
Float32Array = npt.NDArray[np.float32]
Float64Array = npt.NDArray[np.float64]
# Row numbers, as numpy indexes by them.
IndexArray = npt.NDArray[np.intp]
Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]
ObjectArray = npt.NDArray[np.object_]
UInt8Array = npt.NDArray[np.uint8]
