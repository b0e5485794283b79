"""A model that lives in a child process, as a `Backend`. A process that died is started again, a few times."""

from __future__ import annotations

import contextlib
import os
import shutil
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from cutaway.arrays import Array
from cutaway.engine.limits import Limits
from cutaway.errors import CutawayError, ModelCrashed, ModelError, ModelTimeout
from cutaway.models.backend import Arrays, Gradient, Question
from cutaway.models.child_process import ChildProcess
from cutaway.models.crossing import BadDescription, description_from, question_to
from cutaway.models.description import ModelDescription
from cutaway.models.recognising import identity_of

__all__ = ["ChildBackend", "RandomisedChild"]

# One batch that a model cannot bear must not end an evaluation; a model that bears none must not go on for hours.
_MOST_DEATHS = 3


class _ChildCalls(ABC):
    """The calls of a `Backend`, each as one request; who inherits from it knows which process answers."""

    description: ModelDescription

    @abstractmethod
    def ask(
        self, request: dict[str, Any], batch: Arrays, wanted: list[str], what: str, question: Arrays | None = None
    ) -> dict[str, Array]:
        """Ask the process one thing, with the arrays of a batch and of a question, and return the wanted ones."""

    def predict(self, batch: Arrays) -> Arrays:
        """Return every output, by name."""
        return self.ask({"do": "predict"}, batch, [spec.name for spec in self.description.outputs], "predict")

    def activations(self, batch: Arrays, layers: Sequence[str]) -> Arrays:
        """Return the outputs of some layers, by name."""
        wanted = list(dict.fromkeys(layers))
        return self.ask({"do": "activations", "layers": wanted}, batch, wanted, "give its layers' values")

    def predict_with(self, batch: Arrays, layers: Sequence[str]) -> tuple[Arrays, Arrays]:
        """Return every output, and the outputs of some layers, from one question."""
        outputs, wanted = [spec.name for spec in self.description.outputs], list(dict.fromkeys(layers))
        names = [*(f"output/{name}" for name in outputs), *(f"layer/{name}" for name in wanted)]
        found = self.ask({"do": "predict_with", "layers": wanted}, batch, names, "predict")
        return {name: found[f"output/{name}"] for name in outputs}, {name: found[f"layer/{name}"] for name in wanted}

    def gradient(self, batch: Arrays, question: Question) -> Gradient:
        """Return the gradient that was asked for."""
        return self._gradient(batch, question, output=False)[0]

    def gradient_with_output(self, batch: Arrays, question: Question) -> tuple[Gradient, Array]:
        """Return the gradient and the output that it was taken of, from one question."""
        gradient, (output,) = self._gradient(batch, question, output=True)
        return gradient, output

    def _gradient(self, batch: Arrays, question: Question, *, output: bool) -> tuple[Gradient, list[Array]]:
        plain, arrays = question_to(question)
        wanted = ["gradient", "activation", *(["output"] if output else [])]
        request = {"do": "gradient", "question": plain, "output": output}
        gradient, activation, *others = self.ask(request, batch, wanted, "give a gradient", arrays).values()
        return Gradient(gradient, activation), others


