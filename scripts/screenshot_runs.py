"""Makes what the pictures of the studio show: runs that were trained, evaluated and analysed, and made populations.

Everything lies below one folder, and is made once in it: `runs`, with bindings beside it, and `populations`. Whoever
shows them stands in that folder: what is shown then names no folder of this machine.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.studio.made_population import made_population
from tests.browser.populations import make_populations

__all__ = ["MADE", "make_runs"]

# What populations can be like, besides digits and sentences. None of them has pictures of its samples.
MADE: dict[str, Callable[[Path], object]] = {
    "three-classes": lambda folder: made_population(folder, 3000, 3),
    "thousand-classes": lambda folder: made_population(folder, 60_000, 1000),
    "ten-samples": lambda folder: made_population(folder, 10, 3),
    "a-million": lambda folder: made_population(folder, 1_000_000, 10),
    "long-names": lambda folder: made_population(folder, 3000, 5, long_names=True),
    "no-map-yet": lambda folder: made_population(folder, 120_000, 10, analyses=False),
}


def make_runs(project: Path) -> tuple[Path, Path]:
    """Return the folders of the trained runs and of the made ones; what is there already is not made again."""
    trained, made = project / "runs", project / "populations"
    if not trained.is_dir():
        print("Training ...", flush=True)
        make_populations(project)
        _demo(project)
    for name, make in MADE.items():
        if not (made / name).is_dir():
            print(f"Making {name} ...", flush=True)
            make(made / name)
    some = made / "some-pictures"
    if not some.is_dir():
        shutil.copytree(next(trained.glob("demo_labels-*")), some)
        (some / "previews" / "validation.arrow").unlink()
    return trained, made


def _demo(project: Path) -> None:
    """Train the demo's networks."""
    variables = {name: value for name, value in os.environ.items() if name != "CUTAWAY_HOME"}
    command = [sys.executable, "-m", "cutaway", "demo", "--json"]
    subprocess.run(command, check=True, cwd=project, env=variables, stdout=subprocess.DEVNULL)
    for config in project.glob("runs/*/config.yaml"):
        config.write_text(re.sub(r"(?m)^(\s*- )/.*__main__\.py$", r"\1cutaway/__main__.py", config.read_text()))
