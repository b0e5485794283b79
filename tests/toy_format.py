"""A model format of another package, for tests: a JSON file that says what its model does when it is asked.

`install` leaves it where a child process finds it, by an entry point, as pip would.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cutaway.arrays import Array
from cutaway.errors import AnalysisUnavailable, LayerUnavailable, UnsafeModel
from cutaway.models.backend import Arrays, Gradient, Question
from cutaway.models.description import Layer, ModelDescription, SavedTraining, TensorSpec
from cutaway.models.random_weights import shuffled_all

ENTRY_POINTS = "[cutaway.model_formats]\ntoy = tests.toy_format:open_toy\n"


def install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install the format for this process and for those that it starts."""
    about = folder / "toy_format-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: toy_format\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(ENTRY_POINTS)
    root = Path(__file__).parents[1]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), str(root)]))
    monkeypatch.syspath_prepend(folder)


def write(path: Path, **does: Any) -> Path:
    """Write a model file; `does` says what happens at `open` and at `predict`, and how wide the model is."""
    path.write_text("toy " + json.dumps(does))
    return path


def open_toy(path: Path, *, trust: bool, custom_layers: Mapping[str, type]) -> ToyBackend:
    """Open a model file, as the registry's table asks for it."""
    does = json.loads(path.read_text().removeprefix("toy "))
    if does.get("unsafe") and not trust:
        raise UnsafeModel(str(path), "it says so itself.")
    if "open" in does:
        DEEDS[does["open"]](does.get("with"))
    return ToyBackend(does, sorted(custom_layers))


class ToyBackend:
    """Two dense layers in numpy, with gradients by hand."""

    def __init__(self, does: Mapping[str, Any], notes: Sequence[str] = ()) -> None:
        self._does = does
        inputs, hidden, classes = does.get("widths", (4, 5, 3))
        random = np.random.default_rng(7)
        self._first = random.normal(size=(inputs, hidden)).astype(np.float32)
        self._second = random.normal(size=(hidden, classes)).astype(np.float32)
        self.description = ModelDescription(
            "toy",
            (TensorSpec("x", (None, inputs)),),
            (TensorSpec("scores", (None, classes), channel_axis=1),),
            (Layer("hidden", "Dense", (None, hidden)), Layer("scores", "Dense")),
            latent_layer="hidden",
            training=SavedTraining({"name": "mse"}, "sgd", ("accuracy",)),
            notes=tuple(notes),
            about={"threads": os.environ.get("OMP_NUM_THREADS"), "cwd": str(Path.cwd())},
        )

    def predict(self, batch: Arrays) -> Arrays:
        deed = self._does.get("predict")
        if deed is not None:
            done = DEEDS[deed](self._does.get("with"))
            if done is not None:
                return {"scores": np.resize(np.asarray(done), (len(batch["x"]), 3))}
        return {"scores": self._values(batch)[1]}

    def activations(self, batch: Arrays, layers: Sequence[str]) -> Arrays:
        known = dict(zip(("hidden", "scores"), self._values(batch), strict=True))
        for name in layers:
            if name not in known:
                raise LayerUnavailable(name, list(known))
        return {name: known[name] for name in layers}

    def gradient(self, batch: Arrays, question: Question) -> Gradient:
        hidden, scores = self._values(batch)
        if question.loss is None:
            target = scores.argmax(axis=1) if question.target is None else question.target
            upper = np.zeros_like(scores)
            upper[np.arange(len(scores)), target] = 1
        else:
            assert question.labels is not None
            upper = 2 * (scores - question.labels) / scores.shape[1]
        by_hidden = upper @ self._second.T
        if question.wrt == "hidden":
            return Gradient(by_hidden, hidden)
        return Gradient((by_hidden * (hidden > 0)) @ self._first.T, batch["x"])

    def with_random_weights(self, seed: int) -> ToyBackend:
        if "fixed" in self._does:
            raise AnalysisUnavailable("randomised weights", "the file says so.")
        other = ToyBackend(self._does)
        other.description = self.description
        found = shuffled_all({"first": self._first, "second": self._second}, seed)
        other._first, other._second = found["first"], found["second"]
        return other

    def close(self) -> None:
        pass

    def _values(self, batch: Arrays) -> tuple[Array, Array]:
        hidden = np.maximum(batch["x"] @ self._first, 0)
        return hidden, hidden @ self._second


