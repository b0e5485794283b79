"""Runs a session and compares every number: `make check-numbers DATA=mnist.npz`."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from scripts.check_numbers.data import DataError, Prepared, prepare, read_npz
from scripts.check_numbers.ledger import Ledger
from scripts.check_numbers.look import Look
from scripts.check_numbers.of_analyses import check_analyses
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
    parser.add_argument("--epochs", type=int, default=2)
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
        except BrowserError as error:
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
        for look in (first, mean):
            say(f"Comparing the numbers of the training {look.run} ...")
            check_training(look)
        say("Comparing the numbers of its evaluation ...")
        check_evaluation(first)
        say("Comparing the numbers of its analyses ...")
        check_analyses(first)
        say("Correcting labels by keyboard ...")
        train_again(session, correct_labels(first))
        say("Comparing the numbers of the second training ...")
        check_overlay(first, second)
        check_training(second)
        check_evaluation(second)
        say("Comparing both ...")
        check_comparison(first, second)
    say("Done.")
    return session


if __name__ == "__main__":
    sys.exit(main())