class ChildBackend(_ChildCalls):
    """A model file, opened by its format in a process of its own, which every call asks.

    The process is started at once. After a call that ended it, the next call starts another; when three calls in a
    row ended it, it stays ended. `folder` is removed when the model is closed. Calls of several threads wait for each
    other; a fork of this process cannot use it.
    """

    def __init__(
        self, path: Path, name: str, limits: Limits, *, entry_file: Path | None = None, folder: Path | None = None
    ) -> None:
        self._path, self._format, self._limits, self._entry_file = path, name, limits, entry_file
        self._lock = threading.Lock()
        self._owner = os.getpid()
        self._deaths = 0
        self._closed = False
        self.description: ModelDescription
        self._child: ChildProcess | None = None
        self._let_go = weakref.finalize(self, _remove, folder, self._owner)
        self._identity = identity_of(path)
        self.limits: tuple[str, ...] = ()
        try:
            self._child, self.description = self._started()
        except BaseException:
            self.close()
            raise

    def with_random_weights(self, seed: int) -> RandomisedChild:
        """Return the same model with its weights drawn anew. It lives in the same process."""
        return RandomisedChild(self, seed)

    def close(self) -> None:
        """End the process; a call that waits for it in another thread ends with it."""
        if os.getpid() != self._owner:
            return
        self._closed = True
        waiting = self._child
        if waiting is not None:
            waiting.kill()
        with self._lock:
            # Another thread may have started one anew since the look at it.
            if self._child is not None:
                self._child.end()
            self._child = None
        self._let_go()

    def ask(
        self, request: dict[str, Any], batch: Arrays, wanted: list[str], what: str, question: Arrays | None = None
    ) -> dict[str, Array]:
        """Ask the process one thing, with the arrays of a batch and of a question, and return the wanted ones."""
        arrays = {f"batch/{name}": values for name, values in batch.items()}
        arrays.update({f"question/{name}": values for name, values in (question or {}).items()})
        self._check_owner()
        with self._lock:
            child = self._living()
            try:
                answer = child.ask(request, arrays, what=what)
                values = child.arrays(answer.get("arrays"), wanted)
            except BaseException as error:
                self._after(error)
                raise
            self._deaths = 0
            return values

    @property
    def lives(self) -> bool:
        """Whether there is a process to ask, which was neither closed nor left to another by a fork."""
        return self._child is not None and not self._closed and os.getpid() == self._owner

    def _after(self, error: BaseException) -> None:
        """Decide whether the process still serves after an error."""
        if isinstance(error, ModelTimeout | ModelCrashed):
            self._deaths += 1
            self._child = None
        elif isinstance(error, CutawayError):
            self._deaths = 0
        elif self._child is not None:
            # Interrupted between question and answer: the next answer would be that of this question.
            self._child.end()
            self._child = None

    def _check_owner(self) -> None:
        if os.getpid() != self._owner:
            raise ModelError(
                "This model was loaded before the process was forked.", hint="Load it again in this process."
            )

    def _living(self) -> ChildProcess:
        if self._closed:
            raise ModelError("The model is closed.", hint="Load it again.")
        if self._child is not None:
            return self._child
        if self._deaths >= _MOST_DEATHS:
            raise ModelCrashed(
                f"{self._deaths} calls in a row ended it, so it is not started again.", hint="Load it anew."
            )
        self._check_unchanged("since it was loaded. Load it again.")
        child, description = self._started()
        if _shapes(description) != _shapes(self.description):
            child.end()
            raise ModelError(
                f"{str(self._path)!r} describes itself otherwise than before.", hint="Load it again.", path=self._path
            )
        self._child = child
        return child

    def _check_unchanged(self, when: str) -> None:
        if identity_of(self._path) != self._identity:
            raise ModelError(f"{str(self._path)!r} changed {when}", path=self._path)

    def _started(self) -> tuple[ChildProcess, ModelDescription]:
        """Start a process and let it open the file and describe the model."""
        child = ChildProcess(self._limits)
        try:
            entry = None if self._entry_file is None else str(self._entry_file)
            start = {"do": "start", "format": self._format, "entry_file": entry, "limits": asdict(self._limits)}
            said = child.ask(start, {}, what="import its framework", setting="load_seconds").get("limits")
            opening = {"do": "open", "path": str(self._path)}
            answer = child.ask(opening, {}, what="open", setting="load_seconds")
            description = _description_of_answer(child, answer.get("description"))
            self._check_unchanged("while it was being read. Wait until whoever writes it is done, and load it then.")
        except BaseException:
            child.end()
            raise
        self.limits = tuple(str(line) for line in said) if isinstance(said, list) else ()
        return child, description


class RandomisedChild(_ChildCalls):
    """The model of a `ChildBackend` with its weights drawn anew, held by the same process.

    Every question names the seed, so that a process which was started again draws the same weights once more.
    """

    def __init__(self, owner: ChildBackend, seed: int) -> None:
        self._owner, self._seed = owner, seed
        self._closed = False
        self.description = owner.description
        # At once, so that a model which cannot says so here.
        self.ask({"do": "randomise"}, {}, [], "draw its weights anew")

    def ask(
        self, request: dict[str, Any], batch: Arrays, wanted: list[str], what: str, question: Arrays | None = None
    ) -> dict[str, Array]:
        """Ask the process about the model with these weights."""
        if self._closed:
            raise ModelError("The model with random weights is closed.", hint="Make it again.")
        return self._owner.ask({**request, "seed": self._seed}, batch, wanted, what, question)

    def close(self) -> None:
        """Let the process forget these weights; the model that they were made of stays open."""
        if not self._closed and self._owner.lives:
            # A process that ends meanwhile has forgotten them too.
            with contextlib.suppress(ModelError):
                self.ask({"do": "forget"}, {}, [], "forget its random weights")
        self._closed = True


def _shapes(description: ModelDescription) -> tuple[object, ...]:
    return description.inputs, description.outputs, description.layers


def _description_of_answer(child: ChildProcess, given: Any) -> ModelDescription:
    try:
        description = description_from(given)
    except BadDescription as error:
        raise child.distrust(str(error)) from error
    if not description.inputs or not description.outputs:
        raise child.distrust("a model has inputs and outputs.")
    return description


def _remove(folder: Path | None, owner: int) -> None:
    if folder is not None and os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
