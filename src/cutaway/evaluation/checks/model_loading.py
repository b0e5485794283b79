"""Brings the model that a binding is checked against, and says in findings why where it cannot be brought."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cutaway.dataset import Dataset
from cutaway.errors import (
    BindingError,
    EncoderError,
    MissingExtraError,
    ModelError,
    ModelNotFound,
    UnsafeModel,
    place_of,
)
from cutaway.evaluation.checks.ledger import Ledger
from cutaway.evaluation.checks.places import split_place
from cutaway.models import Model

__all__ = ["MODEL", "bring_model"]

MODEL = "model"


def bring_model(ledger: Ledger, dataset: Dataset, given: Any, *, trust: bool) -> tuple[Model | None, str]:
    """Return the model and what to call it: the one that was given, or the one that the binding brings."""
    if isinstance(given, Model):
        return given, given.description.format
    if given is None and dataset.load_model is None:
        ledger.skip(MODEL, "none", "no model was given")
        ledger.find(
            "model-none",
            "info",
            "No model was checked: none was given, and the binding brings none",
            "Give one with `--model PATH`.",
        )
        return None, ""
    name = Path(given).name if isinstance(given, (str, Path)) else "the binding's own" if given is None else "object"
    try:
        return _loaded(dataset, given, trust=trust), name
    except ModelNotFound as error:
        _tell(ledger, name, "model-missing", error, "Check the path; `git lfs pull` or your training brings the file.")
    except UnsafeModel as error:
        fix = "Save the model without code in it. If you trust whoever made it, check it with `--trust`."
        _tell(ledger, name, "model-unsafe", error, fix)
    except MissingExtraError as error:
        _tell(ledger, name, "model-unreadable", error, "Install what it needs; the message has the command.")
    except ModelError as error:
        fix = "Save the model again, or fetch the whole file, and check that one."
        _tell(ledger, name, "model-unreadable", error, fix)
    except (BindingError, EncoderError) as error:
        _tell(ledger, name, "model-unreadable", error, "Repair the function that loads the model.")
    except (Exception, SystemExit) as error:  # noqa: BLE001  # it is somebody's function that loads it
        reason = f"{place_of(error)}: loading the model failed: {type(error).__name__}: {error}"
        _tell(ledger, name, "model-unreadable", reason, "Repair the function that loads the model.")
    return None, name


def _loaded(dataset: Dataset, given: Any, *, trust: bool) -> Model:
    from cutaway.models import load

    source = given
    if given is None:
        assert dataset.load_model is not None
        source = dataset.load_model()
    if isinstance(source, Model):
        return source
    return load(source, trust=trust, entry_file=dataset.source.get("entry_file"))


def _tell(ledger: Ledger, name: str, code: str, error: BaseException | str, fix: str) -> None:
    place, message = split_place(str(error))
    ledger.find(code, "error", message, fix, row=(MODEL, name), place=place)
