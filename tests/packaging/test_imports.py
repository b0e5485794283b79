"""What importing costs, and that what is imported is declared."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest

import cutaway
from scripts.requirements import PYPROJECT, ROOT, canonical

SOURCE = ROOT / "src" / "cutaway"
HEAVY = [
    "PIL", "captum", "faiss", "h5py", "jax", "keras", "matplotlib", "onnx", "onnxruntime", "pandas", "polars",
    "scipy", "sklearn", "tensorflow", "torch",
]  # fmt: skip
SERVER = ["fastapi", "h11", "pydantic", "starlette", "uvicorn"]
# What the adapters of a framework may import: `keras` runs on either engine, gradients of ONNX files on torch.
EXTRAS_OF = {
    "torch": ["torch"],
    "keras": ["keras", "tensorflow", "torch"],
    "tensorflow": ["tensorflow"],
    "onnx": ["onnx", "torch"],
}
# The only code that may need a framework to be imported: adapters, their public doors, contract tests for adapters.
DOORS = ("frameworks", "torch", "keras", "tensorflow", "testing", "__main__")


def modules_outside_the_doors() -> list[str]:
    paths = (path.relative_to(SOURCE.parent).with_suffix("") for path in sorted(SOURCE.rglob("*.py")))
    parts = [path.parts for path in paths]
    return [".".join(part).removesuffix(".__init__") for part in parts if part[1] not in DOORS]


def run_python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_no_module_outside_the_adapters_loads_a_framework() -> None:
    names = modules_outside_the_doors()
    assert "cutaway.errors" in names
    imports = "".join(f"import {name}\n" for name in names)
    loaded = json.loads(run_python(f"{imports}import json, sys\nprint(json.dumps(sorted(sys.modules)))"))
    assert set(loaded) & set(HEAVY) == set()


@pytest.mark.parametrize("code", ["import cutaway", "import cutaway.cli\ncutaway.cli.main(['--help'])"])
def test_only_the_studio_loads_a_server(code: str) -> None:
    ending = f"import sys\nprint(sorted(set(sys.modules) & {{*{HEAVY + SERVER!r}}}))"
    body = "".join(f"    {line}\n" for line in code.splitlines())
    printed = run_python(f"try:\n{body}except SystemExit:\n    pass\n{ending}")
    assert printed.splitlines()[-1] == "[]"


def test_importing_cutaway_loads_one_module_of_it_and_no_other_package() -> None:
    new = "import sys\nbefore = {*sys.modules}\nimport cutaway\nprint(*sorted({*sys.modules} - before))"
    loaded = [name for name in run_python(new).split() if name.split(".")[0] not in sys.stdlib_module_names]
    assert loaded == ["cutaway"]


def test_the_public_names_are_those_that_are_listed() -> None:
    assert cutaway.__all__ == sorted(cutaway.__all__)
    assert set(cutaway.__all__) <= set(dir(cutaway))
    with pytest.raises(AttributeError, match="has no attribute 'atach'"):
        _ = cutaway.atach


def test_the_newest_entry_of_the_changelog_is_this_version() -> None:
    newest = re.search(r"(?m)^## (\S+)", (ROOT / "CHANGELOG.md").read_text())
    assert newest
    assert newest[1] == cutaway.__version__


def third_party_imports(path: Path) -> set[str]:
    """Packages that a module imports as it is loaded; what a function imports when called may be optional."""
    found = set[str]()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.split(".")[0])
    return found - set(sys.stdlib_module_names) - {"cutaway"}


def test_every_package_that_is_imported_is_declared() -> None:
    project = tomllib.loads(PYPROJECT.read_text())["project"]
    undeclared = {str(path.relative_to(SOURCE)): _undeclared(path, project) for path in SOURCE.rglob("*.py")}
    assert len(undeclared) > 500
    assert {path: names for path, names in undeclared.items() if names} == {}


def _undeclared(path: Path, project: Mapping[str, Any]) -> set[str]:
    """What a module imports of packages that its place in the tree may not need."""
    declared = [*project["dependencies"]]
    parts = path.relative_to(SOURCE).with_suffix("").parts
    framework = parts[1] if parts[0] == "frameworks" and len(parts) > 1 else parts[0]
    for extra in EXTRAS_OF.get(framework, ()):
        declared += project["optional-dependencies"][extra]
    if path.is_relative_to(SOURCE / "testing"):
        declared += ["pytest"]
    allowed = {canonical(re.split(r"[<>=\[]", requirement)[0]) for requirement in declared}
    return {name for name in third_party_imports(path) if not owners(name) & allowed}


def owners(package: str) -> set[str]:
    """The distributions that bring a package; `tensorflow-cpu` stands in for `tensorflow` in the tests."""
    return {canonical(one).removesuffix("-cpu") for one in distributions()[package]}


@cache
def distributions() -> Mapping[str, list[str]]:
    return packages_distributions()
