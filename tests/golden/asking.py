"""Asks a folder of runs all that a person can see of it: by commands, by the trial, and over HTTP.

`python -m tests.golden.asking` writes what the installed code answers about the golden runs to `answers.json`.
Answers are without what differs from one asking to the next, so that two of them are equal where the same is said.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
from fastapi.testclient import TestClient

__all__ = ["COMMANDS", "ROUTES", "AskedStudio", "answers_of", "studio_over"]

RUNS = ("trained", "digits", "digits-wide")
TRAINED = ("trained", "digits")
SAMPLE, TENSOR = "validation/3", "Sequential_first.weight"
ANALYSES = ("clusters", "class-distances", "units", "confusion", "batches", "mislabeled", "ambiguous")
MORE_ANALYSES = ("duplicates", "leakage", "outliers", "to-label", "insights")
COMMANDS = [
    "runs list .",
    *(f"runs show {run} --verify" for run in RUNS),
    *(f"runs size {run}" for run in RUNS),
    "runs compare digits digits-wide trained",
    *(f"tensors {run}" for run in TRAINED),
    "tensors trained --statistic mean --mode EVAL",
    "tensors trained --step 20",
    "control trained",
    "analyze digits",
    "analyze digits-wide mislabeled",
    "analyze digits map",
    "analyze digits map --evaluation 0",
    "analyze digits curve --x metadata.brightness --by label",
    *(f"analyze digits {name}" for name in (*ANALYSES, *MORE_ANALYSES)),
    f"analyze digits similar --sample {SAMPLE} -k 5",
    f"analyze digits heat-maps --sample {SAMPLE} --binding {{binding}} --no-sanity",
    "analyze digits compare --with digits-wide",
    "test digits",
    "test digits --list",
    "fix digits --list",
    "fix digits --dry-run",
]
ROUTES = [
    "/api/runs",
    "/api/runs/columns",
    "/api/compare?run={digits}&run={digits-wide}",
    "/api/compare/samples?before={digits-wide}&after={digits}",
    "/api/compare/samples?before={digits}&after={digits-wide}",
    "/api/compare/samples.arrow?before={digits}&after={digits-wide}",
    "/api/tests?run={digits}&run={digits-wide}",
    "/api/jobs",
    *(
        f"/api/runs/{{{run}}}{path}"
        for run in RUNS
        for path in ("", "/scalars", "/steps", "/samples", "/layers", "/tensors", "/findings", "/requests")
    ),
    *(
        f"/api/runs/{{trained}}{path}"
        for path in (
            "/curves.arrow?series=accuracy@TRAIN",
            "/tensors/overview.arrow?search=weight&columns=10",
            f"/tensor?name={TENSOR}",
            f"/tensor/series.arrow?name={TENSOR}",
            f"/tensor/histogram?name={TENSOR}&step=0",
            f"/tensor/values.arrow?name={TENSOR}&step=0",
        )
    ),
    *(
        f"/api/runs/{{digits}}{path}"
        for path in (
            "/population",
            "/population?evaluation=0",
            "/population/points.arrow",
            "/population/columns.arrow?column=loss&column=label",
            f"/population/rows?sample={SAMPLE}",
            "/population/search?where=label = 2&limit=20",
            "/population/samples.csv?where=loss > 0.5",
            "/population/clusters",
            "/selections",
            f"/sample?sample={SAMPLE}",
            "/sample?sample=training/0",
            f"/sample/similar?sample={SAMPLE}&count=5",
            f"/previews?sample={SAMPLE}&sample=training/0",
            "/insights",
            "/suggestions",
            "/tests",
        )
    ),
]
# What says when, where or by whom it was asked, and what a machine's speed decides.
VOLATILE = frozenset({"age_seconds", "request", "path", "version", "time", "updated"})

# Of longer lists the first are compared, and how many there are.
MOST_SHOWN = 16


class AskedStudio:
    """A studio over a folder of runs, and what it answers."""

    def __init__(self, client: TestClient) -> None:
        self.client = client
        self.ids = {row["name"]: row["id"] for row in self.data("/api/runs")}

    def id_of(self, run: str) -> str:
        return str(self.ids[run])

    def data(self, route: str) -> Any:
        answer = self.client.get(route)
        assert answer.status_code == 200, (route, answer.text)
        return answer.json()["data"]

    def post(self, route: str, body: dict[str, Any], *, method: str = "POST") -> Any:
        answer = self.client.request(method, route, json=body)
        assert answer.is_success, (route, answer.text)
        return answer.json()["data"]

    def answer(self, route: str) -> Any:
        """Return what a route answers: JSON as it is, Arrow as columns, anything else as text."""
        for name, number in self.ids.items():
            route = route.replace(f"{{{name}}}", number)
        answer = self.client.get(route)
        if "arrow" in answer.headers["content-type"]:
            table = pa.ipc.open_stream(io.BytesIO(answer.content)).read_all()
            about = {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}
            return {"columns": table.to_pydict(), "types": [str(one) for one in table.schema.types], "about": about}
        if "json" in answer.headers["content-type"]:
            return answer.json()
        return answer.text


@contextmanager
def studio_over(root: Path) -> Iterator[AskedStudio]:
    """Open a studio over a folder of runs."""
    from cutaway.studio.serving.app import create_app
    from cutaway.studio.the_studio import Studio

    studio = Studio.open(root)
    try:
        with TestClient(create_app(studio), base_url="http://127.0.0.1") as client:
            yield AskedStudio(client)
    finally:
        studio.close()


def answers_of(root: Path) -> dict[str, Any]:
    """Return all answers about the runs of a folder, by what was asked."""
    answers = {f"cutaway {command}": _told(command, root) for command in COMMANDS}
    answers |= {f"trial of {run}": _trial(root / run) for run in TRAINED}
    # Commands to copy name runs as seen from here.
    with contextlib.chdir(root), studio_over(root) as studio:
        answers |= {f"GET {route}": studio.answer(route) for route in ROUTES}
    return {asked: settled(answer, root) for asked, answer in answers.items()}


def settled(answer: Any, root: Path) -> Any:
    """Return an answer without what differs from one asking to the next, in values that JSON has."""
    if isinstance(answer, dict):
        gone = VOLATILE | {"min", "max", "different"} if answer.get("name") in VOLATILE else VOLATILE
        return {str(key): settled(held, root) for key, held in answer.items() if key not in gone}
    if isinstance(answer, (list, tuple)):
        shown = [settled(held, root) for held in answer[:MOST_SHOWN]]
        return shown if len(answer) <= MOST_SHOWN else [*shown, f"and {len(answer) - MOST_SHOWN} more"]
    if isinstance(answer, float):
        return float(f"{answer:.10g}") if math.isfinite(answer) else str(answer)
    if isinstance(answer, str):
        text = answer.replace(str(root), "RUNS").replace(str(Path(__file__).parent / "binding"), "BINDING")
        # On a slow machine fewer samples are compared.
        text = re.sub(r"on \d+ samples it does [\d.]+(, \w+ [\d.]+)*;", "on some samples it does best;", text)
        return re.sub(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+\+00:00$", "a moment", text)
    return answer


def _told(command: str, root: Path) -> Any:
    """Run a command with --json and return what it prints and how it ends."""
    from cutaway.cli import main

    words = [str(root / word) if word in (*RUNS, ".") else word for word in _words(command)]
    printed, code = io.StringIO(), 0
    try:
        with contextlib.redirect_stdout(printed):
            main([*words, "--json"])
    except SystemExit as end:
        code = int(end.code or 0)
    return {"code": code, "answer": json.loads(printed.getvalue())}


def _words(command: str) -> list[str]:
    return [word.format(binding=Path(__file__).parent / "binding") for word in command.split()]


def _trial(path: Path) -> dict[str, Any]:
    """Return what a trial reads: steps, names, statistics, and every saved value of some tensors."""
    from cutaway.trial import create_trial

    trial = create_trial(str(path))
    found: dict[str, Any] = {"steps": trial.steps(), "tensors": sorted(trial.tensor_names())}
    for name in found["tensors"]:
        tensor = trial.tensor(name)
        found[name] = (
            {str(step): tensor.value(step).tolist() for step in tensor.steps()[:3]} if "weight" in name else []
        )
    return found


if __name__ == "__main__":
    here = Path(__file__).parent
    with tempfile.TemporaryDirectory() as folder:
        answers = answers_of(Path(shutil.copytree(here / "runs", Path(folder) / "runs")))
    lines = [f"{json.dumps(asked)}: {json.dumps(answer, sort_keys=True)}" for asked, answer in sorted(answers.items())]
    (here / "answers.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
