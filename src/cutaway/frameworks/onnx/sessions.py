"""Sessions of ONNX Runtime over one model: one for each set of tensors that is asked for, few of them at a time."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Sequence

import onnx
import onnxruntime

from cutaway.arrays import Array
from cutaway.errors import ModelError, ModelFormatError
from cutaway.frameworks.onnx.checking import CheckedModel
from cutaway.models.backend import Arrays

__all__ = ["Sessions"]

MOST_SESSIONS = 4
THREADS = "CUTAWAY_MODEL_THREADS"
# ONNX Runtime's errors share no base class but Exception.
_STATE = onnxruntime.capi.onnxruntime_pybind11_state
_FAILURES = tuple(
    getattr(_STATE, name)
    for name in (
        *("Fail", "InvalidArgument", "InvalidGraph", "InvalidProtobuf", "NoSuchFile", "NotImplemented"),
        *("RuntimeException", "EPFail", "ModelLoaded", "NoModel"),
    )
    if hasattr(_STATE, name)
)


class Sessions:
    """Runs a model for any of its tensors. `ready` is a session that somebody made; it is used for outputs."""

    def __init__(
        self,
        loaded: CheckedModel,
        path: str,
        *,
        ready: onnxruntime.InferenceSession | None = None,
        providers: Sequence[str] = ("CPUExecutionProvider",),
    ) -> None:
        self._loaded, self._path = loaded, path
        self._providers = list(providers) if ready is None else ready.get_providers()
        # What a session was given must outlive it.
        self._weights = {name: onnxruntime.OrtValue.ortvalue_from_numpy(w) for name, w in loaded.weights.items()}
        self._outputs = tuple(value.name for value in loaded.proto.graph.output)
        self._sessions: OrderedDict[tuple[str, ...], onnxruntime.InferenceSession] = OrderedDict()
        # Made at once: what ONNX Runtime does not take is said when a model is loaded.
        self._main: onnxruntime.InferenceSession | None = ready or self._made(self._outputs)

    def run(self, names: Sequence[str], feeds: Arrays) -> dict[str, Array]:
        """Return the values of some tensors, by name."""
        if not names:
            # To ONNX Runtime, no names mean all outputs.
            return {}
        session = self._session(tuple(dict.fromkeys(names)))
        try:
            return dict(zip(names, session.run(list(names), dict(feeds)), strict=True))
        except _FAILURES as error:
            raise ModelError(f"ONNX Runtime could not run {self._path!r}: {error}", path=self._path) from error

    def of_other_weights(self, loaded: CheckedModel) -> Sessions:
        """Return sessions, on the same devices, over a model that differs from this one by its weights only."""
        return Sessions(loaded, self._path, providers=self._providers)

    def close(self) -> None:
        """Let go of all sessions."""
        self._sessions.clear()
        self._main = None

    def _session(self, names: tuple[str, ...]) -> onnxruntime.InferenceSession:
        if set(names) <= set(self._outputs):
            self._main = self._main or self._made(self._outputs)
            return self._main
        if names not in self._sessions:
            if len(self._sessions) >= MOST_SESSIONS:
                self._sessions.popitem(last=False)
            self._sessions[names] = self._made(names)
        self._sessions.move_to_end(names)
        return self._sessions[names]

    def _made(self, names: tuple[str, ...]) -> onnxruntime.InferenceSession:
        proto = onnx.ModelProto()
        proto.CopyFrom(self._loaded.proto)
        own = {value.name: value for value in proto.graph.output}
        outputs = [own.get(name) or onnx.ValueInfoProto(name=name) for name in names]
        proto.graph.ClearField("output")
        proto.graph.output.extend(outputs)
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        if os.environ.get(THREADS):
            options.intra_op_num_threads = int(os.environ[THREADS])
        if self._weights:
            options.add_external_initializers(list(self._weights), list(self._weights.values()))
        try:
            return onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=self._providers)
        except _FAILURES as error:
            raise ModelFormatError(self._path, f"ONNX Runtime does not take it: {error}") from error
