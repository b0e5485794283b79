"""What `make check-numbers` is made of: numbers read off a text, compared to their digits, and definitions in numpy."""

from __future__ import annotations

import importlib.util
import math
import re
from pathlib import Path

import numpy as np
import pytest

from scripts.check_numbers.__main__ import main
from scripts.check_numbers.data import DataError, prepare, read_npz
from scripts.check_numbers.ledger import Decimals, Figures, Ledger, agrees, number_of, numbers_in
from scripts.check_numbers.places import Table
from scripts.check_numbers.reckoning import Answers, mcnemar, newcombe_paired, percent, wilson
from scripts.make_reference import make_targets
from scripts.requirements import ROOT


def npz(path: Path, count: int = 120, **replaced: object) -> Path:
    chance = np.random.default_rng(0)
    images, digits = chance.integers(0, 256, (count, 8, 8)).astype(np.uint8), chance.integers(0, 10, count)
    held = {"x_train": images[:80], "y_train": digits[:80], "x_test": images[80:], "y_test": digits[80:], **replaced}
    np.savez(path, **{name: value for name, value in held.items() if value is not None})  # type: ignore[arg-type]
    return path


class TestReadingNumbers:
    @pytest.mark.parametrize(
        ("text", "number"),
        [
            ("12 000", 12_000),
            ("12,000 samples", 12_000),
            ("0.5525", 0.5525),
            ("\u22120.25 %", -0.25),
            ("3e\u22125", 3e-5),
        ],
    )
    def test_a_number_is_read_as_it_is_written(self, text: str, number: float) -> None:
        assert number_of(text) == pytest.approx(number)

    def test_a_dash_is_no_number(self) -> None:
        assert number_of("\u2013") is None

    def test_all_numbers_of_a_sentence_are_read(self) -> None:
        assert numbers_in("97.5 % right, 1 250 wrong of 50 000") == [97.5, 1250, 50_000]

    def test_a_table_with_two_rows_of_titles_is_read_by_both(self) -> None:
        def cell(text: str, *, names: bool = False, wide: int = 1, tall: int = 1) -> dict[str, object]:
            return {"text": text, "title": "", "names": names, "wide": wide, "tall": tall}

        heads = [
            {"head": True, "cells": [cell("Run", tall=2), cell("loss TRAIN", wide=2)]},
            {"head": True, "cells": [cell("last"), cell("best (min)")]},
        ]
        table = Table([*heads, {"head": False, "cells": [cell("first", names=True), cell("0.3"), cell("0.2")]}])
        assert table.cell("first", "loss TRAIN best (min)") == "0.2"
        assert table.cell("second", "loss TRAIN last") is None


class TestComparing:
    @pytest.mark.parametrize(
        ("shown", "true", "right"),
        [
            (0.5525, 0.55249, True),
            (0.5525, 0.55256, False),
            (0.5, 0.50004, True),
            (0.5, 0.5004, False),
            (0.0, 0.0, True),
        ],
    )
    def test_four_digits_are_compared(self, shown: float, true: float, right: bool) -> None:
        assert agrees(shown, true, Figures(4)) is right

    def test_one_decimal_is_compared(self) -> None:
        assert agrees(97.4, 97.36, Decimals(1))
        assert not agrees(97.4, 97.34, Decimals(1))

    def test_no_number_agrees_with_none_alone(self) -> None:
        assert agrees(None, math.nan, Figures(4))
        assert not agrees(None, 0.0, Figures(4))

    def test_what_stands_nowhere_is_wrong(self) -> None:
        ledger = Ledger()
        ledger.number("last loss", "page", None, 0.5)
        assert [one.shown for one in ledger.wrong] == ["not found"]

    def test_a_sentence_must_have_its_figures_in_their_order(self) -> None:
        ledger = Ledger()
        ledger.says("slice", "page", "error 37 % on 135 samples, 3.7 % elsewhere", "37 %", "135", "3.7 %")
        assert not ledger.wrong
        ledger.says("slice", "page", "error 3.7 % on 135 samples, 37 % elsewhere", "37 %", "135", "3.7 %")
        assert len(ledger.wrong) == 1

    def test_a_series_that_is_too_short_is_wrong(self) -> None:
        ledger = Ledger()
        ledger.series("steps", "page", [0, 1], [0, 1, 2])
        assert [one.what for one in ledger.wrong] == ["steps, how many"]

    def test_the_report_names_what_is_wrong_and_counts_the_rest(self) -> None:
        ledger = Ledger()
        ledger.number("last loss", "page runs", "0.3652", 0.5525, Figures(4))
        ledger.number("steps", "page runs", "96", 96)
        lines = list(ledger.report(everything=False))
        assert any("last loss" in line and "0.3652" in line and "WRONG" in line for line in lines)
        assert lines[-1].split()[:3] == ["2", "numbers", "compared,"]


