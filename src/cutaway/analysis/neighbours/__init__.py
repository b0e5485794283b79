"""The nearest samples: exact for populations of up to 200,000, approximate with a measured recall above that."""

from cutaway.analysis.neighbours.index import Index, Nearest, build_index, index_from_parts

__all__ = ["Index", "Nearest", "build_index", "index_from_parts"]
