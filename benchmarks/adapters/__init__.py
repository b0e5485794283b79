"""How each tool is attached to a trainee, and how what it recorded is read back. One file a tool."""

from benchmarks.adapters.tool import Series, Tool, load

__all__ = ["Series", "Tool", "load"]
