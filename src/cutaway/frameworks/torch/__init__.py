"""The adapter for PyTorch."""

from cutaway.frameworks.torch.attach import attach
from cutaway.frameworks.torch.hook import Hook

__all__ = ["Hook", "attach"]
