"""`python -m scripts.count_modules`: how many modules of Cutaway one step and one sample go through.

A step is counted from before its backward pass until its row is in the run's files; a sample from its encoder until it
is written, and again from the studio's route until its answer. Entered is a module of which a function was called, in
whatever thread; of several steps only what all of them entered counts, so that what happens now and then does not.
With PYTHONPATH it counts the code of another commit.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np

import cutaway

__all__ = ["main"]

PACKAGE = str(Path(cutaway.__file__).parent) + os.sep
# Set for the body of a function, and not for that of a module or a class.
OPTIMIZED = 1
STEPS, SAMPLES = 5, 24


class Entered:
    """The modules of Cutaway that were entered while it was listening, in the order in which they were."""

    def __init__(self) -> None:
        self.modules: dict[str, None] = {}
        self.listening = False
        self._names: dict[CodeType, str] = {}

    @contextmanager
    def followed(self) -> Iterator[None]:
        """Follow this thread and all that begin in it."""
        threading.setprofile(self._heard)
        sys.setprofile(self._heard)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    @contextmanager
    def listen(self) -> Iterator[None]:
        """Note what is entered meanwhile."""
        self.modules, self.listening = {}, True
        try:
            yield
        finally:
            self.listening = False

    def _heard(self, frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and self.listening:
            code = frame.f_code
            name = self._names.get(code)
            if name is None:
                name = self._names[code] = _module_of(code)
            if name:
                self.modules[name] = None


def _module_of(code: CodeType) -> str:
    if not code.co_flags & OPTIMIZED or not code.co_filename.startswith(PACKAGE):
        return ""
    path = Path(code.co_filename.removeprefix(PACKAGE)).with_suffix("")
    return ".".join(part for part in path.parts if part != "__init__") or "cutaway"


def of_step(folder: Path) -> list[str]:
    """Return the modules between the backward pass and the write of one step of a torch training."""
    import torch

    from cutaway.torch import Hook

    entered, found = Entered(), list[list[str]]()
    torch.manual_seed(0)
    model, criterion = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Linear(8, 2)), torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with entered.followed(), Hook(folder / "run") as hook:
        hook.register_module(model)
        hook.register_loss(criterion)
        hook.register_optimizer(optimizer)
        for step in range(2 * STEPS):
            optimizer.zero_grad()
            loss = criterion(model(torch.randn(4, 4)), torch.zeros(4, dtype=torch.long))
            before = _size(folder / "run" / "trace" / "steps")
            with entered.listen():
                loss.backward()
                optimizer.step()
                _wait_for_more(folder / "run" / "trace" / "steps", before)
            hook.flush()
            if step >= STEPS:
                found.append(list(entered.modules))
    return [name for name in found[0] if all(name in others for others in found)]


def of_sample(folder: Path) -> tuple[list[str], list[str]]:
    """Return the modules between the encoder and the files of one sample, and those of the studio's answer about it."""
    import torch
    from fastapi.testclient import TestClient

    from cutaway.dataset import Binder, PreprocessResponse
    from cutaway.evaluation import evaluate

    entered, seen = Entered(), list[int]()
    binder = Binder()
    subsets = [PreprocessResponse(length=SAMPLES), PreprocessResponse(length=SAMPLES)]

    def x(index: int, _: PreprocessResponse) -> Any:
        # The first samples show shapes and the wiring; from a later one on it is the pass itself.
        seen.append(index)
        entered.listening = entered.listening or len(seen) > SAMPLES
        return np.random.default_rng(index).normal(size=4).astype(np.float32)

    binder.set_preprocess(lambda: subsets)
    binder.set_input(x, "x")
    binder.set_ground_truth(lambda index, _: np.eye(2, dtype=np.float32)[index % 2], "y")
    binder.add_prediction("y", ["a", "b"])
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    with entered.followed():
        evaluate(binder.dataset(), model, folder / "runs" / "evaluated", workers=1, keep_model=False)
        entered.listening = False
    written = list(entered.modules)
    studio = import_module("cutaway.studio.the_studio").Studio.open(folder / "runs")
    asked = Entered()
    with asked.followed(), TestClient(_create_app()(studio), base_url="http://127.0.0.1") as client:
        run = client.get("/api/runs").json()["data"][0]["id"]
        with asked.listen():
            answer = client.get(f"/api/runs/{run}/sample", params={"sample": "validation/3"})
    if not answer.is_success:
        raise RuntimeError(answer.text)
    return written, list(asked.modules)


def _create_app() -> Any:
    try:
        return import_module("cutaway.studio.serving.app").create_app
    except ModuleNotFoundError:
        # Where it was before the studio had inner layers.
        return import_module("cutaway.studio.app").create_app


def _size(table: Path) -> int:
    return sum(path.stat().st_size for path in table.glob("*.idx")) if table.is_dir() else 0


def _wait_for_more(table: Path, before: int) -> None:
    end = time.monotonic() + 30
    while _size(table) <= before:
        if time.monotonic() > end:
            raise TimeoutError(f"No step was written to {table}.")
        time.sleep(0.002)


def main(arguments: list[str] | None = None) -> int:
    """Print the counts, and with `--list` the modules."""
    parser = argparse.ArgumentParser(prog="python -m scripts.count_modules", description=__doc__)
    parser.add_argument("--list", action="store_true", help="name the modules in the order in which they were entered")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        step = of_step(Path(folder))
        written, answered = of_sample(Path(folder))
    parts = {
        "between the backward pass and the write of one step": step,
        "between the encoder and the files of one sample": written,
        "between the studio's route and its answer about one sample": answered,
        "between the encoder and the page for one sample": list(dict.fromkeys([*written, *answered])),
    }
    for words, modules in parts.items():
        print(f"{len(modules):4} modules {words}")
        if options.list:
            print("".join(f"       {name}\n" for name in modules), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
