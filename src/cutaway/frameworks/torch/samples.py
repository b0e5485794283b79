"""Which samples are in each batch of a DataLoader, without touching the loader or its batches."""

from __future__ import annotations

import copy
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.utils.data import DataLoader, IterableDataset

from cutaway.errors import ConfigurationError

if TYPE_CHECKING:
    from cutaway.capture.hook import AdaptedHook

__all__ = ["SampledLoader"]


class _Overheard:
    """A sampler that passes on another's indices and remembers them, in order."""

    def __init__(self, sampler: Any) -> None:
        self._sampler = sampler
        self.indices: deque[Any] = deque()

    def __iter__(self) -> Iterator[Any]:
        # A new epoch forgets what an abandoned one had fetched ahead.
        heard = self.indices = deque()
        for index in self._sampler:
            heard.append(index)
            yield index

    def __len__(self) -> int:
        return len(self._sampler)


class SampledLoader:
    """The user's loader, saying before each batch which samples are in it; all else is the loader's own."""

    def __init__(
        self,
        hook: AdaptedHook,
        loader: Iterable[Any],
        subset: str,
        ids: Sequence[object] | None,
        *,
        counts_epochs: bool,
    ) -> None:
        _check(loader, ids)
        self._hook = hook
        self._loader = loader
        self._subset = subset
        self._ids = ids
        self._counts_epochs = counts_epochs
        # Workers that stay belong to one loader; all others are overheard anew in each pass.
        self._persistent = _listen(loader) if getattr(loader, "persistent_workers", False) else None

    def __iter__(self) -> Iterator[Any]:
        if self._counts_epochs:
            self._hook.count_epoch()
        listening, overheard = self._persistent or _listen(self._loader)
        batches = iter(listening)
        while True:
            began = time.perf_counter()
            try:
                batch = next(batches)
            except StopIteration:
                return
            self._announce(overheard, time.perf_counter() - began)
            yield batch

    def __len__(self) -> int:
        return len(self._loader)  # type: ignore[arg-type]  # as long as the user's own loader has a length

    def __getattr__(self, name: str) -> Any:
        if name == "_loader":
            # Not made yet: whoever copies this object asks before there is a loader to ask.
            raise AttributeError(name)
        return getattr(self._loader, name)

    def _announce(self, overheard: _Overheard | None, seconds: float) -> None:
        if not self._hook.active:
            return
        try:
            heard = overheard.indices.popleft() if overheard is not None and overheard.indices else None
            keys = None if heard is None else _keys(heard)
            if keys is not None:
                self._hook.set_samples(keys if self._ids is None else [self._ids[i] for i in keys], self._subset)
            self._hook.batch_arrives(None if keys is None else len(keys), seconds)
        except Exception as error:  # noqa: BLE001 - noting the samples must not end the loop that trains on them
            self._hook.fail(error, "the samples of a batch")


def _keys(heard: Any) -> list[Any]:
    """What a sampler gave for one batch, as a list; a key that is a tensor becomes its number."""
    several = isinstance(heard, (list, tuple, torch.Tensor, np.ndarray)) and getattr(heard, "shape", None) != ()
    return [one.item() if hasattr(one, "item") else one for one in (heard if several else [heard])]


def _check(loader: Iterable[Any], ids: Sequence[object] | None) -> None:
    dataset = getattr(loader, "dataset", None)
    if ids is None or isinstance(ids, Mapping) or not isinstance(dataset, Sized):
        return
    if len(ids) != len(dataset):
        message = (
            f"`ids` must name every sample of the loader's data set, but got {len(ids)} ids for {len(dataset)} samples."
        )
        raise ConfigurationError(message)


def _listen(loader: Iterable[Any]) -> tuple[Iterable[Any], _Overheard | None]:
    """Return a shallow copy of a loader whose sampler is overheard, or the loader itself where that cannot be."""
    ordered = getattr(loader, "in_order", True)
    if not isinstance(loader, DataLoader) or isinstance(loader.dataset, IterableDataset) or not ordered:
        return loader, None
    listening = copy.copy(loader)
    field = "sampler" if loader.batch_sampler is None else "batch_sampler"
    overheard = _Overheard(getattr(loader, field))
    # DataLoader refuses this by its own __setattr__; the copy is ours alone.
    object.__setattr__(listening, field, overheard)
    return listening, overheard
