"""Runs a session and compares every number: `make check-numbers DATA=mnist.npz`."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from scripts.check_numbers.data import DataError, Prepared, prepare, read_npz
from scripts.check_numbers.ledger import Ledger
from scripts.check_numbers.look import Look
from scripts.check_numbers.of_analyses import TooFewError, check_analyses
from scripts.check_numbers.of_comparison import check_comparison, check_overlay
from scripts.check_numbers.of_evaluation import check_evaluation
from scripts.check_numbers.of_labels import correct_labels
from scripts.check_numbers.of_training import check_training
from scripts.check_numbers.places import open_studio
from scripts.check_numbers.session import FIRST, MEAN, SECOND, Session, begin, train_again
from scripts.find_browser import BrowserError

__all__ = ["check_session", "main"]

# As many as make a session of a few minutes on two cores; validation has a sixth as many.
SAMPLES = 12_000


def main(arguments: list[str] | None = None) -> int:
    """Run a session, print what was compared, and return 1 where a number is wrong."""
    parser = argparse.ArgumentParser(prog="python -m scripts.check_numbers", description=__doc__)
    parser.add_argument("data", type=Path, help="an npz with x_train, y_train, x_test and y_test, as Keras' mnist.npz")
    parser.add_argument("--samples", default=str(SAMPLES), help="how many images are trained on, or `all`")
    parser.add_argument("--epochs", type=int, default=5, help="of each training")
    parser.add_argument("--seed", type=int, default=0, help="chooses the images, and the labels that are made wrong")
    parser.add_argument("--work", type=Path, help="where the runs are made and stay, instead of a folder that goes")
    parser.add_argument("--all", action="store_true", help="list every number, not only those that are wrong")
    parser.add_argument("--tamper", default="", metavar="TEXT", help="expect something else of numbers with this name")
    options = parser.parse_args(arguments)
    try:
        samples = sys.maxsize if options.samples == "all" else int(options.samples)
        data = prepare(read_npz(options.data), samples, options.seed)
    except (DataError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    ledger = Ledger(options.tamper)
    with ExitStack() as stack:
        folder = options.work or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        os.environ["XDG_CACHE_HOME"] = str(folder.resolve() / "cache")
        try:
            check_session(folder.resolve(), data, options.epochs, ledger)
        except (BrowserError, TooFewError) as error:
            print(error, file=sys.stderr)
            return 2
    for line in ledger.report(everything=options.all):
        print(line)
    return 1 if ledger.wrong else 0


def check_session(folder: Path, data: Prepared, epochs: int, ledger: Ledger) -> Session:
    """Run a whole session in a folder, and compare what is shown on its way."""
    began = time.monotonic()

    def say(words: str) -> None:
        print(f"{time.monotonic() - began:5.0f} s  {words}", flush=True)

    session = begin(folder, data, epochs, say)
    with open_studio(session.runs) as studio:
        first, second, mean = (Look(session, studio, ledger, name) for name in (FIRST, SECOND, MEAN))
        parts: list[tuple[str, Callable[[], object]]] = [
            ("Comparing the numbers of the first training", lambda: check_training(first)),
            ("Comparing the numbers of a loss that is one number", lambda: check_training(mean)),
            ("Comparing the numbers of the evaluation", lambda: check_evaluation(first)),
            ("Comparing the numbers of the analyses", lambda: check_analyses(first)),
            ("Correcting labels by keyboard", lambda: train_again(session, correct_labels(first))),
            ("Comparing the labels of the second training", lambda: check_overlay(first, second)),
            ("Comparing the numbers of the second training", lambda: check_training(second)),
            ("Comparing the numbers of its evaluation", lambda: check_evaluation(second)),
            ("Comparing both", lambda: check_comparison(first, second)),
        ]
        for words, check in parts:
            say(f"{words} ...")
            if not _found(ledger, words, check):
                break
    say("Done.")
    return session


def _found(ledger: Ledger, words: str, check: Callable[[], object]) -> bool:
    """Run a part. What the page does not show at all is wrong, and ends the session: the rest is made of it."""
    from playwright.sync_api import Error

    try:
        check()
    except Error as error:
        ledger.text(words, "page", None, str(error.message).replace("\n", " "))
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
