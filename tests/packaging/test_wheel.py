"""The wheel, built here and installed into an environment of its own."""

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from scripts.requirements import ROOT

PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    options = ["--no-deps", "--no-build-isolation", "--wheel-dir", str(folder)]
    subprocess.run([*PIP, "wheel", *options, str(ROOT)], check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment that holds the wheel, and sees the dependencies of this one: nothing is downloaded."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    install = [*PIP, "--python", str(python), "install", "--no-deps", "--no-compile", str(wheel)]
    subprocess.run(install, check=True, capture_output=True)
    # A .pth line adds the folder but not its own .pth files, so this checkout's editable install stays unseen.
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder


def run_in(folder: Path, *command: str) -> str:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    program = [str(folder / "bin" / command[0]), *command[1:]]
    done = subprocess.run(program, cwd=folder, env=clean, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_holds_the_package_its_types_its_page_and_its_licence_and_nothing_else(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert "cutaway/__init__.py" in names
    assert "cutaway/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert {"cutaway/studio/static/index.html", "cutaway/studio/static/frozen/index.html"} <= names
    assert {name.split("/")[0].split("-")[0] for name in names} == {"cutaway"}


def test_an_installed_wheel_imports(environment: Path) -> None:
    code = "import cutaway; print(cutaway.__file__, cutaway.__version__)"
    where, version = run_in(environment, "python", "-c", code).split()
    assert Path(where).is_relative_to(environment)
    assert version


@pytest.mark.parametrize("command", [["cutaway"], ["python", "-m", "cutaway"]])
def test_an_installed_wheel_brings_the_command(environment: Path, command: list[str]) -> None:
    assert "Usage" in run_in(environment, *command, "--help")