def _tried(action: Callable[[], object]) -> float:
    """1 where it worked; otherwise the number of the error that stopped it, below zero."""
    try:
        action()
    except OSError as error:
        return -float(error.errno or 1)
    return 1.0


def _connect(address: Any) -> float:
    return _tried(lambda: socket.create_connection(tuple(address), timeout=2).close())


def _local_socket(path: Any) -> float:
    def connect() -> None:
        with socket.socket(socket.AF_UNIX) as one:
            one.connect(path)

    return _tried(connect)


def _fork(_: Any) -> float:
    def fork() -> None:
        if os.fork() == 0:
            os._exit(0)

    return _tried(fork)


def _raise_limit(_: Any) -> float:
    import resource

    def lift() -> None:
        try:
            resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        except ValueError as error:
            raise OSError(1, str(error)) from error

    return _tried(lift)


def _scratch(_: Any) -> float:
    Path("scratch.txt").write_text("here")
    return float(Path("scratch.txt").read_text() == "here")


def _print(megabytes: Any) -> None:
    for _ in range(int(megabytes)):
        sys.stdout.write("spam" * 262_144)
    sys.stderr.write("the last line\n")


def _raise(text: Any) -> None:
    raise RuntimeError(text)


def _allocate(megabytes: Any) -> float:
    return float(np.ones(int(megabytes) * 131_072).sum() > 0)


def _native_loop(_: Any) -> None:
    # Keeps Python's lock: no thread and no handler of Python runs meanwhile.
    ctypes.PyDLL(None).pause()


def _once_per(folder: Any) -> None:
    """Dies at the first call, and serves well when the process is started again."""
    mark = Path(folder) / "died"
    if mark.exists():
        return
    os._exit(3)


def _close_all(_: Any) -> None:
    os.closerange(3, 4096)
    time.sleep(60)


def _lie(listed: Any) -> None:
    """Answer with arrays that are not there."""
    from cutaway.models.shared_arrays import SharedFile

    SharedFile.write = lambda self, arrays: listed  # type: ignore[method-assign]


def _babble(text: Any) -> None:
    """Write to the parent what is no answer; the second descriptor of the process is for answers."""
    os.write(int(sys.argv[2]), text.encode("latin-1"))


def _run(code: Any) -> Any:
    """Run code that the file brings, as somebody would who found a way to."""
    space: dict[str, Any] = {}
    exec(code, space)
    return space.get("result")


def _odd(kind: Any) -> Array:
    odd = {"object": np.array(["a", "b"], object), "datetime": np.array(["2026-11-15"], "datetime64[D]")}
    return odd[kind]


DEEDS: dict[str, Callable[[Any], Any]] = {
    "allocate": _allocate,
    "babble": _babble,
    "close all": _close_all,
    "chmod": lambda path: _tried(lambda: Path(path).chmod(0o777)),
    "connect": _connect,
    "exec": lambda _: _tried(lambda: subprocess.run(["/bin/true"], check=True)),
    "exit": sys.exit,
    "fork": _fork,
    "hard exit": os._exit,
    "kill others": lambda pid: _tried(lambda: os.kill(pid, 0)),
    "kill": lambda _: os.kill(os.getpid(), signal.SIGKILL),
    "local socket": _local_socket,
    "lie": _lie,
    "lift limits": _raise_limit,
    "mkdir": lambda path: _tried(lambda: Path(path).mkdir()),
    "native loop": _native_loop,
    "odd": _odd,
    "once per": _once_per,
    "print": _print,
    "raise": _raise,
    "read": lambda path: float(len(Path(path).read_bytes())),
    "remove": lambda path: _tried(lambda: Path(path).unlink()),
    "run": _run,
    "scratch": _scratch,
    "segfault": lambda _: ctypes.string_at(0),
    "sleep": time.sleep,
    "pid": lambda _: float(os.getpid()),
    "write": lambda path: _tried(lambda: Path(path).write_text("written")),
}
