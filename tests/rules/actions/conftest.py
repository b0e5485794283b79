"""A run, a finding, and real endpoints to send to."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from cutaway.rules.actions.channel import Message
from cutaway.run import Finding, Run
from tests.rules.actions.servers import Endpoint, MailServer, http_endpoint, mail_server

SECRET = "s3cr3t-value-of-the-webhook"
PASSWORD = "pa55word-of-the-mail-server"


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing from outside: no proxies, no settings."""
    for name in [name for name in os.environ if name.startswith("CUTAWAY_") or name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("CUTAWAY_WEBHOOK_SECRET", SECRET)
    monkeypatch.setenv("CUTAWAY_SMTP_PASSWORD", PASSWORD)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run.create(tmp_path / "mnist-7")


@pytest.fixture
def finding() -> Finding:
    where = {"step": 41, "tensor": "gradient/fc1.weight", "attempt": 0}
    return Finding("VanishingGradient", "warning", "The gradient of fc1 vanishes.", where=where, id="f" * 32)


@pytest.fixture
def message(run: Run, finding: Finding) -> Message:
    told = {name: getattr(finding, name) for name in ("id", "code", "severity", "message")}
    return Message("k" * 32, run.name, str(run.path), 1_700_000_000.0, {**told, "where": dict(finding.where)})


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with http_endpoint() as server:
        yield server


@pytest.fixture
def mail() -> Iterator[MailServer]:
    with mail_server() as server:
        yield server
