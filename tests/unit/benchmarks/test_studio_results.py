from benchmarks.figures import Verdict
from benchmarks.studio import results


def test_a_page_may_take_an_allowance_and_half_an_empty_page_more() -> None:
    [row] = results.paint_rows({"ours": [440.0] * 9, "blank": [100.0] * 9})
    assert (row.estimate.median, row.verdict) == (1.4, Verdict.MET)
    [row] = results.paint_rows({"ours": [460.0] * 9, "blank": [100.0] * 9})
    assert row.verdict is Verdict.MISSED


def test_a_page_within_the_allowance_counts_as_nothing() -> None:
    [row] = results.paint_rows({"ours": [250.0] * 5, "blank": [100.0] * 5})
    assert row.estimate.median == 0


def test_tensorboards_time_stands_over_ours() -> None:
    [row] = results.curve_rows({"ours": [100.0] * 5, "theirs": [290.0] * 5, "series": 10, "steps": 10_000})
    assert (row.estimate.median, row.verdict) == (2.9, Verdict.MISSED)
    assert "290 / 100 ms" in row.figures


def test_the_overview_is_held_to_its_bar_by_a_server_that_was_just_started() -> None:
    found = {"first": [2100.0], "later": [50.0], "tensors": 2000, "steps": 10_000, "made": 9.0, "memory_mb": 300.0}
    first, later = results.overview_rows(found)
    assert (first.verdict, later.verdict) == (Verdict.MISSED, Verdict.NO_BAR)


def test_the_worst_live_step_counts() -> None:
    [row] = results.live_rows({"seconds": [0.4, 0.5, 2.1]})
    assert (row.estimate.median, row.verdict) == (2.1, Verdict.MISSED)


def test_the_table_of_runs_is_done_when_it_answered_a_click() -> None:
    found = {"sorted": [900.0], "table": [500.0], "start": [2.0], "indexed": 40.0, "runs": 10_000}
    first, second = results.run_rows(found)
    assert (first.estimate.median, first.verdict) == (0.9, Verdict.MET)
    assert "4.00 ms a run" in second.figures


def test_memory_that_grows_by_more_than_a_twentieth_is_too_much() -> None:
    assert results.memory_rows({"early": 100.0, "late": 106.0, "loads": 1000})[0].verdict is Verdict.MISSED
    assert results.memory_rows({"early": 100.0, "late": 104.0, "loads": 1000})[0].verdict is Verdict.MET


def test_scripts_have_a_bar() -> None:
    assert results.size_rows(149.0, 300.0)[0].verdict is Verdict.MET
    assert results.size_rows(151.0, 300.0)[0].verdict is Verdict.MISSED


def test_the_map_is_held_to_its_bars_and_webgl_alone_is_told_beside_it() -> None:
    times = {
        "ours": {"painted": [70.0] * 9, "filtered": [80.0] * 9},
        "theirs": {"painted": [100.0] * 9, "filtered": [100.0] * 9},
        "card": {"painted": [90.0] * 9, "filtered": [120.0] * 9},
        "moving": 60_000,
    }
    found = {"sizes": {60_000: times}, "lasso": [20.0] * 9, "lasso_points": 1_000_000}
    painted, by_webgl, filtered, _, lasso = results.map_rows(found)
    assert (painted.estimate.median, painted.verdict) == (0.7, Verdict.MET)
    assert (filtered.estimate.median, filtered.verdict) == (0.8, Verdict.MISSED)
    assert (by_webgl.estimate.median, by_webgl.verdict) == (0.9, Verdict.NO_BAR)
    assert "60,000 drawn while moving" in painted.figures
    assert lasso.verdict is Verdict.MET


def test_a_slow_lasso_is_missed() -> None:
    *_, lasso = results.map_rows({"sizes": {}, "lasso": [61.0] * 9, "lasso_points": 1_000_000})
    assert lasso.verdict is Verdict.MISSED


def test_a_population_is_held_to_its_bars_by_how_many_samples_it_has() -> None:
    times = {"cold": [3000.0] * 3, "warm": [2100.0] * 9, "memory_mb": 700.0}
    found = {"sizes": {1_000_000: times}, "lasso": [40.0] * 9, "lasso_points": 1_000_000, "moving": 100_000}
    cold, warm, lasso, moving = results.population_rows(found)
    assert (cold.estimate.median, cold.verdict) == (3.0, Verdict.MET)
    assert (warm.estimate.median, warm.verdict) == (2.1, Verdict.MISSED)
    assert (lasso.verdict, moving.verdict) == (Verdict.MET, Verdict.MET)


def test_a_page_that_draws_everything_while_it_moves_is_missed() -> None:
    found = {"sizes": {}, "lasso": [61.0] * 9, "lasso_points": 1_000_000, "moving": 1_000_000}
    assert [row.verdict for row in results.population_rows(found)] == [Verdict.MISSED, Verdict.MISSED]


def test_similars_and_heat_maps_have_bars_and_the_first_similars_none() -> None:
    found = {"similars": [101.0] * 9, "heat": [900.0] * 9, "sanity": [2000.0] * 9, "first": [1500.0] * 3}
    assert [row.verdict for row in results.sample_rows(found)] == [
        Verdict.MISSED,
        Verdict.MET,
        Verdict.NO_BAR,
        Verdict.NO_BAR,
    ]
