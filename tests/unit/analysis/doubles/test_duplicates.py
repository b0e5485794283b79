from __future__ import annotations

import gc
import time
from dataclasses import replace

import numpy as np
import pytest

from cutaway.analysis.doubles import find_duplicates, find_leakage
from cutaway.analysis.neighbours import build_index
from cutaway.analysis.neighbours.nearest import Nearest, nearest_of
from cutaway.analysis.samples import Samples
from cutaway.analysis.samples.ranked import Ranked
from cutaway.errors import AnalysisUnavailable, ConfigurationError


def made(count: int, hashes: list[str | None] | None = None, **columns: list[str]) -> Samples:
    vectors = np.random.default_rng(0).normal(size=(count, 6)).astype(np.float32)
    samples = Samples.from_arrays(vectors, columns.pop("labels", None), columns=columns)
    return replace(samples, hashes=None if hashes is None else tuple(hashes))


def found(samples: Samples) -> Ranked:
    return find_duplicates(samples, nearest_of(samples, lambda: build_index(samples.latents)))


def different(count: int) -> list[str | None]:
    return [str(row) for row in range(count)]


def test_nothing_twice_is_an_empty_table_that_says_so() -> None:
    result = found(made(50, different(50)))
    assert len(result) == 0
    assert result.table.column_names[:9] == [
        "sample", "score", "reason", "other", "kind", "distance", "subset", "other_subset", "group",
    ]  # fmt: skip
    assert "No sample is there twice" in result.words[0]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_few_samples_are_too_few_for_near_ones_only(count: int) -> None:
    assert len(found(made(count, different(count)))) == 0
    result = found(made(count, ["same"] * count))
    assert len(result) == count - 1
    assert "none were looked for" in result.notes[-1]


def test_a_group_of_equal_content_is_told_with_the_one_to_keep() -> None:
    subsets = ["training", "training", "test", "validation"] + ["training"] * 36
    result = found(made(40, ["a", "a", "a", "a", *different(36)], subset=subsets))
    rows = result.table.to_pylist()
    assert {(row["sample"], row["other"]) for row in rows} == {("0", "2"), ("1", "2"), ("3", "2")}
    assert {row["group"] for row in rows} == {1}
    assert {(row["kind"], row["score"]) for row in rows} == {("exact", 1.0)}


def test_ten_thousand_equal_samples_give_ten_thousand_rows_less_one() -> None:
    samples = made(10_000, ["same"] * 10_000)
    nowhere = Nearest(np.full((10_000, 20), -1), np.full((10_000, 20), np.inf, np.float32))
    assert len(find_duplicates(samples, nowhere)) == 9_999


def test_samples_without_a_hash_are_equal_to_nothing() -> None:
    assert len(found(made(30, [None] * 30))) == 0


def test_all_equal_vectors_of_different_content_are_a_collapse_and_no_duplicates() -> None:
    samples = replace(made(30, different(30)), latents=np.tile(np.arange(6, dtype=np.float32), (30, 1)))
    result = found(samples)
    assert len(result) == 0
    assert "collapsed" in result.notes[-1]


def test_silent_vectors_are_no_duplicates() -> None:
    samples = made(100, different(100))
    samples.latents[:5] = 0
    assert len(found(samples)) == 0


def test_equal_vectors_are_near_duplicates_where_there_are_no_hashes() -> None:
    samples = made(100)
    samples.latents[7] = samples.latents[3]
    result = found(samples)
    assert result.table["sample"].to_pylist() == ["7"]
    assert result.table["kind"].to_pylist() == ["near"]
    assert result.table["distance"].to_pylist() == [0.0]
    assert "no content hashes" in result.notes[0]


def test_several_near_copies_are_one_group_with_as_many_rows_less_one() -> None:
    samples = made(400, different(400))
    chance = np.random.default_rng(1)
    samples.latents[1:5] = samples.latents[0] + chance.normal(0, 1e-4, (4, 6))
    result = found(samples)
    assert len(result) == 4
    assert set(result.table["group"].to_pylist()) == {1}


def test_failed_samples_are_said_and_found_by_content() -> None:
    samples = made(40, ["a", "a", *different(38)])
    samples.latents[:2] = np.nan
    result = found(samples)
    assert result.table["sample"].to_pylist() == ["1"]
    assert result.table["distance"].to_pylist() == [None]
    assert "2 of 40 samples have no finite latent vector" in result.notes[0]


def test_nothing_to_go_by_is_a_reason() -> None:
    samples = replace(made(10), latents=np.full((10, 6), np.nan, np.float32))
    with pytest.raises(AnalysisUnavailable, match="no sample has a finite latent vector or a content hash"):
        found(samples)


def test_different_labels_come_first_and_are_said() -> None:
    labels = ["3", "3", "5", "8", *["1"] * 36]
    result = found(made(40, ["a", "a", "b", "b", *different(36)], labels=labels))
    first = result.table.to_pylist()[0]
    assert (first["label"], first["other_label"]) == ("8", "5")
    assert "labelled 8, that 5: one is wrong" in first["reason"]
    assert result.words[0].startswith("1 duplicate has another label")


def test_wrong_arguments_say_what_must_hold() -> None:
    samples = made(10)
    nearest = nearest_of(samples, lambda: build_index(samples.latents))
    with pytest.raises(ConfigurationError, match="0 < false_share < 1"):
        find_duplicates(samples, nearest, false_share=0)
    with pytest.raises(ConfigurationError, match="is about 10 samples, but there are 9"):
        find_duplicates(samples.take(np.arange(9)), nearest)


def test_every_held_out_copy_leaks_whichever_pairs_were_told() -> None:
    subsets = ["training", "test", "test", "validation", "validation", *["training"] * 35]
    duplicates = found(made(40, ["a", "a", "a", "a", *different(36)], subset=subsets))
    leaks = find_leakage(duplicates)
    assert [(row["sample"], row["other"], row["kind"]) for row in leaks.table.to_pylist()] == [
        ("1", "0", "exact"), ("2", "0", "exact"), ("3", "0", "exact"),
    ]  # fmt: skip
    assert leaks.words == (
        "2 test samples are (nearly) in training too.",
        "1 validation sample is (nearly) in training too.",
    )


def test_test_and_validation_leak_into_each_other() -> None:
    subsets = ["validation", "test", *["training"] * 38]
    leaks = find_leakage(found(made(40, ["a", "a", *different(38)], subset=subsets)))
    assert leaks.words == ("1 test sample is (nearly) in validation too.",)


def test_duplicates_within_one_subset_are_no_leak() -> None:
    leaks = find_leakage(found(made(40, ["a", "a", *different(38)], subset=["training"] * 40)))
    assert len(leaks) == 0
    assert "No duplicate lies across subsets" in leaks.words[0]


def test_time_grows_with_the_samples_and_not_with_their_pairs() -> None:
    def least_seconds(count: int) -> float:
        samples = made(count, ["same"] * count)
        nowhere = Nearest(np.full((count, 20), -1), np.full((count, 20), np.inf, np.float32))
        tries = []
        for _ in range(3):
            start = time.process_time()
            find_duplicates(samples, nowhere)
            tries.append(time.process_time() - start)
        return min(tries)

    # A collection walks through all that earlier tests left, which grows with them and not with the samples.
    gc.disable()
    try:
        assert least_seconds(80_000) < 12 * least_seconds(20_000)
    finally:
        gc.enable()
