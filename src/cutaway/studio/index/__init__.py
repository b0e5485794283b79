"""The index of runs: every run under a folder, by id and as one table that is sorted, searched and filtered."""

from cutaway.studio.index.facts import IndexedRun
from cutaway.studio.index.run_table import RunTable
from cutaway.studio.index.the_index import RunIndex

__all__ = ["IndexedRun", "RunIndex", "RunTable"]
