"""Rewrites constraints.txt: every package that `make setup` installs, at its version here, with the size of its wheel.

Run by `make pin` after a change of pyproject.toml. Versions that are pinned already stay; to move one, delete its line.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from scripts.requirements import CONSTRAINTS, canonical, requirements

HEADER = """\
# What CI runs, and the size of each wheel on Linux x86-64 with Python 3.11 (torch: its CPU build).
# `make setup` adds the sizes up to say what it will download. Written by `make pin`.
"""
INSTALLERS = ["pip", "uv"]  # not in pyproject.toml: scripts/install.py brings them in itself


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        wanted = [*requirements("dev"), *INSTALLERS]
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--only-binary", ":all:", "--dest", folder]
        subprocess.run([*command, "--constraint", CONSTRAINTS, *wanted], check=True)
        lines = sorted(pin_line(wheel) for wheel in Path(folder).glob("*.whl"))
    CONSTRAINTS.write_text(HEADER + "\n".join(lines) + "\n")


def pin_line(wheel: Path) -> str:
    name, version = wheel.name.split("-")[:2]
    public_version = version.split("+")[0]  # `2.13.0` admits any build of torch, `2.13.0+cpu` only one
    return f"{canonical(name)}=={public_version}  # {wheel.stat().st_size / 1e6:.2f} MB"


if __name__ == "__main__":
    main()
