"""`make check-numbers` on scikit-learn's digits: all numbers of a session are true, and one that is not is found."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from cutaway.studio.serving.page import STATIC
from scripts.check_numbers.__main__ import check_session
from scripts.check_numbers.data import prepare, read_npz
from scripts.check_numbers.ledger import Ledger
from scripts.check_numbers.look import Look
from scripts.check_numbers.of_training import check_training
from scripts.check_numbers.places import open_studio
from scripts.check_numbers.session import FIRST, Session
from scripts.find_browser import browser_tests_are_skipped, find_installed

# As many as it takes until the network tells right labels from wrong ones; after more it knows these by heart.
EPOCHS = 8

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.timeout(900)]
pytest.importorskip("torch")
pytest.importorskip("sklearn")
pytest.importorskip("playwright.sync_api")


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Session, Ledger]]:
    """A whole session on digits, with all that was compared on its way."""
    from sklearn.datasets import load_digits

    if browser_tests_are_skipped() or find_installed() is None or not (STATIC / "index.html").is_file():
        pytest.skip("it takes a browser and the built page")
    folder, digits = tmp_path_factory.mktemp("numbers"), load_digits()
    images = np.clip(np.round(digits.images * 15.94), 0, 255).astype(np.uint8)
    file = folder / "digits.npz"
    np.savez(
        file, x_train=images[:1400], y_train=digits.target[:1400], x_test=images[1400:], y_test=digits.target[1400:]
    )
    ledger = Ledger()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        yield check_session(folder, prepare(read_npz(file), 1400, 0), EPOCHS, ledger), ledger


def test_every_number_of_a_session_is_the_one_that_numpy_computes(checked: tuple[Session, Ledger]) -> None:
    _, ledger = checked
    assert [f"{one.what}, {one.where}: {one.shown}, numpy {one.true}" for one in ledger.wrong] == []
    assert len(ledger.entries) > 5000


def test_every_place_was_looked_at(checked: tuple[Session, Ledger]) -> None:
    places = {one.where.split(",")[0] for one in checked[1].entries}
    pages = {"page runs", "page run", "page samples of a step", "page population", "page sample", "page insights",
             "page labels", "page tests", "page compare"}  # fmt: skip
    assert pages <= places
    assert any(place.startswith("cutaway ") for place in places)
    assert any(place.startswith("GET ") for place in places)


def test_a_number_that_is_wrong_is_found_wherever_it_stands(checked: tuple[Session, Ledger]) -> None:
    session, _ = checked
    ledger = Ledger(tampered="best loss")
    with open_studio(session.runs) as studio:
        check_training(Look(session, studio, ledger, FIRST))
    assert {one.where for one in ledger.wrong} == {"GET runs/{run}", "GET runs", "page runs", "page run"}
    assert all("best loss" in one.what for one in ledger.wrong)
