"""What the workers of the population's benchmark answer becomes rows that cannot hide a wrong answer."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.figures import Verdict
from benchmarks.population import results
from benchmarks.population.report import cells, markdown, text
from benchmarks.population.results import BARS, Judge
from benchmarks.results import Absent, StoreRow

JUDGE = Judge()


def maps(ours: float = 7.0, **changes: Any) -> dict[str, Any]:
    one = {"seconds": ours, "importing": 1.5, "called": ours - 2, "peak_mb": 900.0}
    umap = {"cold": 70.0, "warm": 17.0, "version": "0.5.12"}
    answers = {
        "cutaway": [one] * 3,
        "umap-learn": [umap] * 3,
        "umap-learn later": [{**umap, "cold": 30.0, "warm": None}],
        "pacmap": [{"cold": 25.0, "warm": 20.0, "version": "0.9.1"}] * 3,
        "preview": [{**one, "seconds": 1.9, "called": 0.2}] * 5,
    }
    trust = {"cutaway": [0.985] * 3, "umap-learn": [0.9853] * 3, "pacmap": [0.983] * 3}
    return {"answers": answers, "trust": trust, "failed": {}} | changes


def judged(rows: list[Any]) -> dict[str, Verdict]:
    return {row.key: row.verdict for row in rows if isinstance(row, StoreRow) and row.key}


def heat_maps(**changes: Any) -> dict[str, Any]:
    seconds = {"captum": [0.010] * 5, "live": [0.011] * 5, "here": [0.012] * 5, "child": [0.013] * 5}
    differences = {"live": 1e-6, "here": 1e-5, "child": 1e-5}
    return {
        "samples": 16,
        "methods": {"grad_cam": {"seconds": seconds, "differences": differences, "largest": 0.5} | changes},
    }


def large(**changes: Any) -> dict[str, Any]:
    times = {"single": [2e-4] * 20, "flat": [0.03] * 9, "built": 40.0}
    about = {"rows": 1_000_000, "queries": 2000, "recall": 0.995, "stated": 0.994, "exact": False, "notes": []}
    return {**times, **about} | changes


def exact(**changes: Any) -> dict[str, Any]:
    times = {"ours": [1.1e-3] * 9, "flat": [1e-3] * 9}
    return {"single": times, "batch": times, "rows": 60_000, "queries": 1000, "exact": True, "wrong": 0} | changes


class TestMaps:
    def test_every_bar_of_the_map_is_held(self) -> None:
        rows = results.map_rows(maps(), JUDGE)
        keys = {key for key in BARS if key.startswith("map-")}
        assert judged(rows) == dict.fromkeys(keys, Verdict.MET)

    def test_ratios_are_the_peers_time_over_ours(self) -> None:
        rows = {row.key: row for row in results.map_rows(maps(), JUDGE) if isinstance(row, StoreRow)}
        assert rows["map-cold"].estimate.median == 10.0
        assert rows["map-cold"].label == "map: umap-learn 0.5.12, cold / ours"
        assert rows["map-trust-umap"].estimate.median == pytest.approx(-0.0003)

    def test_a_slow_map_misses_the_bars_of_its_peers(self) -> None:
        found = judged(results.map_rows(maps(ours=10.0), JUDGE))
        assert {found[key] for key in ("map-warm", "map-cold", "map-pacmap")} == {Verdict.MISSED}

    def test_speed_that_was_bought_by_a_bad_map_is_void(self) -> None:
        bad = maps(trust={"cutaway": [0.97] * 3, "umap-learn": [0.9853] * 3})
        found = judged(results.map_rows(bad, JUDGE))
        assert {found[key] for key in ("map-warm", "map-cold", "map-pacmap")} == {Verdict.VOID}
        assert {found[key] for key in ("map-trust", "map-trust-umap")} == {Verdict.MISSED}

    def test_a_peer_that_could_not_be_asked_stands_in_the_report(self) -> None:
        answers = {name: one for name, one in maps()["answers"].items() if name in ("cutaway", "pacmap")}
        rows = results.map_rows(maps(answers=answers, failed={"umap-learn": "no wheel"}), JUDGE)
        assert Absent("map: umap-learn", "no wheel") in rows

    def test_without_our_own_map_there_is_nothing_to_compare(self) -> None:
        assert results.map_rows({"answers": {}, "trust": {}, "failed": {"cutaway": "died"}}, JUDGE) == [
            Absent("map", "died")
        ]

    def test_other_data_than_mnist_are_measured_and_not_judged(self) -> None:
        rows = results.map_rows(maps(ours=100.0), Judge(holds=False))
        assert {row.verdict for row in rows if isinstance(row, StoreRow)} == {Verdict.NO_BAR}


class TestAlignment:
    def answer(self, **changes: Any) -> dict[str, Any]:
        shares = {"stayed": [0.999] * 3, "unaligned": [0.04] * 3, "free": [0.985] * 3, "aligned": [0.984] * 3}
        return {
            **shares,
            "placed": [0.981] * 3,
            "fitted": [0.985] * 3,
            "samples": 60_000,
            "kept": 40_000,
            "new": 10_000,
        } | changes

    def test_a_map_that_stays_and_stays_true_keeps_its_bars(self) -> None:
        assert set(judged(results.alignment_rows(self.answer(), JUDGE)).values()) == {Verdict.MET}

    @pytest.mark.parametrize(
        ("key", "changes"),
        [
            ("align-stayed", {"stayed": [0.97] * 3}),
            ("align-trust", {"aligned": [0.98] * 3}),
            ("place", {"placed": [0.96] * 3}),
        ],
    )
    def test_each_loss_misses_its_own_bar(self, key: str, changes: dict[str, Any]) -> None:
        found = judged(results.alignment_rows(self.answer(**changes), JUDGE))
        assert [name for name, verdict in found.items() if verdict is Verdict.MISSED] == [key]


class TestSimilars:
    def test_an_exact_search_as_quick_as_faiss_keeps_the_bar(self) -> None:
        rows = results.exact_rows(exact(), JUDGE)
        assert [(row.verdict, row.estimate.median) for row in rows if isinstance(row, StoreRow)] == [
            (Verdict.MET, pytest.approx(1.1))
        ] * 2

    @pytest.mark.parametrize(
        ("changes", "words"),
        [({"wrong": 3}, "3 of 1000 queries did not get their nearest"), ({"exact": False}, "the index is not exact")],
    )
    def test_a_quick_search_that_finds_others_is_void(self, changes: dict[str, Any], words: str) -> None:
        for row in results.exact_rows(exact(**changes), JUDGE):
            assert isinstance(row, StoreRow)
            assert (row.verdict, row.problems) == (Verdict.VOID, (words,))

    def test_a_large_index_shows_its_own_recall_beside_the_measured_one(self) -> None:
        rows = results.large_rows(large(), JUDGE)
        assert set(judged(rows).values()) == {Verdict.MET}
        assert "2,000 held-out queries; the index says 0.9940" in text({}, rows, [])

    def test_a_quick_query_that_misses_neighbours_is_void(self) -> None:
        found = judged(results.large_rows(large(recall=0.95), JUDGE))
        assert found == {"large-built": Verdict.MET, "large-recall": Verdict.MISSED, "large-single": Verdict.VOID}

    def test_fours_among_nines_are_counted_and_shown(self) -> None:
        fours = [{"row": 7, "counts": {"9": 15, "4": 5}}, {"row": 8, "counts": {"9": 10, "4": 10}}]
        row = results.fours_row({"samples": 70_000, "fours": fours, "similar": 20}, JUDGE)
        assert (row.estimate.median, row.verdict) == (1.0, Verdict.MET)
        assert row.figures == "of 2 that are read as 9; sample 7: 15 x 9, 5 x 4"

    def test_no_four_among_nines_misses_the_bar(self) -> None:
        assert results.fours_row({"samples": 10, "fours": [], "similar": 20}, JUDGE).verdict is Verdict.MISSED


class TestHeatMaps:
    def test_maps_that_are_quick_and_equal_keep_their_bars(self) -> None:
        assert set(judged(results.heat_map_rows(heat_maps(), JUDGE)).values()) == {Verdict.MET}

    @pytest.mark.parametrize("wrong", [0.01, float("nan")])
    def test_a_quick_map_that_differs_is_void(self, wrong: float) -> None:
        found = judged(
            results.heat_map_rows(heat_maps(differences={"live": wrong, "here": wrong, "child": wrong}), JUDGE)
        )
        assert (found["heat-captum"], found["heat-child"]) == (Verdict.VOID, Verdict.VOID)
        assert Verdict.MET not in (found["heat-equal"], found["heat-onnx"])


class TestSanity:
    def answer(self, known: int, noise: int) -> dict[str, Any]:
        passes = {"integrated gradients": known, "noise": noise, "3 x 3 cells": 0}
        return {"passes": passes, "samples": 300, "completeness": 0.001}

    def test_the_random_kind_that_passes_most_is_held_to_the_bar(self) -> None:
        found = judged(results.sanity_rows(self.answer(299, 12), JUDGE))
        assert found == {"sanity-integrated": Verdict.MET, "sanity-random": Verdict.MET}
        assert judged(results.sanity_rows(self.answer(299, 60), JUDGE))["sanity-random"] is Verdict.MISSED

    def test_a_share_has_an_interval_even_where_all_or_none_pass(self) -> None:
        none, every = results.share_of(0, 100), results.share_of(100, 100)
        assert (none.median, none.low) == (0.0, 0.0)
        assert none.high == pytest.approx(0.037, abs=1e-3)
        assert every.low == pytest.approx(1 - none.high)


class TestTheReport:
    def test_small_differences_keep_their_digits(self) -> None:
        row = next(
            row for row in results.map_rows(maps(), JUDGE) if isinstance(row, StoreRow) and row.key == "map-trust-umap"
        )
        assert cells(row)[2:5] == ("-0.0003", "-", ">= -0.001")

    def test_notes_and_problems_are_told_in_text_and_in_markdown(self) -> None:
        rows = results.large_rows(large(exact=True), JUDGE)
        for made in (text({"cores": "2"}, rows, ["A note."]), markdown({"cores": "2"}, rows, ["A note."])):
            assert "A note." in made
            assert "ours / faiss flat: the index compares every row." in made
