"""Makes the golden runs: small run folders by the code of some commit, and what that commit answers about them.

They were made by commit d8fdefa, so that later code is held to open, show and analyze its folders the same:

    git worktree add /srv/old d8fdefa
    PYTHONPATH=/srv/old/src:/srv/new /srv/venv/bin/python -m tests.golden.make_golden_runs /srv/digits
    PYTHONPATH=/srv/old/src:/srv/new /srv/venv/bin/python -m tests.golden.asking

The folder given must not exist. It is named in the files, as is the place of torch: both, and all on PYTHONPATH, are
best links in a neutral place. What these files import of the studio is where it is now, and not where d8fdefa had it:
take them as they were in the commit that added them. Data, models and seeds are fixed; ids and times are not.
"""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import shutil
import sys
import time
from pathlib import Path
from typing import Any

from tests.golden.asking import studio_over

HERE = Path(__file__).parent
TRAINED, DIGITS, WIDE = "trained", "digits", "digits-wide"


def make(folder: Path) -> None:
    """Make the runs below a new folder, and put them beside this file."""
    import cutaway

    folder.mkdir(parents=True)
    # What a run notes of how it was made: the command, and the folder, which is in no repository.
    os.chdir(folder)
    sys.argv = ["train.py"]
    shutil.copy(HERE / "binding" / "leap_binder.py", folder)
    runs = folder / "runs"
    train(runs / TRAINED)
    binding = folder / "leap_binder.py"
    evaluate_alone(binding, runs / WIDE)
    train_and_evaluate(binding, runs / DIGITS, evaluated=(1, 9))
    work_on(runs)
    shutil.rmtree(runs / ".cutaway", ignore_errors=True)
    made = HERE / "runs"
    shutil.rmtree(made, ignore_errors=True)
    shutil.copytree(runs, made)
    print(f"made by {cutaway.__file__}")