class TestDefinitions:
    def test_an_interval_of_a_share_is_wilsons(self) -> None:
        assert wilson(10, 10) == (pytest.approx(0.7225, abs=1e-4), 1.0)

    def test_the_paired_interval_is_newcombes(self) -> None:
        """The first example of his paper: 36 right with both, 12 before only, 2 after only, none with neither."""
        low, high = newcombe_paired(36, 12, 2, 0)
        assert (-high, -low) == (pytest.approx(0.0569, abs=1e-4), pytest.approx(0.3404, abs=1e-4))

    def test_flips_are_tested_exactly(self) -> None:
        assert mcnemar(0, 8) == pytest.approx(0.0078125)
        assert mcnemar(4, 4) == 1.0

    def test_a_share_is_never_nothing_or_all(self) -> None:
        assert [percent(one) for one in (0.0001, 0.0812, 0.5, 0.9999)] == ["under 0.1 %", "8.1 %", "50 %", "over 99 %"]

    def test_losses_predictions_and_confusions_follow_from_scores(self) -> None:
        scores = np.zeros((3, 10))
        scores[0, 4], scores[1, 4], scores[2, 9] = 2.0, 2.0, 1.0
        given = Answers(np.array(["a/0", "a/1", "b/0"]), np.array(["a", "a", "b"]), np.array([4, 9, 9]), scores,
                        np.zeros((3, 2), np.float32), {"ink": np.array([0.1, 0.2, 0.3])})  # fmt: skip
        assert given.right.tolist() == [True, False, True]
        assert given.losses[1] == pytest.approx(math.log(math.exp(2) + 9))
        assert given.confusion(given.of("a"))[9, 4] == 1
        assert given.where(["label = 9", "metadata.ink between 0.15 0.3"]).tolist() == [False, True, True]


class TestThePageOfDefinitions:
    def test_every_module_that_it_names_is_there(self) -> None:
        text = (ROOT / "docs" / "reference" / "numbers.md").read_text(encoding="utf-8")
        named = {
            one
            for cell in re.findall(r"\| (`[^|]+`) \|$", text, re.MULTILINE)
            for one in re.findall(r"`([^`]+)`", cell)
        }
        of_page = {one.removeprefix("ui: ") for one in named if one.startswith("ui: ")}
        assert len(named) > 20
        assert [one for one in sorted(of_page) if not list((ROOT / "ui" / "src").rglob(one))] == []
        ours = sorted(named - {f"ui: {one}" for one in of_page})
        assert [one for one in ours if importlib.util.find_spec(f"cutaway.{one}") is None] == []

    def test_it_says_what_make_check_numbers_does(self) -> None:
        assert "check-numbers" in make_targets()


class TestData:
    def test_faults_are_planted_and_the_truth_is_kept(self, tmp_path: Path) -> None:
        data = prepare(read_npz(npz(tmp_path / "some.npz")), 80, 0)
        assert int(data.planted.sum()) == 4
        assert set(data.subset[data.planted]) == {"training"}
        assert data.ids[[0, 80]].tolist() == ["training/0", "validation/0"]

    @pytest.mark.parametrize(
        ("replaced", "said"),
        [
            ({"y_test": None}, "has no y_test"),
            ({"x_train": np.zeros((80, 8, 8))}, "must be images of bytes"),
            ({"y_train": np.zeros(79, np.int64)}, "a number for each of 80 images"),
            ({"y_test": np.full(40, 12)}, "must be digits"),
        ],
    )
    def test_another_file_is_refused_with_what_it_is(
        self, tmp_path: Path, replaced: dict[str, object], said: str
    ) -> None:
        with pytest.raises(DataError, match=said):
            read_npz(npz(tmp_path / "other.npz", **replaced))

    def test_no_npz_and_no_file_end_with_a_line_and_2(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (tmp_path / "text.npz").write_text("no arrays")
        assert main([str(tmp_path / "text.npz")]) == 2
        assert main([str(tmp_path / "none.npz")]) == 2
        assert "There is no" in capsys.readouterr().err
