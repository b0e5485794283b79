"""Which samples are in each batch of a DataLoader, without touching the loader or its batches."""

from __future__ import annotations

import copy
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch.utils.data import DataLoader, IterableDataset

if TYPE_CHECKING:
    from cutaway.frameworks.torch.hook import Hook

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
        self, hook: Hook, loader: Iterable[Any], subset: str, ids: Sequence[object] | None, *, counts_epochs: bool
    ) -> None:
        self._hook = hook
        self._loader = loader
        self._subset = subset
        self._ids = ids
        self._counts_epochs = counts_epochs
        self._epochs = 0
        self._listening, self._overheard = _listen(loader)

    def __iter__(self) -> Iterator[Any]:
        if self._counts_epochs:
            self._hook.set_epoch(self._epochs)
            self._epochs += 1
        batches = iter(self._listening)
        while True:
            began = time.perf_counter()
            try:
                batch = next(batches)
            except StopIteration:
                return
            self._announce(time.perf_counter() - began)
            yield batch

    def __len__(self) -> int:
        return len(self._loader)  # type: ignore[arg-type]  # as long as the user's own loader has a length

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def _announce(self, seconds: float) -> None:
        if self._overheard is None or not self._overheard.indices:
            self._hook.batch_arrives(None, seconds)
            return
        heard = self._overheard.indices.popleft()
        indices = [int(i) for i in (heard if isinstance(heard, (list, tuple, torch.Tensor)) else [heard])]
        ids: Sequence[object] = indices if self._ids is None else [self._ids[i] for i in indices]
        self._hook.set_samples(ids, self._subset)
        self._hook.batch_arrives(len(indices), seconds)


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
