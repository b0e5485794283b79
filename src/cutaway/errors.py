"""Every error that Cutaway raises on purpose.

CutawayError
├── ConfigurationError (ValueError)              a wrong argument, setting or file of settings
│   └── InvalidCollectionConfiguration           a custom collection that can never hold a tensor
├── MissingExtraError (ImportError)              an optional dependency that a call needs
├── BindingError                                 a data set as it is bound
│   └── EncoderError                             somebody's function raised, or returned what cannot be used
├── ModelError                                   a model file or object
│   ├── ModelNotFound (FileNotFoundError)
│   ├── ModelFormatError (ValueError)            not a model, cut short, or another format than its name says
│   ├── UnsafeModel                              a file that would run code, leave its folder or exhaust the machine
│   ├── ModelInputError (ValueError)             a batch that does not fit the model's inputs
│   ├── LayerUnavailable (KeyError)
│   ├── GradientUnavailable                      nothing to differentiate, or an operator that cannot be
│   ├── ModelTimeout (TimeoutError)              a call that went on past its deadline
│   └── ModelCrashed                             the process that the model lives in is gone
├── EvaluationError                              the pass over the samples
├── OverlayError (ValueError)                    corrections that cannot be read, or were made for other labels
├── AnalysisUnavailable (LookupError)            an analysis that does not apply to these samples or this model
├── RunError                                     the run folder
│   ├── RunNotFound (FileNotFoundError)
│   ├── RunExists (FileExistsError)
│   ├── RunLocked                                another live writer holds this role and worker
│   ├── RunFormatError                           a format version or document we cannot read
│   ├── RunDamaged                               bytes that fail their checksum
│   └── StorageError (OSError)                   a write that the storage refused or cut short
└── TrialError                                   reading a run
    ├── TensorUnavailable (KeyError)
    ├── TensorUnavailableForStep (KeyError)
    ├── ShapeUnavailableForStep (KeyError)
    ├── StepUnavailable (LookupError)
    ├── StepNotYetAvailable (LookupError)
    ├── NoMoreData (LookupError)
    ├── InvalidWorker (ValueError)
    ├── MissingCollectionFiles
    ├── RuleEvaluationConditionMet               a rule fired, and the caller asked to hear of it so
    └── InsufficientInformationForRuleInvocation

`message` says what happened with the values, and why where that is known; `hint` what to run or write next; `path`
names the file or folder that it is about. `str(error)` is the message and the hint. Errors keep what else they speak
of as attributes too, so that callers never parse a message.
"""

from __future__ import annotations

import traceback
from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from os import PathLike, fspath
from pathlib import Path
from typing import Any

__all__ = [
    "AnalysisUnavailable",
    "BindingError",
    "ConfigurationError",
    "CutawayError",
    "EncoderError",
    "EvaluationError",
    "GradientUnavailable",
    "InsufficientInformationForRuleInvocation",
    "InvalidCollectionConfiguration",
    "InvalidWorker",
    "LayerUnavailable",
    "MissingCollectionFiles",
    "MissingExtraError",
    "ModelCrashed",
    "ModelError",
    "ModelFormatError",
    "ModelInputError",
    "ModelNotFound",
    "ModelTimeout",
    "NoMoreData",
    "OverlayError",
    "RuleEvaluationConditionMet",
    "RunDamaged",
    "RunError",
    "RunExists",
    "RunFormatError",
    "RunLocked",
    "RunNotFound",
    "ShapeUnavailableForStep",
    "StepNotYetAvailable",
    "StepUnavailable",
    "StorageError",
    "TensorUnavailable",
    "TensorUnavailableForStep",
    "TrialError",
    "UnsafeModel",
    "did_you_mean",
    "place_of",
]

