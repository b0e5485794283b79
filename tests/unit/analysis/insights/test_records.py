"""Insights as a table, as findings, and folded into each other."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from cutaway.analysis.insights import KINDS, Insight, Insights, insight_findings, insight_table
from cutaway.analysis.insights.finding import folded
from cutaway.analysis.samples.ranked import Ranked


def rows(start: int, stop: int) -> np.ndarray:
    mask = np.zeros(1000, np.bool_)
    mask[start:stop] = True
    return mask


LOW = Insight(
    "low-performance", "label = 4: bad.", rows(0, 100), "test/1", 0.4, ("label = 4",), "test", 0.1, "error", 0.3, 0.1,
    0.15, 0.25, 1e-6, "Collect.", "At most all.",
)  # fmt: skip


class TestTable:
    def test_it_begins_as_ranked_tables_do_and_has_nulls_for_what_is_not_known(self) -> None:
        table = insight_table([LOW, Insight("duplication", "words", rows(0, 5))])
        assert Ranked(table).table.column_names[:5] == ["sample", "score", "reason", "kind", "where"]
        assert table["count"].to_pylist() == [100, 5]
        assert table["p"].to_pylist() == [1e-6, None]

    def test_no_insights_make_an_empty_table_with_the_same_columns(self) -> None:
        assert insight_table([]).schema == insight_table([LOW]).schema
        assert len(Insights()) == 0


class TestFindings:
    def test_the_same_insight_has_the_same_id_whatever_its_figures(self) -> None:
        first = insight_findings([LOW], evaluation=1)[0]
        second = insight_findings([replace(LOW, inside=0.31, words="other")], evaluation=1)[0]
        assert first.id == second.id
        assert len(first.id) == 32

    @pytest.mark.parametrize(
        "other",
        [replace(LOW, where=("label = 5",)), replace(LOW, kind="overfitting"), replace(LOW, subset="validation")],
    )
    def test_another_insight_has_another_id(self, other: Insight) -> None:
        assert insight_findings([LOW], evaluation=1)[0].id != insight_findings([other], evaluation=1)[0].id

    def test_another_evaluation_has_another_id(self) -> None:
        assert insight_findings([LOW], evaluation=1)[0].id != insight_findings([LOW], evaluation=2)[0].id

    @pytest.mark.parametrize(
        ("insight", "severity"),
        [
            (LOW, "warning"),
            (replace(LOW, severity=0.6), "error"),
            (replace(LOW, severity=0.005), "info"),
            (replace(LOW, kind="ambiguous", severity=0.9), "info"),
        ],
    )
    def test_its_severity_follows_the_rule(self, insight: Insight, severity: str) -> None:
        assert insight_findings([insight], evaluation=1)[0].severity == severity

    def test_it_says_where_and_keeps_the_figures_as_json(self) -> None:
        finding = insight_findings([replace(LOW, p=float("nan"))], evaluation=3)[0]
        assert finding.code == "low-performance"
        assert finding.where == {"evaluation": 3, "conditions": ["label = 4"], "subset": "test"}
        evidence = json.loads(json.dumps(dict(finding.evidence), allow_nan=False))
        assert evidence["inside"] == 0.3
        assert evidence["p"] is None
        assert finding.message == "label = 4: bad. Collect. At most all."

    def test_every_kind_is_in_kebab_case(self) -> None:
        assert all(kind == kind.lower() and " " not in kind and "_" not in kind for kind in KINDS)


class TestFolding:
    def test_the_gravest_come_first(self) -> None:
        found = folded([replace(LOW, severity=0.1), Insight("duplication", "more", rows(500, 900), severity=0.9)])
        assert [one.kind for one in found] == ["duplication", "low-performance"]

    def test_the_same_samples_are_told_once(self) -> None:
        strange = Insight("out-of-distribution", "far.", rows(0, 95), severity=0.2)
        (one,) = folded([strange, LOW])
        assert one.kind == "low-performance"
        assert one.words == "label = 4: bad. Also seen as far from all the others."

    def test_other_samples_stay_apart(self) -> None:
        assert len(folded([LOW, Insight("out-of-distribution", "far.", rows(0, 50))])) == 2

    def test_a_gap_between_whole_subsets_is_never_folded(self) -> None:
        assert len(folded([LOW, Insight("domain-gap", "gap.", rows(0, 100))])) == 2

    def test_overfitting_that_explains_a_low_performance_takes_its_place(self) -> None:
        fitted = Insight(
            "overfitting", "by heart.", rows(0, 100), "test/1", 0.3, ("label = 4",), inside=0.3, outside=0.02,
            evidence={"training": 0.02, "beyond": 0.18},
        )  # fmt: skip
        (one,) = folded([LOW, fitted])
        assert one.kind == "overfitting"
        assert one.severity == LOW.severity
        assert "low performance" in one.also

    def test_overfitting_that_explains_little_is_a_word_beside_it(self) -> None:
        fitted = Insight(
            "overfitting", "by heart.", rows(0, 100), measure="error", evidence={"training": 0.2, "beyond": 0.05}
        )
        (one,) = folded([LOW, fitted])
        assert one.kind == "low-performance"
        assert "overfitting (training 20 %)" in one.words
