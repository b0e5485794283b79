"""Which tensors a rule looks at, and the words for what a run lacks."""

from __future__ import annotations

from collections.abc import Iterable

from cutaway.errors import ConfigurationError, InsufficientInformationForRuleInvocation
from cutaway.tensors.collections import DEFAULT_PATTERNS
from cutaway.tensors.reader import TensorReader

__all__ = ["in_collection", "lacking", "selected"]


def selected(reader: TensorReader, collection_names: Iterable[str] = (), tensor_regex: str | None = None) -> list[str]:
    """Return the tensors of some collections and those that a regex finds, together, sorted.

    Raises `InsufficientInformationForRuleInvocation` where the run has none of them.
    """
    collections = tuple(collection_names)
    names: set[str] = set()
    for collection in collections:
        names.update(in_collection(reader, collection))
    if tensor_regex is not None:
        names.update(reader.tensor_names(regex=tensor_regex))
    if not names:
        raise lacking(reader, collections, tensor_regex)
    return sorted(names)


def in_collection(reader: TensorReader, collection: str) -> list[str]:
    """Return the tensors of a collection; none where the run has no such collection."""
    try:
        return list(reader.tensor_names(collection=collection))
    except ConfigurationError:
        return []


def lacking(
    reader: TensorReader,
    collections: Iterable[str] = (),
    tensor_regex: str | None = None,
    *,
    full: bool = False,
    every: bool = False,
) -> InsufficientInformationForRuleInvocation:
    """Return the error that says what a rule needs, what this run saved, and what to change.

    `full` says that statistics do not suffice: the tensors themselves must have been saved. `every` says that all of
    it is needed; else one suffices.
    """
    wanted = list(collections)
    needs = [f"collection {name!r}" for name in wanted]
    needs += [f"tensors that match {tensor_regex!r}"] if tensor_regex is not None else []
    saved = [name for name in DEFAULT_PATTERNS if name not in ("all", "default") and in_collection(reader, name)]
    here = ", ".join(map(repr, saved)) or "nothing so far"
    kept, both = " in full" if full else "", " and " if every else " or "
    how = f" Add {', '.join(map(repr, wanted))} to the hook's `include_collections`." if wanted else ""
    how = how or " Choose others with the rule's parameters, or add them with the hook's `include_regex`."
    return InsufficientInformationForRuleInvocation(f"needs {both.join(needs)}{kept}; this run saved {here}.{how}")
