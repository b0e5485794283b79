"""The order in which a forward calls the modules of a model: heard once, in the first forward that is seen whole.

The order of registration is not it: a model may make its last layer first. What is compiled is left alone: a hook on
an inner module would make torch compile it again, and the compiled code calls none.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import torch
from torch.utils.hooks import RemovableHandle

from cutaway.capture.hook import AdaptedHook
from cutaway.frameworks.torch.taps import RemovableTaps, Tap

__all__ = ["ForwardOrder"]


class ForwardOrder:
    """Listens to every module of a model until its first forward has come to its end."""

    def __init__(self, hook: AdaptedHook, taps: RemovableTaps) -> None:
        self._hook = hook
        self._taps = taps
        self._handles: list[RemovableHandle] = []
        self._seen: dict[str, str] = {}  # each layer that was called, and its type
        self.is_settled = False  # whether it is known, or listened to, or cannot be heard

    def listen(self, outer: torch.nn.Module, modules: Iterable[tuple[str, torch.nn.Module]]) -> None:
        """Begin, where it can be heard. The first of the modules is the whole, whose forward begins."""
        self.is_settled = True
        named = list(modules)
        if any(map(_is_compiled, [outer, *(module for _, module in named)])):
            return
        self._hear(named[0][0], type(named[0][1]).__name__)
        for name, module in named[1:]:
            if not isinstance(module, torch.jit.ScriptModule):
                tap = Tap(self._hook, partial(self._hear, name, type(module).__name__), f"module {name}")
                self._handles.append(module.register_forward_pre_hook(tap))
                self._taps.keep(self._handles[-1])

    def end_forward(self) -> None:
        """A forward has come to its end: what it called is the order."""
        if not self._handles:
            return
        for handle in self._handles:
            handle.remove()
        self._handles.clear()
        self._hook.documents.write_model_order(self._seen)

    def _hear(self, name: str, kind: str, *_: object) -> None:
        self._seen.setdefault(name, kind)


def _is_compiled(module: torch.nn.Module) -> bool:
    return hasattr(module, "_orig_mod") or getattr(module, "_compiled_call_impl", None) is not None
