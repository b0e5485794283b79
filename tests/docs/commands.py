"""What a forked process does for a page: one `cutaway` command, in a process that had imported what commands need."""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence

__all__ = ["command", "warm_up"]

MODULES = (
    *("PIL.Image", "pyarrow.parquet", "sklearn.cluster", "torch"),
    *("cutaway.analysis", "cutaway.cli.app", "cutaway.evaluation", "cutaway.models", "cutaway.rules", "cutaway.trial"),
)


def warm_up() -> None:
    """Import once what most commands import each. TensorFlow and Keras are left out: they may hang after a fork."""
    for module in MODULES:
        importlib.import_module(module)


def command(
    report: Callable[[int], None],
    words: Sequence[str],
    folder: str,
    environment: Mapping[str, str],
    output: str,
) -> None:
    """Run `cutaway WORDS` in a folder, and report its exit code."""
    from cutaway.cli import main

    written = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (sys.stdin.fileno(), sys.stdout.fileno(), sys.stderr.fileno()):
        os.dup2(written if stream else os.open(os.devnull, os.O_RDONLY), stream)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = ["cutaway", *words]
    warnings.resetwarnings()
    code = main(words)
    sys.stdout.flush()
    sys.stderr.flush()
    report(code)
