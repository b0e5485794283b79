"""What holds on a phone held upright: no page is wider than its window, what the header offers is within reach."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import expect

from tests.browser.looking import settled

WIDTH, HEIGHT = 390, 844
# Buttons of the header that lie beyond the window, by their names.
OUT_OF_REACH = """width => [...document.querySelectorAll("header button, header a")]
    .filter(one => one.checkVisibility({ visibilityProperty: true }) && !one.matches(".skip"))
    .filter(one => one.getBoundingClientRect().left < 0 || one.getBoundingClientRect().right > width)
    .map(([one]) => one.getAttribute("aria-label") ?? one.textContent)"""
# What lies beyond the window and widens the page, to be read where this fails.
TOO_WIDE = """width => [...document.querySelectorAll("body *")]
    .filter(one => one.getBoundingClientRect().right > width + 1)
    .slice(0, 5).map(one => one.outerHTML.slice(0, 120))"""


def assert_fits(page: Any) -> None:
    settled(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTH, page.evaluate(TOO_WIDE, WIDTH)
    for name in ("Keyboard shortcuts", "Dark theme"):
        expect(page.get_by_role("button", name=name)).to_be_in_viewport(ratio=1)
    assert page.evaluate(OUT_OF_REACH, WIDTH) == []
