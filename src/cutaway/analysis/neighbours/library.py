"""faiss, where it is installed. Its type stubs know half of it, so that it is Any here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from cutaway.analysis.libraries import library
from cutaway.errors import MissingExtraError

__all__ = ["faiss_is_there", "load_faiss", "threads_for"]

# Below so many queries starting threads costs more than they save.
THREADED_FROM = 8


def load_faiss() -> Any:
    """Return the module."""
    return library("faiss", "An approximate index of neighbours")


def faiss_is_there() -> bool:
    """Whether faiss can be imported."""
    try:
        load_faiss()
    except MissingExtraError:
        return False
    return True


@contextmanager
def threads_for(queries: int) -> Iterator[None]:
    """Let faiss use one thread for few queries, and as many as before afterwards; of the calling thread only."""
    if queries >= THREADED_FROM:
        yield
        return
    faiss = load_faiss()
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)
