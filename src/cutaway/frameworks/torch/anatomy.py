"""What a model is made of, and whether it still is: layers are replaced, resized and unfrozen in mid-training."""

from __future__ import annotations

import operator

import torch

from cutaway.frameworks.torch.names import parameter_names

__all__ = ["Anatomy"]


class Anatomy:
    """The modules and parameters of a model as they were when this was made.

    `is_complete` says whether every parameter has a shape; those of lazy modules get theirs in the first forward.
    """

    def __init__(self, root: torch.nn.Module) -> None:
        # Read at every step: the public way would make every name anew.
        self._parts = [part for m in root.modules() for part in (m._modules, m._parameters)]  # noqa: SLF001
        self.parameters = list(parameter_names(root))
        self.is_complete = not any(isinstance(p, torch.nn.UninitializedParameter) for _, p in self.parameters)
        self._members = self._look()
        self._kinds = self._look_at_parameters() if self.is_complete else []

    def is_current(self) -> bool:
        """Whether the model is made of the same objects still, of the same shapes, and frozen as before."""
        now = self._look()
        return (
            self.is_complete
            and len(now) == len(self._members)
            and all(map(operator.is_, now, self._members))
            and self._look_at_parameters() == self._kinds
        )

    def _look(self) -> list[torch.nn.Module | torch.nn.Parameter | None]:
        return [member for part in self._parts for member in part.values()]

    def _look_at_parameters(self) -> list[tuple[torch.Size, torch.dtype, bool]]:
        return [(p.shape, p.dtype, p.requires_grad) for _, p in self.parameters]
