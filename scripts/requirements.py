"""What a set of packages asks for, read from pyproject.toml and constraints.txt. Installs nothing."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = ROOT / "pyproject.toml"
CONSTRAINTS = ROOT / "constraints.txt"
PIN = re.compile(r"(?P<name>[\w.-]+)==(?P<version>\S+)\s+# (?P<megabytes>[\d.]+) MB")


@dataclass(frozen=True)
class Pin:
    """One line of constraints.txt: the version that CI runs, and the size of its wheel on Linux x86-64."""

    version: str
    megabytes: float


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def requirements(extra: str, pyproject: Path = PYPROJECT) -> list[str]:
    """What `cutaway[extra]` needs and what builds it, with `cutaway[...]` replaced by what that stands for."""
    settings = tomllib.loads(pyproject.read_text())
    extras: dict[str, list[str]] = settings["project"]["optional-dependencies"]
    found: list[str] = [*settings["build-system"]["requires"], *settings["project"]["dependencies"]]
    waiting, seen = [extra], set[str]()
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        for requirement in extras[current]:
            if ours := re.fullmatch(r"cutaway\[(.+)\]", requirement):
                waiting += ours[1].split(",")
            else:
                found.append(requirement)
    return sorted(set(found))


def pins(constraints: Path = CONSTRAINTS) -> dict[str, Pin]:
    """What constraints.txt says, by canonical package name."""
    matches = (PIN.match(line) for line in constraints.read_text().splitlines())
    return {canonical(match["name"]): Pin(match["version"], float(match["megabytes"])) for match in matches if match}
