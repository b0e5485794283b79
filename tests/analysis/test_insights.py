"""Each kind of insight is planted into made data and found there; its healthy twin stays silent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cutaway.analysis.classes.ambiguous import find_ambiguous
from cutaway.analysis.doubles import find_duplicates, find_leakage
from cutaway.analysis.filters import parse_filter, rows_where
from cutaway.analysis.insights import INFORMS, Insight, Insights, find_insights
from cutaway.analysis.insights.worth import HARD
from cutaway.analysis.labels import find_mislabeled
from cutaway.analysis.neighbours.outliers import find_outliers
from cutaway.analysis.samples import Samples
from cutaway.analysis.samples.ranked import Ranked
from tests.analysis.insight_populations import Made, made, neighbours, no_neighbours


def insights_of(planted: Made, **about: Any) -> tuple[Samples, Insights]:
    """Return insights by columns and classes; what goes by latent space is asked for."""
    samples = planted.samples()
    given = {"clusters": np.full(len(samples), -1), "nearest": no_neighbours(samples), **about}
    return samples, find_insights(samples, **given)


def accusing(found: Insights) -> list[Insight]:
    return [one for one in found if one.kind not in INFORMS]


def jaccard(first: np.ndarray, second: np.ndarray) -> float:
    return float((first & second).sum() / (first | second).sum())


def ranked(ids: list[str], scores: list[float], **evidence: list[Any]) -> Ranked:
    return Ranked(pa.table({"sample": ids, "score": scores, "reason": ["why"] * len(ids), **evidence}))


class TestLowPerformance:
    def test_a_planted_slice_is_found_with_its_conditions_and_figures(self) -> None:
        planted = made(1, count=4000, columns=3)
        slice_ = planted.columns["metadata.m0"] < -1.0
        planted.chance[slice_] = 0.35
        samples, found = insights_of(planted)
        best = found.of("low-performance")[0]
        judged = ~planted.training
        assert jaccard(best.rows, slice_ & judged) > 0.8
        held = rows_where(samples.table, [parse_filter(text, samples.table) for text in best.where])
        assert np.array_equal(held & judged, best.rows)
        assert best.subset == "validation"
        assert best.inside == pytest.approx(0.35, abs=0.08)
        assert best.outside == pytest.approx(0.08, abs=0.03)
        assert best.low < best.effect < best.high
        assert best.p <= 0.01
        assert best.sample.startswith("validation/")
        assert "metadata.m0" in best.words
        assert "of validation" in best.words
        assert len(found.of("low-performance")) == 1

    def test_it_says_how_much_fixing_it_would_buy_at_most(self) -> None:
        planted = made(1, count=4000, columns=3)
        planted.chance[planted.label == 2] = 0.3
        samples, found = insights_of(planted)
        best = found.of("low-performance")[0]
        assert best.where == ("label = 2",)
        wrong = ~np.asarray(samples.table["correct"])
        judged = ~planted.training
        # A class names no cause: only a part of what is at stake is counted.
        assert best.severity == pytest.approx(HARD * best.effect * best.count / wrong[judged].sum())
        assert f"falls from {100 * wrong[judged].mean():.0f} % to {100 * best.outside:.1f} %" in best.buys
        assert best.buys.startswith("At most")

    def test_a_slice_that_training_lacks_is_to_be_balanced_and_says_by_how_many(self) -> None:
        planted = made(3, count=4000, columns=3)
        planted.chance[planted.label == 2] = 0.3
        rare = planted.training & (planted.label == 2)
        planted.label[np.flatnonzero(rare)[60:]] = 3
        _, found = insights_of(planted)
        best = found.of("low-performance")[0]
        judged, total = ~planted.training, int(planted.training.sum())
        share = (planted.label[judged] == 2).mean()
        missing = (share * total - 60) / (1 - share)
        assert "Balance: 2.5 % of training" in best.action
        assert f"Collect about {missing:,.0f}" in best.action

    def test_a_slice_whose_labels_are_wrong_is_to_be_relabeled(self) -> None:
        planted = made(3, count=4000, columns=3)
        planted.chance[planted.label == 2] = 0.3
        samples = planted.samples()
        wrong = (planted.label == 2) & ~np.asarray(samples.table["correct"])
        ids = [samples.ids[row] for row in np.flatnonzero(wrong)]
        tables = {"mislabeled": ranked(ids, [0.9] * len(ids))}
        found = find_insights(samples, no_neighbours(samples), ranked=tables)
        assert found.of("low-performance")[0].action.startswith("Relabel first")

    def test_errors_of_what_training_lacks_are_not_taken_for_wrong_labels(self) -> None:
        planted = made(3, count=4000, columns=3)
        planted.chance[planted.label == 2] = 0.3
        rare = planted.training & (planted.label == 2)
        planted.label[np.flatnonzero(rare)[60:]] = 3
        samples = planted.samples()
        wrong = (planted.label == 2) & ~np.asarray(samples.table["correct"])
        ids = [samples.ids[row] for row in np.flatnonzero(wrong)]
        found = find_insights(samples, no_neighbours(samples), ranked={"mislabeled": ranked(ids, [0.9] * len(ids))})
        assert found.of("low-performance")[0].action.startswith("Balance")

    def test_a_cluster_that_is_a_class_is_told_once(self) -> None:
        planted = made(1, count=4000, columns=3)
        planted.chance[planted.label == 2] = 0.3
        clusters = np.where(planted.label == 2, 1, 0)
        _, found = insights_of(planted, clusters=clusters)
        (best,) = found.of("low-performance")
        assert best.where == ("label = 2",)
        assert "cluster = 1" in best.also
        assert "Also seen as" in best.words

    def test_a_cluster_that_nothing_else_describes_is_found(self) -> None:
        planted = made(1, count=4000, columns=3)
        cluster = planted.rng.random(4000) < 0.1
        planted.chance[cluster] = 0.35
        _, found = insights_of(planted, clusters=np.where(cluster, 3, 0))
        (best,) = found.of("low-performance")
        assert best.where == ("cluster = 3",)

    def test_errors_in_training_alone_are_not_judged(self) -> None:
        planted = made(1, count=4000, columns=3)
        planted.chance[(planted.label == 2) & planted.training] = 0.4
        _, found = insights_of(planted)
        assert not found.of("low-performance")

    def test_where_errors_are_rare_the_loss_is_judged(self) -> None:
        planted = made(1, count=4000, columns=3, error=0.0)
        slice_ = planted.columns["metadata.m2"] == "a"
        planted.loss = lambda rng, wrong: rng.lognormal(0, 1, len(wrong)) * np.where(slice_, 3.0, 1.0)
        _, found = insights_of(planted)
        best = found.of("low-performance")[0]
        assert best.measure == "loss"
        assert best.where == ("metadata.m2 = a",)
        assert found.notes[0].startswith("Only 0 predictions are wrong: the loss is judged instead.")


class TestMetadataThatExplainsLoss:
    def test_a_column_that_loss_rises_with_is_named_with_its_ends(self) -> None:
        planted = made(2, columns=4, error=0.0)
        values = planted.columns["metadata.m3"]
        planted.loss = lambda rng, wrong: np.exp(0.5 * values) * rng.lognormal(0, 1, len(wrong))
        _, found = insights_of(planted)
        (best,) = found.of("metadata-explains-loss")
        assert best.words.startswith("Loss rises with metadata.m3: ")
        assert "in the lowest tenth" in best.words
        assert best.inside > best.outside

    def test_a_column_whose_middle_is_worst_is_named_by_its_parts(self) -> None:
        planted = made(2, columns=4, error=0.0)
        values = planted.columns["metadata.m3"]
        planted.loss = lambda rng, wrong: np.exp(-(values**2)) * rng.lognormal(0, 0.5, len(wrong))
        _, found = insights_of(planted)
        assert found.of("metadata-explains-loss")[0].words.startswith("Loss depends on metadata.m3: ")

    def test_a_copy_of_a_column_is_folded_into_it(self) -> None:
        planted = made(2, columns=4, error=0.0)
        values = planted.columns["metadata.m3"]
        planted.columns["metadata.copy"] = values * 2 + 1
        planted.loss = lambda rng, wrong: np.exp(values) * rng.lognormal(0, 1, len(wrong))
        _, found = insights_of(planted)
        (best,) = found.of("metadata-explains-loss")
        assert {best.evidence["column"], *best.also} == {"metadata.m3", "metadata.copy"}

    def test_columns_that_have_nothing_to_do_with_it_stay_unnamed(self) -> None:
        _, found = insights_of(made(2, columns=6))
        assert not found.of("metadata-explains-loss")


class TestOverfitting:
    def test_a_region_that_training_knows_by_heart_is_found(self) -> None:
        planted = made(4, count=4000, columns=3)
        region = planted.columns["metadata.m2"] == "a"
        planted.chance[region & ~planted.training] = 0.3
        planted.chance[region & planted.training] = 0.02
        _, found = insights_of(planted)
        regions = [one for one in found.of("overfitting") if one.where]
        assert regions[0].where == ("metadata.m2 = a",)
        assert "is memorised" in regions[0].words
        assert "low performance" in regions[0].also  # the same samples, for the same reason
        assert not [one for one in found.of("low-performance") if one.where == ("metadata.m2 = a",)]

    def test_a_region_that_is_hard_everywhere_is_low_performance_and_not_overfitting(self) -> None:
        planted = made(4, count=4000, columns=3)
        planted.chance[planted.columns["metadata.m2"] == "a"] = 0.3
        _, found = insights_of(planted)
        assert not found.of("overfitting")
        assert found.of("low-performance")

    def test_the_gap_of_the_whole_is_told(self) -> None:
        planted = made(4, columns=3)
        planted.chance[planted.training] = 0.005
        _, found = insights_of(planted)
        (best,) = found.of("overfitting")
        assert best.evidence["overall"]
        assert best.inside == pytest.approx(0.08, abs=0.03)
        assert best.low < best.effect < best.high

    def test_a_cell_of_latent_space_is_found_without_clusters(self) -> None:
        planted = made(4, count=4000, columns=3)
        corner = (planted.label == 3) & (planted.latents[:, 0] > np.median(planted.latents[planted.label == 3, 0]))
        planted.latents[corner] += 4.0
        planted.chance[corner & ~planted.training] = 0.5
        planted.chance[corner & planted.training] = 0.0
        _, found = insights_of(planted, clusters=None)
        best = max(
            (one for one in found.of("overfitting")), key=lambda one: jaccard(one.rows, corner & ~planted.training)
        )
        assert jaccard(best.rows, corner & ~planted.training) > 0.4

    def test_by_loss_where_there_are_no_classes(self) -> None:
        planted = made(4, count=4000, columns=3)
        region = planted.columns["metadata.m2"] == "a"
        memorised = region & planted.training
        planted.loss = lambda rng, wrong: rng.lognormal(0, 1, len(wrong)) * np.where(memorised, 0.2, 1.0)
        planted.with_answers = False
        _, found = insights_of(planted)
        assert [one for one in found.of("overfitting") if one.where == ("metadata.m2 = a",)]


class TestDomainGap:
    def test_a_number_that_drifted_is_named(self) -> None:
        planted = made(5, columns=3)
        planted.columns["metadata.m0"][~planted.training] += 0.8
        _, found = insights_of(planted)
        (best,) = found.of("domain-gap")
        assert best.words.startswith("validation differs from training: metadata.m0 median ")
        assert list(best.evidence["columns"]) == ["metadata.m0"]
        # It costs nothing here, so it is no grave one.
        assert best.evidence["columns"]["metadata.m0"] == pytest.approx(0.31, abs=0.06)
        assert best.severity == pytest.approx(HARD * best.evidence["columns"]["metadata.m0"])

    def test_another_balance_of_classes_is_named_with_what_it_does_to_the_error(self) -> None:
        planted = made(5, count=4000, columns=2)
        planted.label[planted.training & (planted.rng.random(4000) < 0.4)] = 0
        planted.chance[planted.label == 0] = 0.02
        planted.chance[planted.label != 0] = 0.15
        _, found = insights_of(planted)
        (best,) = found.of("domain-gap")
        assert "label 0 in" in best.words
        assert "instead of" in best.buys

    def test_latents_that_keep_to_their_subset_are_found_without_any_column(self) -> None:
        planted = made(5, columns=3)
        planted.latents[~planted.training] += 2.5
        _, found = insights_of(planted, nearest=neighbours(planted.samples()))
        (best,) = found.of("domain-gap")
        assert "neighbours in latent space" in best.words
        assert "No column explains it" in best.action

    def test_subsets_that_were_dealt_out_at_random_are_alike(self) -> None:
        planted = made(5, columns=3)
        _, found = insights_of(planted, nearest=neighbours(planted.samples()))
        assert not found.of("domain-gap")


class TestWhatRankedTablesSay:
    def test_wrong_labels_are_counted_by_their_probability_and_the_class_is_named(self) -> None:
        samples = made(6, columns=3).samples()
        labels = np.asarray(samples.table["label"].to_pylist())
        rows = np.flatnonzero(labels == "1")[:40]
        ids = [samples.ids[row] for row in rows]
        table = ranked(ids, [0.9] * 30 + [0.2] * 10, label=["1"] * 40, suggested=["4"] * 40)
        (best,) = find_insights(samples, no_neighbours(samples), ranked={"mislabeled": table}).of("mislabeled-samples")
        assert best.words.startswith("30 suspicious labels; expect about 27 to be wrong (1.")
        assert "most of all where label = 1 (30 of" in best.words
        assert "30 labelled 1 look like 4" in best.words
        assert best.count == 30

    def test_a_few_unsure_candidates_are_no_insight(self) -> None:
        samples = made(6, columns=3).samples()
        tables = {
            "mislabeled": ranked(samples.ids[:40], [0.6, 0.6] + [0.3] * 38),
            "ambiguous": ranked(samples.ids[:40], [0.4] * 40),
            "outliers": ranked(samples.ids[:40], [0.4] * 40),
            "duplicates": ranked([], []),
            "leakage": ranked([], []),
        }
        found = find_insights(samples, no_neighbours(samples), ranked=tables)
        assert not list(found)

    def test_doubles_within_a_subset_are_duplication_and_between_two_leakage(self) -> None:
        planted = made(6, columns=3)
        samples = planted.samples()
        training, validation = (np.flatnonzero(planted.training == inside) for inside in (True, False))
        names = [samples.ids[row] for row in (*training[:8], *validation[:20])]
        others = [samples.ids[row] for row in (*training[8:16], *training[20:40])]
        about = {
            "other": others,
            "kind": ["exact"] * 8 + ["near"] * 20,
            "subset": ["training"] * 8 + ["validation"] * 20,
            "other_subset": ["training"] * 28,
        }
        doubles = ranked(names, [1.0] * 28, **about)
        leaks = ranked(names[8:], [1.0] * 20, **{name: values[8:] for name, values in about.items()})
        found = find_insights(samples, no_neighbours(samples), ranked={"duplicates": doubles, "leakage": leaks})
        (double,), (leak,) = found.of("duplication"), found.of("data-leakage")
        assert double.words.startswith(
            "8 of 1,200 samples of training (0.7 %) repeat another one of the same subset exactly"
        )
        assert leak.words == "20 of 800 samples of validation (2.5 %) are also in training, or nearly so."
        assert leak.evidence["against"] == "training"
        assert leak.buys.startswith("Without them, error on validation stays at")

    def test_strangers_are_counted_with_their_error(self) -> None:
        planted = made(6, columns=3)
        planted.chance[:100] = 0.9
        samples = planted.samples()
        found = find_insights(
            samples, no_neighbours(samples), ranked={"outliers": ranked(samples.ids[:100], [0.9] * 100)}
        )
        (best,) = found.of("out-of-distribution")
        assert best.words.startswith("100 of 2,000 samples of ")
        assert "(5.0 %) lie far from all others; error on validation 88 % there" in best.words


class TestWithTheTablesThemselves:
    @staticmethod
    def told(planted: Made) -> Insights:
        samples = planted.samples()
        nearest = neighbours(samples)
        doubles = find_duplicates(samples, nearest)
        tables = {
            "duplicates": doubles,
            "leakage": find_leakage(doubles),
            "outliers": find_outliers(samples, nearest),
            "ambiguous": find_ambiguous(samples, nearest),
            "mislabeled": find_mislabeled(samples, nearest),
        }
        return find_insights(samples, nearest, clusters=np.full(len(samples), -1), ranked=tables)

    def test_what_is_planted_is_told_with_its_count(self) -> None:
        planted = made(1, count=1500, columns=2)
        training, validation = (np.flatnonzero(planted.training == inside) for inside in (True, False))
        for copies, firsts in ((validation[:30], training[:30]), (training[100:140], training[200:240])):
            planted.latents[copies], planted.label[copies] = planted.latents[firsts], planted.label[firsts]
        planted.latents[validation[100:115]] += planted.rng.normal(size=(15, 8)) * 25
        planted.label[training[300:340]] = (planted.label[training[300:340]] + 1) % 5
        found = self.told(planted)
        assert found.of("data-leakage")[0].count == 30
        assert found.of("duplication")[0].count == 40
        assert 12 <= found.of("out-of-distribution")[0].count <= 20
        (labels,) = found.of("mislabeled-samples")
        assert labels.rows[training[300:340]].sum() >= 36
        assert labels.count <= 60

    def test_a_population_without_any_of_it_stays_silent(self) -> None:
        assert not accusing(self.told(made(1, count=1500, columns=2)))


class TestCleanPopulations:
    @staticmethod
    def alarms(seeds: range, count: int, columns: int) -> list[str]:
        told: list[str] = []
        for seed in seeds:
            planted = made(seed, count=count, columns=columns)
            if seed % 2:
                planted.loss = lambda rng, wrong: np.square(rng.standard_cauchy(len(wrong)))
            if seed % 4 == 3:
                planted.with_answers = False  # judged by a loss without a mean
            clusters = planted.rng.integers(0, 10, count) if seed % 3 else None
            _, found = insights_of(planted, clusters=clusters, nearest=neighbours(planted.samples()))
            told += [one.words for one in accusing(found)]
        return told

    def test_a_few_give_none(self) -> None:
        assert not self.alarms(range(1000, 1004), 800, columns=4)

    @pytest.mark.slow
    @pytest.mark.timeout(1800)  # a hundred searches, of some seconds each
    def test_a_hundred_give_five_at_most(self) -> None:
        assert len(self.alarms(range(100), 3000, columns=30)) <= 5
