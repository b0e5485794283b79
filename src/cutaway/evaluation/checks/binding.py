"""Brings the data set that is checked, and looks at what it is made of before any sample is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cutaway.dataset import Binder, Dataset, Entry, load_entry
from cutaway.dataset.calling import defined_at
from cutaway.dataset.enums import SUBSETS, DataStateType, Role
from cutaway.errors import BindingError, ConfigurationError, CutawayError
from cutaway.evaluation.checks.leakage import SPLIT
from cutaway.evaluation.checks.looking import GROUND_TRUTH, INPUT, METADATA
from cutaway.evaluation.checks.sheet import Sheet, split_place

__all__ = ["ENTRY", "PREPROCESS", "SUBSET", "bring_dataset", "judge_subsets"]

ENTRY, PREPROCESS, SUBSET = ("entry file", "entry file"), ("preprocess", "preprocess"), "subset"
NEEDED = (DataStateType.training.value, DataStateType.validation.value)


def bring_dataset(sheet: Sheet, binding: Any) -> tuple[Dataset | None, Entry | None]:
    """Return the data set and the entry that it comes from; None where it cannot be had, which is told."""
    if isinstance(binding, Dataset):
        return binding, None
    if isinstance(binding, Binder):
        return _of_binder(sheet, binding), None
    if binding is not None and not isinstance(binding, (str, Path, Entry)):
        raise ConfigurationError(
            f"A data set, a binder, an entry or the path of an entry file is checked, but got {type(binding).__name__}."
        )
    try:
        entry = binding if isinstance(binding, Entry) else load_entry(binding)
    except CutawayError as error:
        place, message = split_place(str(error))
        fix = "Repair it first: nothing else can be looked at before." if place else "Give the path of your entry file."
        sheet.find("binding-entry", "error", message, fix, row=ENTRY, place=place)
        sheet.skip(*PREPROCESS, "the entry file failed")
        return None, None
    sheet.row(*ENTRY, note=entry.path.name)
    return _of_binder(sheet, entry.binder, entry), entry


def judge_subsets(sheet: Sheet, dataset: Dataset) -> None:
    """Tell of subsets that are missing or empty, and of a data set that nothing can be compared with."""
    for name, subset in dataset.subsets.items():
        sheet.row(SUBSET, name, note=f"{len(subset):,} samples")
        if not len(subset):
            sheet.find(
                "binding-subset-empty",
                "error" if name in NEEDED else "warning",
                f"Subset {name} has no samples",
                "Look at what preprocess finds: a wrong path often gives an empty list of files.",
                row=(SUBSET, name),
                subset=name,
            )
    for name in NEEDED:
        if name not in dataset.subsets:
            message = f"There is no {name} subset, only {', '.join(dataset.subsets) or 'none'}"
            fix = "Return one from preprocess; without it nothing can be said about overfitting."
            sheet.find("binding-subset-missing", "warning", message, fix, row=(SUBSET, name), subset=name)
    if not dataset.ground_truths:
        message = "No ground truth is bound: predictions can be shown, but not judged"
        fix = "Decorate the function that encodes it with `@tensorleap_gt_encoder('name')`."
        sheet.find("binding-no-ground-truth", "warning", message, fix, row=(GROUND_TRUTH, "none"))


def _of_binder(sheet: Sheet, binder: Binder, entry: Entry | None = None) -> Dataset | None:
    """Run preprocess, and then make the data set: what is wrong with the first comes before what the second lacks."""
    try:
        binder.parts()
    except BindingError as error:
        place, message = split_place(str(error))
        missing = error.__cause__ is None and "the subset" in message and "missing" in message
        code = "binding-subset-missing" if missing else "binding-preprocess"
        fix = "Return the subsets from preprocess." if missing else "Repair that line; the encoders come after it."
        sheet.find(code, "error", message, fix, row=PREPROCESS, place=place)
        return None
    sheet.row(*PREPROCESS)
    preprocess = defined_at(binder.subset_functions[0].function)
    for row in (SPLIT, *((SUBSET, name) for name in SUBSETS)):
        sheet.place(*row, preprocess)
    for encoder in binder.encoders:
        kind = INPUT if encoder.role is Role.INPUT else GROUND_TRUTH
        sheet.place(kind, encoder.field.name, defined_at(encoder.function))
    for metadata in binder.metadata_functions:
        sheet.place(METADATA, metadata.field.name, defined_at(metadata.function))
    if not any(one.role is Role.INPUT for one in binder.encoders):
        message = "No input is bound, so there is nothing to give to a model"
        fix = "Decorate the function that encodes it with `@tensorleap_input_encoder('name')`."
        sheet.find("binding-no-input", "error", message, fix, row=(INPUT, "none"))
        return None
    try:
        return binder.dataset() if entry is None else entry.dataset()
    except BindingError as error:
        place, message = split_place(str(error))
        fix = "Bind it as the message says; then check again."
        sheet.find("binding-declared", "error", message, fix, row=ENTRY, place=place)
        return None
