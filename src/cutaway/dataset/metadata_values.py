"""What a metadata function returned as columns: whole numbers stay whole, declared types are kept to.

Where a type is declared, None and NaN are allowed and become None; elsewhere they are refused, since a column that
nobody declared could change its type from sample to sample without anybody noticing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from cutaway.dataset.enums import DatasetMetadataType
from cutaway.dataset.functions import MetadataField
from cutaway.dataset.subset import Scalar
from cutaway.wording import short_repr

__all__ = ["Unusable", "metadata_columns"]

_LARGEST = 2**63
_WORDS = {"true": True, "false": False, "yes": True, "no": False, "1": True, "0": False}


class Unusable(ValueError):
    """A value that cannot be used; its text says why and what to do, for the error that names the sample."""


def metadata_columns(field: MetadataField, result: Any) -> dict[str, Scalar]:
    """Return the columns that a result makes: one of the function's name, or `<name>_<key>` for each key.

    >>> metadata_columns(MetadataField("colour", None), {"red": 3, "name": "brick"})
    {'colour_red': 3, 'colour_name': 'brick'}
    >>> metadata_columns(MetadataField("label", DatasetMetadataType.int), "7")
    {'label': 7}
    """
    declared = field.metadata_type
    if isinstance(result, Mapping):
        columns = {
            f"{field.name}_{_key(key)}": _value_as_declared(value, _type_declared_for(declared, key))
            for key, value in result.items()
        }
        missing = [key for key in declared if key not in result] if isinstance(declared, Mapping) else []
        return columns | {f"{field.name}_{key}": None for key in missing}
    if isinstance(declared, Mapping):
        raise Unusable(
            f"it returned {type(result).__name__}, but `metadata_type` declares the keys {', '.join(declared)}: "
            "return a dictionary with these keys, or declare one type."
        )
    return {field.name: _value_as_declared(result, declared)}


def _type_declared_for(
    declared: DatasetMetadataType | Mapping[str, DatasetMetadataType] | None, key: str
) -> DatasetMetadataType | None:
    return declared.get(key) if isinstance(declared, Mapping) else declared


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise Unusable(f"the keys of its dictionary must be text, but one is {key!r} ({type(key).__name__}).")
    return key


def _value_as_declared(value: Any, declared: DatasetMetadataType | None) -> Scalar:
    plain = _as_python_scalar(value)
    if plain is None or (isinstance(plain, float) and math.isnan(plain)):
        if declared is None:
            raise Unusable(
                f"it returned {plain}. Missing values need a declared type: "
                "give `metadata_type=DatasetMetadataType.float` (or int, string, boolean)."
            )
        return None
    return plain if declared is None else _COERCIONS[declared](plain)


def _as_python_scalar(value: Any) -> Scalar:
    """Return a value of Python's own: numpy's scalars and arrays without axes are what they hold."""
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        value = value.item()
    if isinstance(value, bytes):
        value = value.decode("utf-8", "backslashreplace")
    if isinstance(value, str):
        # Half a surrogate pair is no text that a file could hold.
        return value.encode("utf-8", "backslashreplace").decode()
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, int):
        return _fitting_64_bits(value)
    shape = getattr(value, "shape", None)
    what = f"{type(value).__name__} of shape {tuple(shape)}" if shape is not None else type(value).__name__
    raise Unusable(f"it returned {what}. Return a number, a text, a boolean, or a flat dictionary of these.")


def _fitting_64_bits(value: int) -> int:
    if not -_LARGEST <= value < _LARGEST:
        raise Unusable(f"{value} does not fit into 64 bits. Return it as text.")
    return value


def _int(value: bool | int | float | str) -> Scalar:  # noqa: FBT001
    if isinstance(value, str):
        number = _number_of_text(value, "int")
        if number is None or isinstance(number, int):
            return number
        value = number
    if isinstance(value, float) and not value.is_integer():
        raise Unusable(f"it is declared int, but {value!r} is not whole. Declare float, or round it.")
    return _fitting_64_bits(int(value))


def _float(value: bool | int | float | str) -> Scalar:  # noqa: FBT001
    number = _number_of_text(value, "float") if isinstance(value, str) else value
    return None if number is None else float(number)


def _number_of_text(text: str, declared: str) -> int | float | None:
    """Return the number that a text holds; None for `nan`."""
    try:
        # Not by way of float: 2**53 + 1 has to stay what it is.
        return int(text)
    except ValueError:
        pass
    try:
        number = float(text)
    except ValueError:
        raise Unusable(f"it is declared {declared}, but {short_repr(text)} is no number. Declare string.") from None
    return None if math.isnan(number) else number


def _boolean(value: bool | int | float | str) -> Scalar:  # noqa: FBT001
    known = _WORDS.get(value.strip().lower()) if isinstance(value, str) else (bool(value) if value in (0, 1) else None)
    if known is None:
        raise Unusable(f"it is declared boolean, but {short_repr(value)} is neither true nor false.")
    return known


def _string(value: bool | int | float | str) -> Scalar:  # noqa: FBT001
    return str(value)


_COERCIONS = {
    DatasetMetadataType.int: _int,
    DatasetMetadataType.float: _float,
    DatasetMetadataType.boolean: _boolean,
    DatasetMetadataType.string: _string,
}
