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
from cutaway.evaluation.checks.sheet import Sheet, split_place
from cutaway.evaluation.subject import Subject, lacks_file, open_subject
from cutaway.models import Model

__all__ = ["MODEL", "bring_model"]

MODEL = "model"


def bring_model(sheet: Sheet, dataset: Dataset, given: Any, *, trust: bool) -> tuple[Subject | None, str]:
    """Return the model and what to call it: the one that was given, or the one that the binding brings."""
    if given is None and dataset.load_model is None:
        sheet.skip(MODEL, "none", "no model was given")
        sheet.find(
            "model-none",
            "info",
            "No model was checked: none was given, and the binding brings none",
            "Give one with `--model PATH`.",
        )
        return None, ""
    name = _name_of_model(given)
    try:
        return open_subject(given, dataset, trust=trust), name
    except (ModelError, MissingExtraError) as error:
        code, fix = _diagnosis(error)
        _tell_failure(sheet, name, code, error, fix)
    except EncoderError as error:
        # A live model is tried on a first sample; what is wrong with that was told where it belongs.
        sheet.skip(MODEL, name, f"{error.kind} {error.name!r} failed")
    except BindingError as error:
        _tell_failure(sheet, name, "model-unreadable", error, "Repair the function that loads the model.")
    except (Exception, SystemExit) as error:  # noqa: BLE001  # it is somebody's function that loads it
        reason = f"{place_of(error)}: loading the model failed: {type(error).__name__}: {error}"
        _tell_failure(sheet, name, "model-unreadable", reason, "Repair the function that loads the model.")
    return None, name


def _diagnosis(error: BaseException) -> tuple[str, str]:
    """Return the code of an error and its likely fix; what a binding's own function ran into counts as its cause."""
    chain: list[BaseException] = [error]
    while (cause := chain[-1].__cause__) is not None:
        chain.append(cause)
    if any(isinstance(one, ModelNotFound) or lacks_file(one) for one in chain):
        return "model-missing", "Check the path; `git lfs pull` or your training brings the file."
    if any(isinstance(one, UnsafeModel) for one in chain):
        return "model-unsafe", "Save it without code in it. If you trust whoever made it, check it with `--trust`."
    if any(isinstance(one, MissingExtraError) for one in chain):
        return "model-unreadable", "Install what it needs; the message has the command."
    return "model-unreadable", "Save the model again, or fetch the whole file, and check that one."


def _name_of_model(given: Any) -> str:
    if isinstance(given, Model):
        return given.description.format
    if given is None:
        return "the binding's own"
    return Path(given).name if isinstance(given, str | Path) else type(given).__name__


def _tell_failure(sheet: Sheet, name: str, code: str, error: BaseException | str, fix: str) -> None:
    place, message = split_place(str(error))
    sheet.find(code, "error", message, fix, row=(MODEL, name), place=place)
