"""The run folder: the only thing that processes share, and the only code that knows its file names."""

from cutaway.run.catalog import find_run, list_runs, prune_runs, remove_run, run_sizes
from cutaway.run.findings import Finding
from cutaway.run.identity import Run, runs_folder
from cutaway.run.leases import RunState
from cutaway.run.segments import TableWriter, WriterId
from cutaway.run.tables import Attempt, Damage, TableReader

__all__ = [
    "Attempt",
    "Damage",
    "Finding",
    "Run",
    "RunState",
    "TableReader",
    "TableWriter",
    "WriterId",
    "find_run",
    "list_runs",
    "prune_runs",
    "remove_run",
    "run_sizes",
    "runs_folder",
]