def train(path: Path) -> None:
    """Train for two attempts, with everything that a hook can record, and NaN at the end of the second."""
    import torch

    from cutaway.torch import Hook, ReductionConfig, SaveConfig, get_collection

    torch.manual_seed(0)
    model = torch.nn.Sequential()
    model.add_module("first", torch.nn.Linear(6, 8))
    model.add_module("relu", torch.nn.ReLU())
    model.add_module("dead", torch.nn.Linear(8, 8))
    model.add_module("dead_relu", torch.nn.ReLU())
    model.add_module("head", torch.nn.Linear(8, 3))
    torch.nn.init.constant_(model.dead.bias[:4], -50.0)
    criterion, optimizer = torch.nn.CrossEntropyLoss(reduction="none"), torch.optim.SGD(model.parameters(), lr=0.1)
    inputs, labels = torch.randn(64, 6), torch.randint(0, 3, (64,))
    for attempt in range(2):
        get_collection("mine").include("head")
        get_collection("mine").reduction_config = ReductionConfig(reductions=["max"], norms=["l1"])
        hook = Hook(
            path,
            include_collections=["weights", "biases", "gradients", "losses", "relu_outputs", "mine"],
            save_config=SaveConfig(save_interval=10),
            resume=bool(attempt),
            rules=["ExplodingTensor"],
        )
        with hook:
            hook.register_module(model)
            hook.register_loss(criterion)
            hook.register_optimizer(optimizer)
            hook.set_config({"lr": 0.1, "model": {"kind": "mlp", "depth": 3}, "api_key": "hunter2-swordfish"})
            for step in range(48 if attempt == 0 else 32):
                training = step % 8 < 6
                hook.set_mode("TRAIN" if training else "EVAL")
                hook.set_epoch(attempt * 10 + step // 8)
                rows = [(6 * step + i) % 64 for i in range(6)]
                hook.set_samples(rows, subset="training" if training else "test")
                optimizer.zero_grad()
                losses = criterion(model(inputs[rows]), labels[rows])
                if training:
                    losses.mean().backward()
                    optimizer.step()
                hook.save_sample_values(rows, subset="training" if training else "test", loss=losses.tolist())
                hook.save_scalar("accuracy", float("nan") if step == 20 else step / 100)
                hook.flush()
                if attempt == 1 and step == 28:
                    with torch.no_grad():
                        model.first.weight[0, 0] = float("nan")
    ask_command("watch", str(path), "--fail-on", "never")
    ask_command("runs", "tag", str(path), "golden", "two attempts")
    ask_command("runs", "note", str(path), "Made to stay: a dead layer, and NaN at the end.")


def train_and_evaluate(binding: Path, path: Path, *, evaluated: tuple[int, ...]) -> None:
    """Train a small network on what the binding gives and evaluate it after some epochs."""
    import torch

    from cutaway.dataset import load_entry
    from cutaway.evaluation import evaluate
    from cutaway.torch import Hook, SaveConfig, modes

    entry = load_entry(binding)
    images, labels = training_samples(entry)
    model = network(width=6, seed=0)
    criterion = torch.nn.CrossEntropyLoss(reduction="none")
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    with Hook(path, save_config=SaveConfig(save_interval=20)) as hook:
        hook.register_module(model)
        hook.register_loss(criterion)
        hook.register_optimizer(optimizer)
        hook.set_config({"lr": 1e-2, "width": 6})
        for epoch in range(max(evaluated) + 1):
            hook.set_mode(modes.TRAIN)
            hook.set_epoch(epoch)
            for rows in torch.split(torch.randperm(len(images)), 14):
                hook.set_samples(rows.tolist(), subset="training")
                optimizer.zero_grad()
                losses = criterion(model(images[rows]), labels[rows])
                losses.mean().backward()
                optimizer.step()
                hook.save_sample_values(rows.tolist(), subset="training", loss=losses.tolist())
                hook.flush()
            if epoch in evaluated:
                model.eval()
                evaluate(entry.dataset(), model, hook, workers=1)
                model.train()


def evaluate_alone(binding: Path, path: Path) -> None:
    """Train a wider network without a hook and evaluate it into a run of its own."""
    import torch

    from cutaway.dataset import load_entry
    from cutaway.evaluation import evaluate

    entry = load_entry(binding)
    images, labels = training_samples(entry)
    model = network(width=12, seed=1)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(40):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()
    model.eval()
    evaluate(entry.dataset(), model, path, workers=1)


def training_samples(entry: Any) -> tuple[Any, Any]:
    """Return the images and labels of a binding's training subset, the wrong labels included."""
    import numpy as np
    import torch

    subset = entry.module.preprocess()[0]
    images = np.stack([entry.module.image(row, subset) for row in range(subset.length)])
    return torch.tensor(images), torch.tensor(subset.data[1])


def network(*, width: int, seed: int) -> Any:
    """Return a small classifier of digits."""
    import torch

    torch.manual_seed(seed)
    return torch.nn.Sequential(
        torch.nn.Flatten(), torch.nn.Linear(64, width), torch.nn.ReLU(), torch.nn.Linear(width, 4)
    )


def work_on(runs: Path) -> None:
    """Do what people do with an evaluated run: analyze it, correct labels, test slices, keep a selection."""
    digits = str(runs / DIGITS)
    ask_command("analyze", digits, "map", "--evaluation", "0")
    ask_command("analyze", str(runs / WIDE))
    ask_command("analyze", digits)
    ask_command("watch", digits, "--fail-on", "never")
    ask_command("test", digits, "--add", "accuracy where ink_width < 6 at least 50 %", "--name", "narrow")
    ask_command("test", digits, "--add", "accuracy where label = 2 at least 99 %", "--why", "twos matter")
    rows = "sample,action,label,weight\ntraining/0,relabel,1,\ntraining/1,drop,,\ntraining/2,reweight,,0.5\n"
    decisions = runs.parent / "decisions.csv"
    decisions.write_text(rows, encoding="utf-8")
    ask_command("fix", digits, "--from", str(decisions), "--name", "by-hand")
    ask_command("runs", "tag", digits, "golden")
    with studio_over(runs) as studio:
        run = studio.id_of(DIGITS)
        selected = {"where": ["label = 1"]}
        studio.post(f"/api/runs/{run}/selections", {"name": "ones", "selected": selected, "note": "all of them"})
        suggested = studio.data(f"/api/runs/{run}/suggestions")
        if suggested:
            decision = {"sample": suggested[0]["sample"], "decision": "accept"}
            studio.post(f"/api/runs/{run}/decisions", decision)
        studio.post(f"/api/runs/{studio.id_of(WIDE)}/annotations", {"baseline": True}, method="PATCH")
        for job in (
            {"kind": "analyze", "run": run, "what": "outliers"},
            {"kind": "compare", "run": run, "other": studio.id_of(WIDE)},
        ):
            number = studio.post("/api/jobs", job)["id"]
            while (state := studio.data(f"/api/jobs/{number}")["state"]) in ("waiting", "running"):
                time.sleep(0.1)
            assert state == "finished", studio.data(f"/api/jobs/{number}")


def ask_command(*words: str) -> None:
    """Run a command for what it leaves in the run."""
    from cutaway.cli import main

    try:
        with contextlib.redirect_stdout(io.StringIO()):
            main(list(words))
    except SystemExit as end:
        if end.code:
            raise RuntimeError(f"`cutaway {shlex.join(words)}` ended with {end.code}") from end


if __name__ == "__main__":
    make(Path(sys.argv[1]))
