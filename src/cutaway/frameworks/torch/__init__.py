"""The adapter for PyTorch."""

from cutaway.frameworks.torch.hook import Hook, attach

__all__ = ["Hook", "attach"]
