"""Processes to be killed, cut off and left without a goodbye, made quickly.

Starting Python with torch takes seconds. One process imports it once and forks a child for each script: the child runs
it as `__main__` and then ends as any interpreter does, with its exit handlers and its traceback.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple


class Ended(NamedTuple):
    """How a child ended: an exit code, or a signal as a negative number; and what it printed."""

    code: int
    output: str


class Child:
    """A running script."""

    def __init__(self, zygote: Zygote, pid: int, output: Path) -> None:
        self.pid = pid
        self._zygote = zygote
        self._output = output

    def signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def wait(self) -> Ended:
        status = self._zygote.ask({"wait": self.pid})
        text = self._output.read_text()
        self._output.unlink()
        return Ended(os.waitstatus_to_exitcode(status), text)


class Zygote:
    """The process that forks."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._count = 0
        command = [sys.executable, __file__]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def start(self, script: str, *arguments: object, **environment: str) -> Child:
        self._count += 1
        output = Path(self._folder.name) / str(self._count)
        request = {"script": script, "arguments": [str(a) for a in arguments], "environment": environment}
        return Child(self, self.ask({**request, "output": str(output)}), output)

    def run(self, script: str, *arguments: object, **environment: str) -> Ended:
        return self.start(script, *arguments, **environment).wait()

    def ask(self, request: dict[str, Any]) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(60)
        self._folder.cleanup()


def _become(request: dict[str, Any]) -> str:
    """In the child: take over what a process of its own would have, and return its script."""
    handle = os.open(request["output"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.environ.update(request["environment"])
    sys.argv = ["script.py", *request["arguments"]]
    return str(request["script"])


def _serve() -> str | None:
    """Answer requests until there are no more, and return None; in a child, return its script."""
    import torch

    import cutaway.capture.patience
    import cutaway.torch

    # As in the tests' own process: no step is thinned because the machine is busy.
    vars(cutaway.capture.patience).update(STATISTICS_PATIENCE=60.0, TENSOR_PATIENCE=60.0, FREE_SECONDS=60.0)
    torch.set_num_threads(1)
    # The first optimizer imports as much again.
    torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.1).step()
    # Unbuffered reading: a child must not find requests of others in a copied buffer.
    while line := _line():
        request = json.loads(line)
        if "wait" in request:
            answer = os.waitpid(request["wait"], 0)[1]
        else:
            answer = os.fork()
            if answer == 0:
                return _become(request)
        os.write(1, f"{answer}\n".encode())
    return None


def _line() -> bytes:
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(0, 1)
        if not byte:
            return b""
        line += byte
    return line


if __name__ == "__main__":
    script = _serve()
    if script is not None:
        exec(compile(script, "script.py", "exec"), {"__name__": "__main__"})