# Where somebody's code calls into these, their own line says more. Rules of others are installed packages too.
_LIBRARIES = (
    *("cv2", "datasets", "h5py", "keras", "numpy", "onnx", "onnxruntime", "pandas", "PIL", "pyarrow", "scipy"),
    *("skimage", "sklearn", "tensorflow", "torch", "torchvision"),
)
# Of the names that one is compared with: how long each, and how long together.
_LONGEST_NAME, _MOST_CHARACTERS = 200, 50_000


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ` Did you mean 'a', 'b' or 'c'?` for the nearest known names, or nothing.

    >>> did_you_mean("wieghts", ["weights", "biases"]), did_you_mean("val", ["training", "validation"])
    (" Did you mean 'weights'?", " Did you mean 'validation'?")
    """
    lowered = {candidate.lower(): candidate for candidate in known}
    short = [one for one in lowered if len(name) > 1 and one.startswith(name.lower())]
    close = get_close_matches(name.lower(), _few(lowered), n=3, cutoff=0.5) if len(name) <= _LONGEST_NAME else []
    matches = dict.fromkeys([*close, *short])
    near = [repr(lowered[match]) for match in matches][:3]
    if not near:
        return ""
    listed = near[0] if len(near) == 1 else f"{', '.join(near[:-1])} or {near[-1]}"
    return f" Did you mean {listed}?"


def refuse_unknown(what: str, name: str, known: Collection[str]) -> None:
    """Raise `ConfigurationError` for a name that is none of those known, with the nearest and all that there are."""
    if name not in known:
        hint = f"{did_you_mean(name, known)} There are {', '.join(known) or 'none'}."
        raise ConfigurationError(f"There is no {what} {name!r}.", hint=hint)


def _few(names: Iterable[str]) -> list[str]:
    """Return the first names, as many as are compared in a fraction of a second: anybody may send a name."""
    found: list[str] = []
    left = _MOST_CHARACTERS
    for one in names:
        if len(one) <= _LONGEST_NAME:
            left -= len(one)
            if left < 0:
                break
            found.append(one)
    return found


def place_of(error: BaseException) -> str:
    """Return file and line where somebody's code raised: the innermost that is neither a library's nor ours.

    Where only our own code is left, the innermost of that.
    """
    frames = list(traceback.extract_tb(error.__traceback__))
    ours, standard = str(Path(__file__).parent), str(Path(traceback.__file__).parent)
    outside = [
        frame
        for frame in frames
        if not frame.filename.startswith("<")
        and not frame.filename.endswith(".pyx")  # compiled, of whatever library
        and not any(f"-packages/{name}/" in frame.filename for name in _LIBRARIES)
        and (not frame.filename.startswith(standard) or "site-packages" in frame.filename)
    ]
    theirs = [frame for frame in outside if not frame.filename.startswith(ours)]
    frame = (theirs or outside or frames)[-1]
    return f"{frame.filename}:{frame.lineno}"


class CutawayError(Exception):
    """The root of the tree: catching it catches everything that Cutaway raises on purpose.

    >>> error = CutawayError("No run 'x'.", hint=did_you_mean("x", ["xy"]))
    >>> error.message, error.hint, str(error)
    ("No run 'x'.", "Did you mean 'xy'?", "No run 'x'. Did you mean 'xy'?")
    """

    message: str = ""
    hint: str = ""
    path: str = ""

    def __init__(self, message: str = "", *, hint: str = "", path: str | PathLike[str] = "") -> None:
        self.message, self.hint, self.path = message, hint.strip(), fspath(path)
        super().__init__(str(self))

    def __str__(self) -> str:
        # KeyError would print the message as a quoted repr.
        return f"{self.message} {self.hint}" if self.hint else self.message

    def __reduce__(self) -> tuple[Any, ...]:
        # The arguments of the constructors are not those of the exception.
        return _restored, (type(self), self.args, vars(self))

    def without_folders(self) -> tuple[str, str]:
        """Return the message and the hint with its path by name only, for who is not at this machine."""
        name = Path(self.path).name
        if not name:
            return self.message, self.hint
        return self.message.replace(self.path, name), self.hint.replace(self.path, name)


def _restored(kind: type[CutawayError], args: tuple[Any, ...], fields: dict[str, Any]) -> CutawayError:
    error = kind.__new__(kind, *args)
    error.args = args
    vars(error).update(fields)
    return error


class ConfigurationError(CutawayError, ValueError):
    """A wrong argument or setting, raised at construction, before any training."""


class InvalidCollectionConfiguration(ConfigurationError):
    """A collection that has neither a pattern nor a tensor, and so can never hold one."""

    def __init__(self, collection: str) -> None:
        super().__init__(
            f"Collection {collection!r} has no regex and no tensor.",
            hint=f"Call `get_collection({collection!r}).include(regex)` or `.add(tensor)`, or leave it out of "
            "`include_collections`.",
        )
        self.collection = collection


class MissingExtraError(CutawayError, ImportError):  # type: ignore[misc]  # both have a `path`
    """A call that needs a dependency which is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional dependency.", hint=f"Run: pip install 'cutaway[{extra}]'")
        self.extra = extra


class BindingError(CutawayError):
    """A data set whose binding cannot be used: a missing entry file, subset or function, or one bound twice."""


class EncoderError(BindingError):
    """A bound function that raised, or returned what cannot be used, for one sample.

    `place` is the user's own file and line where that is known.
    """

    def __init__(self, kind: str, name: str, sample: str, reason: str, place: str = "") -> None:
        where = f"{place}: " if place else ""
        file = place.rpartition(":")[0]
        super().__init__(f"{where}{kind} {name!r} failed for sample {sample!r}: {reason}", path=file)
        self.kind, self.name, self.sample, self.reason, self.place = kind, name, sample, reason, place


