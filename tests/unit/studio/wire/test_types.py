"""The page's TypeScript types are those of the application: generated, committed, and compared here."""

from __future__ import annotations

import pytest

from scripts.make_api_types import GENERATOR, TYPES, api_types


def test_the_types_of_the_page_are_those_of_the_application() -> None:
    if not GENERATOR.exists():
        pytest.skip("ui/node_modules is not there; `make setup` installs it")
    assert TYPES.read_text() == api_types(), "The HTTP API has changed. Run: make ui-types"
