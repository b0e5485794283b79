"""Pages of a training on a phone."""

from __future__ import annotations

import pytest

from tests.browser.phones import HEIGHT, WIDTH, assert_fits
from tests.browser.studios import Shown
from tests.browser.test_every_page import PAGES, opened
from tests.browser.watched_pages import WatchedPages


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", PAGES)
def test_a_page_of_a_training_fits_on_a_phone(open_page: WatchedPages, studio: Shown, name: str) -> None:
    assert_fits(opened(open_page, studio, name, width=WIDTH, height=HEIGHT))
