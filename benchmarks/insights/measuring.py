"""Makes one population, asks for its insights as a user does, and judges them. Trainings can be kept on disk."""

from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.insights.columns import BATCH, CAMERA, SICK_BATCH, SICK_CAMERA
from benchmarks.insights.generated import GENERATED, draw
from benchmarks.insights.judging import judge_insights
from benchmarks.insights.planted import ALL_WRONG, SICKNESSES, PlantedPopulation
from benchmarks.insights.trained import TRAINED, Training, evaluated
from cutaway.analysis import Population

__all__ = ["measure_insights"]


def measure_insights(job: dict[str, Any]) -> dict[str, Any]:
    """Return what is so of the insights into the population that a job names."""
    named = {one.name: one for one in TRAINED}
    began = time.process_time()
    if job["setting"] in named:
        made = _trained(named[job["setting"]], job)
    else:
        made = draw(next(one for one in GENERATED if one.name == job["setting"]), job["case"], job["seed"])
    making, began = time.process_time() - began, time.process_time()
    found = Population(made.samples).find_insights(seed=job["seed"])
    judged = judge_insights(made.samples, found, made.planted)
    wrong = ~np.asarray(made.samples.table["correct"].to_pylist(), bool)
    held = np.asarray(made.samples.table["subset"].to_pylist()) != "training"
    return judged | {"error": float(wrong[held].mean()), "making": making, "asking": time.process_time() - began}


def _trained(setting: Training, job: dict[str, Any]) -> PlantedPopulation:
    arrays = _kept(setting, job)
    columns, trained = arrays["columns"], arrays["trained"]
    label = arrays["label"]
    names = tuple(str(one) for one in range(arrays["chances"].shape[1]))
    own = np.maximum(arrays["chances"][np.arange(len(label)), label], 1e-12)
    table = {
        "subset": np.where(trained, "training", "validation"),
        "loss": -np.log(own.astype(np.float64)),
        **columns,
    }
    samples = Population.from_arrays(arrays["latents"], [names[one] for one in label], arrays["chances"], table).samples
    sick = {one: columns[BATCH] == SICK_BATCH if one == ALL_WRONG else columns[CAMERA] == SICK_CAMERA
            for one in SICKNESSES[job["case"]]}  # fmt: skip
    return PlantedPopulation(samples, {name: mask & ~trained for name, mask in sick.items()})


def _kept(setting: Training, job: dict[str, Any]) -> dict[str, Any]:
    """Return the arrays of a training, from the folder where they are kept if there is one."""
    path = Path(job["source"]) if job.get("source") else None
    if not job.get("keep"):
        return evaluated(setting, job["case"], job["seed"], path)
    about = json.dumps([setting.name, setting.training, setting.held, job["case"], job["seed"]])
    file = Path(job["keep"]) / f"{hashlib.sha256(about.encode()).hexdigest()[:16]}.npz"
    if not file.is_file():
        found = evaluated(setting, job["case"], job["seed"], path)
        file.parent.mkdir(parents=True, exist_ok=True)
        columns = {f"column {name}": values for name, values in found.pop("columns").items()}
        np.savez(file, **found, **columns)
    with np.load(file) as arrays:
        plain = {name: arrays[name] for name in arrays.files if not name.startswith("column ")}
        columns = {name.removeprefix("column "): arrays[name] for name in arrays.files if name.startswith("column ")}
    return {**plain, "columns": columns}
