"""The Makefile's targets and the search for a Python, run as a person would."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from scripts.requirements import ROOT

TARGETS = re.findall(r"(?m)^([a-z][a-z-]*):", (ROOT / "Makefile").read_text())


def find_python(path: Path, *commands: str, **environment: str) -> subprocess.CompletedProcess[str]:
    script = str(ROOT / "scripts" / "find_python.sh")
    everything = {"PATH": str(path), **environment}
    return subprocess.run(["/bin/sh", script, *commands], env=everything, capture_output=True, text=True, check=False)


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A folder that is the whole PATH: no Python on it yet."""
    for tool in ("id", "basename"):
        found = shutil.which(tool)
        assert found
        (tmp_path / tool).symlink_to(found)
    return tmp_path


def add_python(machine: Path, name: str, *, new_enough: bool = True, has_venv: bool = True) -> None:
    answers = f'case "$2" in *version_info*) exit {int(not new_enough)};; *ensurepip*) exit {int(not has_venv)};; esac'
    script = machine / name
    script.write_text(f"#!/bin/sh\n{answers}\n")
    script.chmod(0o755)


def test_plain_make_lists_every_target_with_a_line_each() -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    listing = subprocess.run(
        ["make", "-C", str(ROOT)], env=environment, capture_output=True, text=True, check=True
    ).stdout
    described = dict(re.findall(r"(?m)^  make (\S+)\s+(\S.+)$", listing))
    assert set(described) == set(TARGETS)
    assert {"demo", "test", "check", "setup", "ui", "test-faults", "bench-capture", "bench-rules"} <= set(described)


def test_the_first_python_that_is_new_enough_and_has_venv_is_taken(machine: Path) -> None:
    add_python(machine, "python3", new_enough=False)
    add_python(machine, "python3.13", has_venv=False)
    add_python(machine, "python3.12")
    assert find_python(machine).stdout.strip() == str(machine / "python3.12")


def test_a_given_python_is_the_only_one_tried(machine: Path) -> None:
    add_python(machine, "python3")
    add_python(machine, "mine", new_enough=False)
    answer = find_python(machine, PYTHON="mine")
    assert answer.returncode == 1
    assert "PYTHON=mine was given" in answer.stderr


@pytest.mark.parametrize(
    ("pythons", "packages"),
    [
        ({"python3": {"has_venv": False}}, "python3-venv"),
        ({"python3": {"new_enough": False}}, "python3.11-venv"),
        ({"python3": {"new_enough": False}, "python3.12": {"has_venv": False}}, "python3.12-venv"),
        ({}, "python3-venv"),
    ],
)
def test_what_is_missing_is_said_as_an_apt_line(
    machine: Path, pythons: dict[str, dict[str, bool]], packages: str
) -> None:
    for name, properties in pythons.items():
        add_python(machine, name, **properties)
    answer = find_python(machine, "git")
    assert answer.returncode == 1
    assert answer.stdout == ""
    assert answer.stderr.rstrip().endswith(f"apt-get install -y git {packages}")
