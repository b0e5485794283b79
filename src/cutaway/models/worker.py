"""The process that a model from a file lives in: `python -m cutaway.models.worker`. Started by `child_process` only.

Imports the framework and the binding's entry file, limits itself, and only then opens the model file.
"""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from cutaway import registry
from cutaway.engine.child_side import begin_child
from cutaway.engine.confinement import confine
from cutaway.engine.crossing_errors import error_to
from cutaway.engine.limits import Limits
from cutaway.engine.messages import Ended, read_blocking, write_message
from cutaway.errors import AnalysisUnavailable, ModelError
from cutaway.models.backend import Arrays, Backend
from cutaway.models.crossing import question_from
from cutaway.models.random_weights import RANDOM_WEIGHTS
from cutaway.models.shared_arrays import SharedFile

__all__ = ["main"]

Answer = dict[str, Any]


class ModelWorker:
    """Does what the parent asks for, one thing after the other, for one model."""

    def __init__(self, batches: int, results: int) -> None:
        self._batches = SharedFile(batches)
        self._results = SharedFile(results)
        self._open_file: Callable[..., Backend] | None = None
        self._custom_layers: Mapping[str, type] = {}
        self._backend: Backend | None = None
        # The same model with other weights, by the seed that they were drawn with.
        self._randomised: dict[int, Backend] = {}
        self._actions: dict[str, Callable[[Mapping[str, Any]], Answer]] = {
            "start": self._start,
            "open": self._open,
            "predict": self._predict,
            "activations": self._activations,
            "predict_with": self._predict_with,
            "gradient": self._gradient,
            "randomise": self._randomise,
            "forget": self._forget,
        }

    def answer(self, request: Mapping[str, Any]) -> Answer:
        """Return what a request gives, or the error that it met."""
        try:
            return {"ok": True, **self._actions[request["do"]](request)}
        # Frameworks, custom layers and entry files raise anything, `sys.exit` included; the parent tells it on.
        except (Exception, SystemExit) as error:  # noqa: BLE001
            traceback.print_exc()
            return {"ok": False, "error": error_to(_in_words(error))}

    def _start(self, request: Mapping[str, Any]) -> Answer:
        name = request["format"]
        if name in registry.names("model_imports"):
            registry.load("model_imports", name)()
        self._open_file = registry.load("model_formats", name)
        if request["entry_file"] is not None:
            self._custom_layers = registry.load("entries", "entry_file")(Path(request["entry_file"]))
        return {"limits": confine(Limits(**request["limits"]), Path.cwd())}

    def _open(self, request: Mapping[str, Any]) -> Answer:
        if self._open_file is None:
            raise ModelError("The process of the model was asked to open a file before it was started.")
        self._backend = self._open_file(Path(request["path"]), trust=False, custom_layers=self._custom_layers)
        return {"description": asdict(self._backend.description)}

    def _predict(self, request: Mapping[str, Any]) -> Answer:
        return self._answered(self._model(request).predict(self._arrays(request, "batch/")))

    def _activations(self, request: Mapping[str, Any]) -> Answer:
        return self._answered(self._model(request).activations(self._arrays(request, "batch/"), request["layers"]))

    def _predict_with(self, request: Mapping[str, Any]) -> Answer:
        model, batch = self._model(request), self._arrays(request, "batch/")
        together = getattr(model, "predict_with", None)
        if together is None:
            outputs, layers = model.predict(batch), model.activations(batch, request["layers"])
        else:
            outputs, layers = together(batch, request["layers"])
        named = {f"output/{name}": values for name, values in outputs.items()}
        return self._answered({**named, **{f"layer/{name}": values for name, values in layers.items()}})

    def _gradient(self, request: Mapping[str, Any]) -> Answer:
        question = question_from(request["question"], self._arrays(request, "question/"))
        model, batch = self._model(request), self._arrays(request, "batch/")
        together = getattr(model, "gradient_with_output", None)
        if together is not None and request["output"]:
            (gradient, activation), output = together(batch, question)
        else:
            gradient, activation = model.gradient(batch, question)
            output = model.predict(batch)[question.output] if request["output"] else None
        answer = {"gradient": gradient, "activation": activation}
        return self._answered(answer if output is None else {**answer, "output": output})

    def _randomise(self, request: Mapping[str, Any]) -> Answer:
        self._model(request)
        return {"arrays": []}

    def _forget(self, request: Mapping[str, Any]) -> Answer:
        found = self._randomised.pop(request["seed"], None)
        if found is not None:
            found.close()
        return {"arrays": []}

    def _model(self, request: Mapping[str, Any]) -> Backend:
        """The model as it is, or, where a request names a seed, with its weights drawn anew by that."""
        if self._backend is None:
            raise ModelError("The process of the model was asked before it had opened a file.")
        seed = request.get("seed")
        if seed is None:
            return self._backend
        if seed not in self._randomised:
            make: Callable[[int], Backend] | None = getattr(self._backend, "with_random_weights", None)
            if make is None:
                raise AnalysisUnavailable(RANDOM_WEIGHTS, "its format does not let weights be changed.")
            self._randomised[seed] = make(seed)
        return self._randomised[seed]

    def _arrays(self, request: Mapping[str, Any], prefix: str) -> Arrays:
        arrays = self._batches.views(request["arrays"])
        return {name.removeprefix(prefix): values for name, values in arrays.items() if name.startswith(prefix)}

    def _answered(self, arrays: Arrays) -> Answer:
        return {"arrays": self._results.write(arrays)}


def main(descriptors: list[int]) -> None:
    """Answer the parent until it closes its end."""
    requests, answers, lifeline, batches, results = descriptors
    begin_child(descriptors, lifeline)
    worker = ModelWorker(batches, results)
    while True:
        try:
            request = read_blocking(requests)
            write_message(answers, worker.answer(request))
        except Ended:
            return


def _in_words(error: BaseException) -> BaseException:
    if isinstance(error, MemoryError):
        return ModelError(f"It ran out of memory: {error or 'MemoryError'}.")
    if isinstance(error, OSError) and error.errno in (errno.EFBIG, errno.ENOMEM, errno.ENOSPC):
        return ModelError("It ran out of memory: what it returned, or wrote, is larger than the limit.")
    if isinstance(error, SystemExit):
        return ModelError(f"Something in it called `sys.exit({error.code!r})`.")
    return error


if __name__ == "__main__":
    main([int(text) for text in sys.argv[1:]])
    # Without waiting for threads of the framework that never end.
    sys.stdout.flush()
    os._exit(0)
