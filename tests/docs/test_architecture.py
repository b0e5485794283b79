"""The map of the house is true: what it names is there, nothing is left out, and its two ways are the ones taken."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts.count_modules import of_sample, of_step
from scripts.requirements import ROOT
from tests.docs.pages import DOCS, prose

PAGE = DOCS / "explanation" / "architecture.md"
PACKAGE = ROOT / "src" / "cutaway"
PACKAGES = sorted(
    {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    - {"__init__", "__main__"}
)


def section(heading: str) -> str:
    """The text below a heading, up to the next."""
    found = re.search(rf"(?ms)^## {re.escape(heading)}$\n(.*?)(?=^## |\Z)", PAGE.read_text(encoding="utf-8"))
    assert found, f"there is no section {heading!r}"
    return found[1]


def modules(text: str) -> list[str]:
    """The modules that a text names, `package.module`."""
    named = re.findall(r"`([a-z_]+(?:\.[a-z_0-9]+)+)`", text)
    return [name for name in named if name.partition(".")[0] in PACKAGES and not name.endswith((".py", ".toml"))]


def is_there(module: str) -> bool:
    path = PACKAGE.joinpath(*module.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file()


def test_every_module_that_the_map_names_is_there() -> None:
    named = modules(prose(PAGE))
    assert len(named) > 20
    assert [name for name in named if not is_there(name)] == []


def test_every_package_is_on_the_map() -> None:
    rows = re.findall(r"(?m)^\| `(\w+)` \|", section("The packages"))
    assert sorted(rows) == PACKAGES


@pytest.mark.parametrize(
    "what", ["a rule", "an analysis", "a metric", "a visualizer", "a model format", "a framework", "a storage"]
)
def test_whatever_can_be_added_has_its_page_and_its_test(what: str) -> None:
    row = re.search(rf"(?m)^\| {what} \|.*$", section("Where to add"))
    assert row, f"the map does not say where {what} is added"
    links = re.findall(r"\]\(([^)]+)\)", row[0])
    assert len([one for one in links if "how-to/" in one]) == 1
    assert [one for one in links if not (PAGE.parent / one).exists()] == []
    page = next(Path(one).name for one in links if "how-to/" in one)
    tests = [*(ROOT / "tests" / "docs").glob("test_*.py"), *(ROOT / "tests" / "contract").glob("test_*.py")]
    assert any(f'"{page}"' in path.read_text(encoding="utf-8") for path in tests), f"no test follows {page}"


def test_a_step_goes_the_way_that_the_map_tells(tmp_path: Path) -> None:
    told = section("The way of one step").partition("From there")[0]
    assert sorted(set(modules(told)) - set(of_step(tmp_path))) == []


def test_a_sample_goes_the_way_that_the_map_tells(tmp_path: Path) -> None:
    written, answered = of_sample(tmp_path)
    entered = [*written, *answered]
    told = [name for name in modules(section("The way of one sample")) if (PACKAGE / name.replace(".", "/")).is_dir()]
    folders = {name for name in told if any(one.startswith(f"{name}.") for one in entered)}
    assert sorted(set(modules(section("The way of one sample"))) - folders - set(entered)) == []
