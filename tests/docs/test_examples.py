"""Every example in the documentation runs, and so does every example in a docstring."""

import doctest
import importlib
import pkgutil
from collections.abc import Callable
from pathlib import Path

import pytest

import cutaway
from tests.docs.pages import PAGES, page_name

# Of the modules, those that are run when they are imported.
SCRIPTS = {"cutaway.__main__"}
MODULES = [name for _, name, _ in pkgutil.walk_packages(cutaway.__path__, "cutaway.") if name not in SCRIPTS]


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_every_example_of_a_page_runs(page: Path, run_page: Callable[[Path], int]) -> None:
    run_page(page)


def test_every_example_in_a_docstring_gives_what_it_says() -> None:
    results = {name: doctest.testmod(importlib.import_module(name)) for name in MODULES}
    assert sum(one.attempted for one in results.values()) > 100
    assert [name for name, one in results.items() if one.failed] == []
