"""What a Keras model was compiled with, as plain values for people. Makes nothing of what it reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cutaway.models.description import SavedTraining

__all__ = ["training_of"]

# More than a person reads, and less than anybody could hide something in.
LONGEST = 200


def training_of(config: Any) -> SavedTraining:
    """Return the loss, the optimizer and the metrics of a `compile_config`, or of the `training_config` of a .h5.

    >>> training_of({"optimizer": "adam", "loss": "mse", "metrics": ["mae"]})
    SavedTraining(loss='mse', optimizer={'name': 'adam'}, metrics=('mae',))
    """
    if not isinstance(config, Mapping):
        return SavedTraining()
    optimizer = config.get("optimizer_config", config.get("optimizer"))
    return SavedTraining(
        loss=_as_plain_value(config.get("loss")),
        optimizer=_optimizer(optimizer),
        metrics=tuple(_names(config.get("metrics"))),
    )


def _optimizer(entry: Any) -> dict[str, Any] | None:
    if entry is None:
        return None
    if not isinstance(entry, Mapping):
        return {"name": _class_name(entry)}
    settings = entry.get("config")
    kept = {
        str(key): _as_plain_value(value)
        for key, value in (settings.items() if isinstance(settings, Mapping) else ())
        if key != "name" and value is not None and not isinstance(value, list)
    }
    return {"name": _class_name(entry), **kept}


def _as_plain_value(value: Any) -> Any:
    """A value as people write it: classes by their names, numbers as they are."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Mapping) and "class_name" not in value:
        return {str(key): _as_plain_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_as_plain_value(item) for item in value]
    return _class_name(value)


def _names(value: Any) -> list[str]:
    """The names of metrics, wherever Keras put them: in lists, by output, in lists of lists."""
    if value is None:
        return []
    if isinstance(value, Mapping) and "class_name" not in value:
        return [name for item in value.values() for name in _names(item)]
    if isinstance(value, list | tuple):
        return [name for item in value for name in _names(item)]
    settings = value.get("config") if isinstance(value, Mapping) else None
    own = settings.get("name") if isinstance(settings, Mapping) else None
    return [own[:LONGEST] if isinstance(own, str) else _class_name(value)]


def _class_name(entry: Any) -> str:
    """The name of a class or function: `Adam` of `Custom>Adam`."""
    if isinstance(entry, Mapping):
        entry = entry["config"] if entry.get("class_name") == "function" else entry.get("class_name")
    return str(entry).rpartition(">")[2][:LONGEST]
