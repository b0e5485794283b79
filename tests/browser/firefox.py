"""Drives an installed Firefox through WebDriver BiDi, which it speaks by itself: playwright drives only one of its own.

Just enough for a smoke test: open an address, evaluate an expression, take a picture.
"""

import base64
import itertools
import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import ClientConnection, connect

__all__ = ["Firefox", "installed_firefox", "open_firefox"]

STARTING = 60.0
PATIENCE = 30.0
PROGRAMS = ("firefox", "firefox-esr")


def installed_firefox() -> Path:
    """The Firefox on the path; skips the test where there is none."""
    for name in PROGRAMS:
        if found := shutil.which(name):
            return Path(found)
    pytest.skip("there is no Firefox on the path")


class Firefox:
    """One tab of a Firefox. `errors` has what its console complained about."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self.errors: list[str] = []
        self._send("session.new", capabilities={})
        self._send("session.subscribe", events=["log.entryAdded"])
        self._tab = self._send("browsingContext.create", type="tab")["context"]
        self._send("browsingContext.setViewport", context=self._tab, viewport={"width": 1280, "height": 800})

    def open(self, url: str) -> None:
        """Go to an address and wait until it is loaded."""
        self._send("browsingContext.navigate", context=self._tab, url=url, wait="complete")

    def evaluate(self, expression: str) -> Any:
        """The value of an expression in the page."""
        target = {"context": self._tab}
        found = self._send("script.evaluate", expression=expression, target=target, awaitPromise=True)
        if found["type"] == "exception":
            raise AssertionError(found["exceptionDetails"]["text"])
        return found["result"].get("value")

    def wait_for(self, expression: str) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + PATIENCE
        while not self.evaluate(expression):
            assert time.monotonic() < end, f"never true: {expression}"
            time.sleep(0.05)

    def press(self, key: str) -> None:
        """Press a key and let it go."""
        actions = [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        keyboard = [{"type": "key", "id": "keyboard", "actions": actions}]
        self._send("input.performActions", context=self._tab, actions=keyboard)

    def screenshot(self) -> bytes:
        """What is to be seen, as PNG."""
        return base64.b64decode(self._send("browsingContext.captureScreenshot", context=self._tab)["data"])

    def _send(self, method: str, **parameters: Any) -> Any:
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            said = json.loads(self._socket.recv(timeout=PATIENCE))
            if said.get("method") == "log.entryAdded" and said["params"]["level"] == "error":
                self.errors.append(said["params"]["text"])
            if said.get("id") == number:
                assert said["type"] == "success", said
                return said["result"]


@contextmanager
def open_firefox(program: Path, profile: Path) -> Iterator[Firefox]:
    """Start a Firefox with a profile of its own, without a window."""
    command = [str(program), "--headless", "--no-remote", "--profile", str(profile), "--remote-debugging-port", "0"]
    # In a container without user namespaces its own sandbox cannot be set up.
    variables = {**os.environ, "HOME": str(profile), "MOZ_DISABLE_CONTENT_SANDBOX": "1"}
    log = profile / "said.txt"
    with log.open("w") as sink:
        process = subprocess.Popen(command, env=variables, stdout=sink, stderr=subprocess.STDOUT)
    try:
        with connect(f"{_address(log)}/session", max_size=64 << 20) as socket:
            yield Firefox(socket)
    finally:
        process.terminate()
        process.wait(20)


def _address(log: Path) -> str:
    end = time.monotonic() + STARTING
    while time.monotonic() < end:
        if found := re.search(r"ws://\S+", log.read_text()):
            return found[0]
        time.sleep(0.1)
    pytest.fail(f"Firefox did not start: {log.read_text()[-500:]}")
