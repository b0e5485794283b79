"""The names of the files and folders of a run; docs/reference/format.md says what each holds.

They stand here and in `schemas`, which has those of the growing tables, and nowhere else.
"""

from __future__ import annotations

from pathlib import Path

from cutaway.run.schemas import FINDINGS, SCALARS, VALUES

__all__ = ["LAYOUT", "evaluation_key", "is_run"]

RUN_FILE = "run.json"
CONFIG_FILE = "config.yaml"
LEASES = "leases"
CONTROL = "control"
TRACE = "trace"
COLLECTIONS_FILE = f"{TRACE}/collections.json"
MODEL_ORDER_FILE = f"{TRACE}/model_order.json"
SAMPLES = "samples"
PREVIEWS = "previews"
OVERLAY_FILE = "overlay.json"
OVERLAYS = "overlays"
UNDONE_OVERLAYS = f"{OVERLAYS}/undone"
TESTS_FILE = "tests.yaml"
ANNOTATIONS_FILE = "annotations.json"
SELECTIONS = "selections"
JOBS = "jobs"
WATCH = "watch"
LOGS = "logs"

_FILES = (RUN_FILE, CONFIG_FILE, OVERLAY_FILE, TESTS_FILE, ANNOTATIONS_FILE)
_FOLDERS = (LEASES, CONTROL, TRACE, SAMPLES, PREVIEWS, OVERLAYS, SELECTIONS, JOBS, WATCH, LOGS)
_TABLES = (SCALARS, VALUES, FINDINGS)
_OF_LATER_RELEASES = ("checkpoints", "models", "reports", "requests")
# Everything that a run folder has at its top.
LAYOUT = frozenset((*_FILES, *_FOLDERS, *_TABLES, *_OF_LATER_RELEASES))

# In the folder of an evaluation.
SOURCE_FILE = "source.json"
SPACES_FILE = "spaces.json"
PARTS = "parts"


def is_run(path: Path) -> bool:
    """Whether a folder is a run."""
    return (path / RUN_FILE).exists()


def evaluation_key(number: int, name: str = "") -> str:
    """Return where an evaluation of a run lies, or one of its files.

    >>> evaluation_key(0), evaluation_key(2, SOURCE_FILE)
    ('samples/0', 'samples/2/source.json')
    """
    return f"{SAMPLES}/{number}/{name}" if name else f"{SAMPLES}/{number}"