class ModelError(CutawayError):
    """Something about a model file or object."""


class ModelNotFound(ModelError, FileNotFoundError):
    """No model at that path."""

    def __init__(self, path: str, hint: str = "") -> None:
        super().__init__(
            f"No model at {path!r}.", hint=hint or "Give the path of a model file or a SavedModel folder.", path=path
        )


class ModelFormatError(ModelError, ValueError):
    """A file that is not the model it says it is: cut short, mislabelled, a pointer of Git LFS, or no model at all."""

    def __init__(self, path: str, reason: str, *, hint: str = "") -> None:
        super().__init__(f"{path!r} cannot be read as a model: {reason}", hint=hint, path=path)
        self.reason = f"{reason} {self.hint}" if hint else reason


class UnsafeModel(ModelError):
    """A model file that is refused before anything of it runs; `path` and `reason` say which and why."""

    def __init__(self, path: str, reason: str, *, hint: str = "") -> None:
        super().__init__(f"{path!r} is refused: {reason}", hint=hint, path=path)
        self.reason = f"{reason} {self.hint}" if hint else reason


class ModelInputError(ModelError, ValueError):
    """A batch that does not fit the inputs of a model; `input` names the one."""

    def __init__(self, name: str, reason: str, *, hint: str = "") -> None:
        super().__init__(f"Input {name!r} of the model: {reason}", hint=hint)
        self.input, self.reason = name, f"{reason} {self.hint}" if hint else reason


class LayerUnavailable(ModelError, KeyError):
    """No layer of that name in the model, or none whose values can be had."""

    def __init__(self, layer: str, known: Sequence[str] = (), reason: str = "") -> None:
        hint = did_you_mean(layer, known)
        why = reason or f"`model.layers` lists all {len(known)}."
        super().__init__(f"No layer {layer!r} in this model.", hint=f"{hint} {why}")
        self.layer = layer


class GradientUnavailable(ModelError):
    """The gradient that was asked for cannot be computed; the message names what is in the way."""


class ModelTimeout(ModelError, TimeoutError):
    """A call that was stopped at its deadline of `seconds`; the model's process was ended with it."""

    def __init__(self, what: str, seconds: float, setting: str = "seconds") -> None:
        super().__init__(
            f"The model did not {what} within {seconds:g} s, so its process was stopped.",
            hint=f"Give it more time with `Limits({setting}=...)`, or `--timeout`, where it is merely slow.",
        )
        self.seconds = seconds


class ModelCrashed(ModelError):
    """The process that a model from a file lives in ended by itself; `reason` says how."""

    def __init__(self, reason: str, *, hint: str = "") -> None:
        super().__init__(f"The process of the model ended: {reason}", hint=hint)
        self.reason = f"{reason} {self.hint}" if hint else reason


class EvaluationError(CutawayError):
    """An evaluation that cannot go on, or that was told to stop at the first sample that fails."""


class OverlayError(CutawayError, ValueError):
    """Corrections that cannot be used: a file that is missing or damaged, or one that was made for other labels."""

    def __init__(self, path: str, reason: str, *, hint: str = "") -> None:
        super().__init__(f"The overlay {path!r}: {reason}", hint=hint, path=path)
        self.reason = f"{reason} {self.hint}" if hint else reason


class AnalysisUnavailable(CutawayError, LookupError):
    """An analysis that does not apply: these samples lack something that it needs, or the model does."""

    def __init__(self, analysis: str, reason: str, *, hint: str = "") -> None:
        super().__init__(f"No {analysis}: {reason}", hint=hint)
        self.analysis = analysis
        self.reason = f"{reason} {self.hint}" if hint else reason


class RunError(CutawayError):
    """Something about a run folder."""


class RunNotFound(RunError, FileNotFoundError):
    """No run at that path or of that name."""

    def __init__(self, text: str, where: str, near: Sequence[str] = ()) -> None:
        hint = did_you_mean(text, near) or "`cutaway runs list` shows the runs there are."
        super().__init__(f"No run {text!r} in {where}.", hint=hint, path=where)
        self.text = text


