"""faiss, where it is installed. Its type stubs know half of it, so that it is Any here."""

from __future__ import annotations

from typing import Any

from cutaway.errors import MissingExtraError

__all__ = ["faiss_is_there", "load_faiss"]


def load_faiss() -> Any:
    """Return the module."""
    try:
        import faiss
    except ImportError as error:
        raise MissingExtraError("An approximate index of neighbours", "analysis") from error
    return faiss


def faiss_is_there() -> bool:
    """Whether faiss can be imported."""
    try:
        load_faiss()
    except MissingExtraError:
        return False
    return True
