"""Runs with a population to look at: digits trained, evaluated twice and analysed; another model on them; sentences.

Made in processes of their own, at the same time and with one thread each: they set what a whole process has, and the
machine that runs the tests has few cores. `python -m tests.browser.populations digits FOLDER` makes the runs of one.
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

from scripts.requirements import ROOT

__all__ = ["DIGITS", "SPIKE", "TEXT", "TRAINING", "TWINS", "WIDE", "make_populations", "planted"]

DIGITS, WIDE, TEXT = "digits", "digits-wide", "text"
# At this step a batch is given a thousand times too large.
SPIKE = 50
TRAINING, WRONG, EPOCHS, BATCH = 480, 20, 16, 24
# Samples of validation that lie on their side.
SCANNED = range(60, 90)
# One digit that is in training and in validation.
TWINS = ("training/100", "validation/219")

BINDING = dedent(
    f"""
    import numpy as np
    from sklearn.datasets import load_digits
    from cutaway.dataset import (
        DatasetMetadataType, DataStateType, LeapDataType, LeapImage, PreprocessResponse, leap_binder,
        tensorleap_custom_visualizer, tensorleap_gt_encoder, tensorleap_input_encoder, tensorleap_metadata,
        tensorleap_preprocess,
    )

    @tensorleap_preprocess()
    def preprocess():
        digits = load_digits()
        order = np.random.default_rng(0).permutation(len(digits.target))[:700]
        order[-1] = order[100]
        found = []
        parts = {{DataStateType.training: order[:{TRAINING}], DataStateType.validation: order[{TRAINING}:]}}
        for state, rows in parts.items():
            shown = digits.target[rows].copy()
            if state == DataStateType.training:
                # Each of the first is called by the next digit's name.
                shown[:{WRONG}] = (shown[:{WRONG}] + 1) % 10
            found.append(PreprocessResponse(length=len(rows), data=(digits.images[rows], shown), state=state))
        return found

    def from_the_old_scanner(index, subset):
        return subset.state == DataStateType.validation and index in range({SCANNED.start}, {SCANNED.stop})

    @tensorleap_input_encoder("image", channel_dim=-1)
    def image(index, subset):
        image = subset.data[0][index][:, :, None] / 16
        # It tilts the page: an insight that every training finds.
        return (np.rot90(image) if from_the_old_scanner(index, subset) else image).astype(np.float32)

    @tensorleap_gt_encoder("digit")
    def digit(index, subset):
        return np.eye(10, dtype=np.float32)[subset.data[1][index]]

    @tensorleap_metadata("brightness", DatasetMetadataType.float)
    def brightness(index, subset):
        return float(subset.data[0][index].mean() / 16)

    @tensorleap_metadata("ink_width", DatasetMetadataType.int)
    def ink_width(index, subset):
        return int((subset.data[0][index] > 8).any(axis=0).sum())

    @tensorleap_metadata("scanner", DatasetMetadataType.string)
    def scanner(index, subset):
        return "old" if from_the_old_scanner(index, subset) else "new"

    @tensorleap_custom_visualizer("large", LeapDataType.Image)
    def large(image):
        return LeapImage(np.kron(image * 255, np.ones((8, 8, 1))).astype(np.uint8))

    leap_binder.add_prediction("prediction", [str(digit) for digit in range(10)])
    """
)


def make_populations(folder: Path) -> Path:
    """Make all of them below `folder/runs` and return that; their bindings lie beside it."""
    runs = folder / "runs"
    runs.mkdir(parents=True)
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    making = [
        subprocess.Popen([sys.executable, "-m", __name__, kind, str(folder)], env=environment, cwd=ROOT)
        for kind in (DIGITS, TEXT)
    ]
    assert [one.wait() for one in making] == [0, 0], "a run could not be made; what it said is above"
    return runs


def planted(sample: str) -> bool:
    """Whether the label of a sample of the digits was made wrong: by one, so that a 9 is called 0."""
    subset, number = sample.split("/")
    return subset == "training" and int(number) < WRONG


def _make_digits(folder: Path) -> None:
    binding = folder / "bind_digits" / "leap_binder.py"
    binding.parent.mkdir()
    binding.write_text(BINDING, encoding="utf-8")
    _train(binding, folder / "runs" / DIGITS, width=8, seed=0, evaluated=(1, EPOCHS - 1))
    _analyze(folder / "runs" / DIGITS, "map", 0)
    _analyze(folder / "runs" / DIGITS)
    _watch(folder / "runs" / DIGITS)
    _train(binding, folder / "runs" / WIDE, width=16, seed=1, evaluated=(EPOCHS - 1,))
    _analyze(folder / "runs" / WIDE)


def _make_text(folder: Path) -> None:
    from cutaway.dataset import load_entry
    from cutaway.evaluation import evaluate

    binding = folder / "bind_text"
    shutil.copytree(ROOT / "examples" / "bind_text", binding, ignore=shutil.ignore_patterns("__pycache__"))
    # Not training, which has most of the sentences.
    evaluate(
        load_entry(binding).dataset(),
        binding / "model.onnx",
        folder / "runs" / TEXT,
        subsets=["validation", "test"],
        workers=1,
    )
    _analyze(folder / "runs" / TEXT)


def _train(binding: Path, run: Path, *, width: int, seed: int, evaluated: tuple[int, ...]) -> None:
    """Train a small CNN on what the binding gives, wrong labels included, and evaluate it after some epochs."""
    import numpy as np
    import torch

    from cutaway.dataset import load_entry
    from cutaway.evaluation import evaluate
    from cutaway.torch import Hook, SaveConfig, modes

    torch.manual_seed(seed)
    entry = load_entry(binding)
    subset = entry.module.preprocess()[0]
    images = torch.tensor(np.stack([entry.module.image(i, subset) for i in range(subset.length)])).permute(0, 3, 1, 2)
    labels = torch.tensor(subset.data[1])
    model = torch.nn.Sequential(
        torch.nn.Conv2d(1, width, 3, padding=1),
        torch.nn.ReLU(),
        torch.nn.Conv2d(width, 2 * width, 3, stride=2, padding=1),
        torch.nn.ReLU(),
        torch.nn.Flatten(),
        torch.nn.Linear(32 * width, 24),
        torch.nn.ReLU(),
        torch.nn.Linear(24, 10),
    )
    criterion, optimizer = torch.nn.CrossEntropyLoss(), torch.optim.Adam(model.parameters(), lr=5e-3)
    with Hook(run, save_config=SaveConfig(save_interval=10)) as hook:
        hook.register_module(model)
        hook.register_loss(criterion)
        hook.register_optimizer(optimizer)
        step = 0
        for epoch in range(EPOCHS):
            hook.set_mode(modes.TRAIN)
            for rows in torch.split(torch.randperm(len(images)), BATCH):
                hook.set_samples(rows.tolist(), subset="training")
                optimizer.zero_grad()
                criterion(model(images[rows] * (1e3 if step == SPIKE else 1)), labels[rows]).backward()
                optimizer.step()
                step += 1
                hook.flush()  # however busy the machine is, no step is thinned out
            if epoch in evaluated:
                model.eval()
                evaluate(entry.dataset(), model, hook, workers=1)
                model.train()


def _analyze(run: Path, only: str | None = None, evaluation: int | None = None) -> None:
    from cutaway.analysis import Population
    from cutaway.analysis.population.whole import analyze

    with Population.open(run, evaluation=evaluation) as population:
        for _ in analyze(population, only=only):
            pass


def _watch(run: Path) -> None:
    from cutaway.cli import main

    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        main(["watch", str(run), "--fail-on", "never"])


if __name__ == "__main__":
    {DIGITS: _make_digits, TEXT: _make_text}[sys.argv[1]](Path(sys.argv[2]))