class RunExists(RunError, FileExistsError):
    """A new run was asked for where one already lies; runs are never merged."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"{path!r} already holds a run.",
            hint="Give another `out_dir`, leave `out_dir` out for a new folder, or continue that run with "
            "`resume=True`.",
            path=path,
        )


class RunLocked(RunError):
    """A second live writer of the same role and worker."""

    def __init__(self, path: str, role: str, worker: str, holder: str) -> None:
        super().__init__(
            f"Run {path!r} is being written by {holder} as {role} of {worker}.",
            hint="Wait until that process ends, stop it, or write to another `out_dir`.",
            path=path,
        )
        self.role, self.worker, self.holder = role, worker, holder


class RunFormatError(RunError):
    """A document or a format version that this release cannot read."""


class RunDamaged(RunError):
    """Bytes of a run that fail their checksum; `path` and `offset` say where."""

    def __init__(self, path: str, offset: int, reason: str) -> None:
        super().__init__(
            f"{path} is damaged at byte {offset}: {reason}.", hint="The rest of the run still reads.", path=path
        )
        self.offset, self.reason = offset, reason


class StorageError(RunError, OSError):
    """The storage refused a write, or took only part of it."""


class TrialError(CutawayError):
    """Something about reading a run."""


class TensorUnavailable(TrialError, KeyError):
    """No tensor of that name in the run."""

    def __init__(self, tensor: str, run: str = "", known: Sequence[str] = ()) -> None:
        where = f" in run {run!r}" if run else ""
        listed = f" `cutaway tensors {run}` lists all {len(known)}." if run and known else ""
        super().__init__(f"No tensor {tensor!r}{where}.", hint=f"{did_you_mean(tensor, known)}{listed}")
        self.tensor = tensor


class TensorUnavailableForStep(TrialError, KeyError):
    """The tensor exists, but not its value at that step, or not that of the `worker` that was asked for."""

    def __init__(
        self,
        tensor: str,
        step: int,
        mode: str = "GLOBAL",
        *,
        has_reductions: bool = False,
        worker: str = "",
        saved_by: Sequence[str] = (),
    ) -> None:
        who = f" by {worker}" if worker else ""
        if has_reductions:
            hint = "Statistics or reductions of it are kept: use `reduction_value`."
        elif saved_by:
            hint = f"It was by {', '.join(saved_by)}."
        else:
            hint = "`tensor.steps()` lists the steps at which it was saved."
        super().__init__(f"The value of tensor {tensor!r} was not saved at {mode} step {step}{who}.", hint=hint)
        self.tensor, self.step, self.mode, self.has_reductions = tensor, step, mode, has_reductions
        self.worker, self.saved_by = worker, tuple(saved_by)


class ShapeUnavailableForStep(TrialError, KeyError):
    """The tensor's shape was not saved at that step, or not by the `worker` that was asked for."""

    def __init__(
        self, tensor: str, step: int, mode: str = "GLOBAL", *, worker: str = "", saved_by: Sequence[str] = ()
    ) -> None:
        who = f" by {worker}" if worker else ""
        hint = f"It was by {', '.join(saved_by)}." if saved_by else "`tensor.steps()` lists the steps at which it was."
        super().__init__(f"The shape of tensor {tensor!r} was not saved at {mode} step {step}{who}.", hint=hint)
        self.tensor, self.step, self.mode = tensor, step, mode
        self.worker, self.saved_by = worker, tuple(saved_by)


class StepUnavailable(TrialError, LookupError):
    """A step that was not saved, and will not be."""

    def __init__(self, step: int, mode: str = "GLOBAL") -> None:
        super().__init__(f"{mode} step {step} was not saved.", hint="`trial.steps()` lists the steps that were.")
        self.step, self.mode = step, mode


class StepNotYetAvailable(TrialError, LookupError):
    """A step that the running training has not reached."""

    def __init__(self, step: int, mode: str = "GLOBAL") -> None:
        super().__init__(
            f"{mode} step {step} is not written yet.", hint=f"`trial.wait_for_steps([{step}])` waits for it."
        )
        self.step, self.mode = step, mode


class NoMoreData(TrialError, LookupError):
    """The run ended before that step."""

    def __init__(self, step: int, mode: str = "GLOBAL", last_step: int = -1) -> None:
        super().__init__(f"The run ended: its last {mode} step is {last_step}, and step {step} will not come.")
        self.step, self.mode, self.last_step = step, mode, last_step


class InvalidWorker(TrialError, ValueError):
    """No worker of that name wrote to the run."""

    def __init__(self, worker: str, workers: Sequence[str] = ()) -> None:
        listed = f"It has {', '.join(workers)}." if workers else ""
        super().__init__(f"No worker {worker!r} in this run.", hint=listed)
        self.worker = worker


class MissingCollectionFiles(TrialError):
    """The run ended before it wrote which collections it has."""

    def __init__(self, run: str) -> None:
        super().__init__(f"Run {run!r} ended before its first step: it has no collections and no tensors.")
        self.run = run


class RuleEvaluationConditionMet(TrialError):
    """A rule fired at a step, and the caller asked for an exception."""

    def __init__(self, rule_name: str, step: int, *, end_of_rule: bool = False) -> None:
        super().__init__(f"Rule {rule_name} fired at step {step}.")
        self.rule_name, self.step, self.end_of_rule = rule_name, step, end_of_rule


class InsufficientInformationForRuleInvocation(TrialError):
    """A rule cannot be evaluated with what this run saved."""
