"""Starts the servers that pages come from, each in a process of its own, and ends them."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Server", "serve_folder", "serve_studio", "serve_tensorboard"]

STARTING = 60.0


@dataclass(frozen=True)
class Server:
    """A server that answers, and its process."""

    url: str
    pid: int

    def memory_mb(self) -> float:
        """Its resident memory now."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


@contextlib.contextmanager
def serve_studio(folder: Path, cache: Path) -> Iterator[Server]:
    """`cutaway studio` over a folder of runs, with a cache of its own."""
    command = [sys.executable, "-m", "cutaway", "studio", str(folder), "--port", "0", "--no-open"]
    with _started(command, {"XDG_CACHE_HOME": str(cache)}) as process:
        said = ""
        for line in process.stdout or ():
            said += line
            if found := re.search(r"http://[^\s]+", line):
                yield Server(found[0].rstrip("/."), process.pid)
                return
        raise RuntimeError(f"the studio did not start: {said.strip()}")


@contextlib.contextmanager
def serve_tensorboard(folder: Path) -> Iterator[Server]:
    """TensorBoard over a folder of event files."""
    port = _free_port()
    module = "tensorboard.main"
    command = [sys.executable, "-m", module, "--logdir", str(folder), "--port", str(port), "--host", "127.0.0.1"]
    # Its default looks for new files every five seconds; the first load is what is compared.
    with _started([*command, "--load_fast", "false"], {}) as process:
        yield _answering(f"http://127.0.0.1:{port}", process)


@contextlib.contextmanager
def serve_folder(folder: Path) -> Iterator[Server]:
    """The standard library's own server of files."""
    port = _free_port()
    command = [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1", "--directory", str(folder)]
    with _started(command, {}) as process:
        yield _answering(f"http://127.0.0.1:{port}", process)


@contextlib.contextmanager
def _started(command: list[str], variables: Mapping[str, str]) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        command,
        env={**os.environ, **variables, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout:
            process.stdout.close()


def _answering(url: str, process: subprocess.Popen[str]) -> Server:
    end = time.monotonic() + STARTING
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=2):
            return Server(url, process.pid)
        time.sleep(0.1)
    raise RuntimeError(f"what was started for {url} did not answer")


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
