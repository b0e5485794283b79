"""A studio over a run whose every string is an attack, served for real; and the same with a token."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from cutaway.run import Finding, Run, RunState, WriterId
from cutaway.run.annotations import annotate
from cutaway.run.findings import append_findings
from cutaway.studio.guards.tokens import Gate
from cutaway.studio.serving.app import Guards
from cutaway.studio.serving.page import Bundle
from cutaway.studio.serving.server import Served, serve_in_thread
from cutaway.studio.the_studio import Studio
from cutaway.tensors import Collections
from tests.unit.cli.run_folders import write_steps

TOKEN = "security-token-of-32-characters!"
SCRIPT = "<script>alert(1)</script>"
IMAGE = "<img src=x onerror=alert(1)>"
SECRET = "AKIAIOSFODNN7EXAMPLE"
OUTSIDE = "what lies outside the store"


@pytest.fixture(scope="session")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one run that ended, full of markup and secrets; beside it is something that nobody may see."""
    beside = tmp_path_factory.mktemp("machine")
    (beside / "outside.txt").write_text(OUTSIDE)
    folder = beside / "runs"
    run = Run.create(folder / f"{IMAGE} & 'quotes'", project=SCRIPT)
    _, lease = run.begin_attempt(from_step=0)
    run.write_document("trace/collections.json", {"included": [], "collections": Collections().to_dict()})
    run.write_config({"lr": 0.1, SCRIPT: IMAGE, "aws_access_key_id": SECRET, "deep": {"password": SECRET}})
    write_steps(run, range(20), names=(f"Net_{SCRIPT}.weight", "CrossEntropyLoss_output_0"))
    rows = {"name": [SCRIPT], "step": [1], "mode": ["TRAIN"], "value": [0.5], "time": [1.0]}
    run.writer("scalars", WriterId("train", "worker_1", 0)).append_rows(rows, 1)
    found = [Finding(SCRIPT, "warning", IMAGE, where={"tensor": SCRIPT, "step": 3}, evidence={SCRIPT: IMAGE})]
    append_findings(run.writer("findings", WriterId("train", "worker_0", 0)), found)
    lease.release(RunState.FINISHED)
    annotate(run, tags=[SCRIPT], note=IMAGE)
    # Links inside the store that lead out of it.
    (folder / "link").symlink_to(beside)
    (run.path / "reports").symlink_to(beside)
    return folder


@pytest.fixture(scope="session")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """A small page: these tests do not need the built one."""
    folder = tmp_path_factory.mktemp("static")
    (folder / "assets").mkdir()
    (folder / "index.html").write_text('<!doctype html><html><head><base href="/" /></head></html>')
    (folder / "assets" / "index-abc.js").write_text("export {};")
    return Bundle.load(folder)


@pytest.fixture(scope="session", autouse=True)
def _with_own_cache(own_cache: None) -> None:
    """No studio of these tests keeps anything beside what its user has."""


@pytest.fixture(scope="session")
def served(root: Path, bundle: Bundle, own_cache: None) -> Iterator[Served]:
    """The studio on loopback, as everybody has it."""
    with serve_in_thread(Studio.open(root), guards=Guards(body_seconds=0.5), bundle=bundle) as server:
        yield server


@pytest.fixture(scope="session")
def gated(root: Path, bundle: Bundle, own_cache: None) -> Iterator[Served]:
    """The studio with a token, as it is when other machines reach it."""
    with serve_in_thread(Studio.open(root, gate=Gate(TOKEN)), bundle=bundle) as server:
        yield server


@pytest.fixture(scope="session")
def run(served: Served) -> str:
    """The id of the run."""
    deadline = time.monotonic() + 60
    while not (rows := httpx.get(f"{served.url}/api/runs").json()["data"]) and time.monotonic() < deadline:
        time.sleep(0.01)
    return str(rows[0]["id"])


@pytest.fixture(scope="session")
def client(served: Served) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=served.url, timeout=20) as one:
        yield one


@pytest.fixture(scope="session")
def gated_client(gated: Served) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=gated.url, timeout=20) as one:
        yield one
