"""The parts of the labels' benchmark that train and count, and the whole of it on few samples."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.labels import __main__ as labels
from benchmarks.labels.finding import corrections
from benchmarks.labels.jobs import QUICK
from benchmarks.labels.planting import CLOTHES, DIGITS, KINDS, LETTERS, plant
from benchmarks.labels.settings import SETTINGS, read_data
from benchmarks.labels.watching import positions, train, watch
from benchmarks.population.images import VARIABLE


class TestPlanting:
    @pytest.mark.parametrize("kind", KINDS)
    def test_exactly_the_share_is_wrong_and_known(self, kind: str) -> None:
        right = np.arange(1000) % 10
        planted = plant(right, kind, 0.05, 3)
        assert planted.wrong.sum() == 50
        assert np.array_equal(planted.wrong, planted.labels != right)
        assert np.array_equal(planted.labels, plant(right, kind, 0.05, 3).labels)

    @pytest.mark.parametrize("confusable", [DIGITS, CLOTHES, LETTERS])
    def test_nobody_takes_a_class_for_itself(self, confusable: tuple[int, ...]) -> None:
        assert all(taken != one for one, taken in enumerate(confusable))
        assert set(confusable) <= set(range(len(confusable)))


class TestDigits:
    def test_a_split_keeps_the_classes_and_leaves_every_digit_on_one_side(self) -> None:
        data, other = (read_data("digits", None, split=seed) for seed in (0, 1))
        assert (len(data.y), len(data.y_test)) == (1200, 597)
        assert np.ptp(np.bincount(data.y_test)) <= 4
        assert not np.array_equal(data.y_test, other.y_test)

    def test_without_a_split_all_are_trained_on(self) -> None:
        assert len(read_data("digits", None).y) == 1797


def test_a_watched_training_is_the_same_training(tmp_path: Path) -> None:
    setting, data = replace(SETTINGS["digits"], epochs=15), read_data("digits", None)
    x, y = data.x[:300], data.y[:300]
    planted = plant(y, "uniform", 0.1, 0)
    watched = watch(setting, x, planted.labels, seed=0, scratch=tmp_path)
    bare = train(setting, x, planted.labels, seed=0)
    for one, other in zip(bare.parameters(), watched.module.parameters(), strict=True):
        assert np.array_equal(one.detach().numpy(), other.detach().numpy())
    order = positions(watched.candidates["sample"].to_pylist())
    assert sorted(order) == list(range(300))
    assert planted.wrong[order[:15]].mean() > 0.8
    fixed, counts = corrections(watched.candidates, planted, y)
    assert counts["dropped"] == (fixed < 0).sum()
    assert counts["accepted"] + counts["dropped"] == (fixed != planted.labels).sum()
    assert counts["accepted_right"] == ((fixed == y) & (fixed != planted.labels)).sum()
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_the_whole_benchmark_runs_on_few_digits_and_judges_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    small = replace(QUICK, mending_digits=1, clean=1, whole=600)
    monkeypatch.setattr(labels, "QUICK", small)
    out = tmp_path / "rows.json"
    assert labels.main(["--quick", "--no-peers", "--no-packages", "--json", str(out)]) == 0
    rows = json.loads(out.read_text())["rows"]
    absent = {row["label"]: row["reason"] for row in rows if "reason" in row}
    without_mnist = [label for label, reason in absent.items() if reason == labels.NO_MNIST]
    assert without_mnist == ["mislabeled: MNIST", "scores: MNIST, noisy", "scores: MNIST, hidden", "fix: MNIST"]
    # Of so few samples no label has a score, which is said instead of a figure.
    assert all(label in without_mnist or label.startswith("scores: ") for label in absent)
    measured = [row for row in rows if "reason" not in row]
    assert {row["key"].split("-")[0] for row in measured} >= {
        "found",
        "named",
        "touched",
        "unharmed",
        "slices",
        "whole",
        "",
    }
    assert {row["verdict"] for row in measured} == {"-"}
    assert "How often a label with such a score is wrong, digits:" in capsys.readouterr().out
