"""Which candidates are corrected: as many as the scores vouch for, of the subsets that were asked for."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.analysis.fixing import choose
from cutaway.errors import AnalysisUnavailable, ConfigurationError


def candidates(*scores: float | None, **columns: list[Any]) -> pa.Table:
    count = len(scores)
    return pa.table(
        {
            "sample": [f"training/{i}" for i in range(count)],
            "score": pa.array(scores, pa.float64()),
            "reason": [f"reason {i}" for i in range(count)],
            "subset": ["training"] * count,
            "label": ["cat"] * count,
            "suggested": pa.array(["dog"] * count, pa.string()),
            "suggested_score": pa.array(scores, pa.float64()),
            "prediction": ["cat"] * count,
        }
        | columns
    )


def test_rows_are_accepted_that_are_sure_enough() -> None:
    choice = choose(candidates(0.93, 0.99, 0.2, 0.96))
    assert [one.sample for one in choice.decisions] == ["training/1", "training/3", "training/0"]
    assert [one.label for one in choice.decisions] == ["dog"] * 3
    assert choice.decisions[0].reason == "reason 1"
    assert choice.candidates == 4
    assert choice.expected is not None
    assert choice.expected.right == pytest.approx(2.88)


def test_nothing_sure_means_nothing_corrected() -> None:
    assert choose(candidates(0.89, 0.8)).decisions == ()
    assert choose(candidates()).decisions == ()
    assert choose(candidates(float("nan"), 0.99)).decisions[0].sample == "training/1"


def test_a_lower_precision_accepts_more() -> None:
    table = candidates(0.99, 0.9, 0.85, 0.82)
    assert [len(choose(table, precision=one)) for one in (1.0, 0.95, 0.9, 0.85, 0.8)] == [0, 1, 2, 3, 4]


@given(st.lists(st.floats(0, 1), max_size=30), st.floats(0.5, 1))
def test_the_mean_of_what_is_accepted_is_at_least_what_was_asked(scores: list[float], precision: float) -> None:
    choice = choose(candidates(*scores), precision=precision)
    taken = [one.score or 0.0 for one in choice.decisions]
    if taken:
        assert sum(taken) / len(taken) >= precision - 1e-9
        assert min(taken) >= max([one for one in scores if one not in taken], default=0.0)
        assert choice.expected is not None
        assert choice.expected.right >= precision * len(taken) - 1e-9


def test_only_training_labels_are_touched_unless_others_are_named() -> None:
    table = candidates(0.99, 0.99, subset=["training", "validation"], sample=["training/0", "validation/1"])
    choice = choose(table)
    assert [one.sample for one in choice.decisions] == ["training/0"]
    assert choice.notes == ("Labels of validation are left alone: they are what is measured with.",)
    both = choose(table, subsets=("training", "validation"))
    assert len(both) == 2
    assert both.notes == ("Labels of validation are corrected too: what is measured with changes.",)


def test_a_sample_is_relabelled_where_the_suggestion_is_sure_and_dropped_where_only_the_label_is_surely_wrong() -> None:
    table = candidates(0.99, 0.99, 0.6, suggested_score=[0.98, 0.5, 0.3])
    assert [(one.sample, one.action, one.score) for one in choose(table).decisions] == [
        ("training/0", "relabel", 0.98),
        ("training/1", "drop", 0.99),
    ]


def test_what_is_merely_doubtful_is_left_alone() -> None:
    choice = choose(candidates(*[0.6] * 30, *[0.01] * 70))
    assert choice.decisions == ()
    assert choice.expected is not None
    assert (choice.expected.changes, choice.expected.words) == (0, "no gain expected")


def test_what_a_person_decided_on_is_left_as_it_is_and_said() -> None:
    choice = choose(candidates(0.99, 0.99, 0.99), decided=["training/1", "training/7"])
    assert [one.sample for one in choice.decisions] == ["training/0", "training/2"]
    assert choice.notes == ("1 sample that people decided on stays as decided.",)


def test_nothing_is_changed_where_too_little_is_wrong_to_gain_from() -> None:
    few, many = candidates(0.99, *[0.0] * 9_999), candidates(*[0.99] * 500, *[0.0] * 9_500)
    none, some = choose(few, samples=10_000), choose(many, samples=10_000)
    assert none.decisions == ()
    assert none.expected is not None
    assert (none.expected.changes, none.expected.words) == (1, "no gain expected")
    assert len(some) == 500
    assert some.expected is not None
    assert some.expected.low < some.expected.gain < some.expected.high


def test_where_nothing_else_is_suggested_a_wrong_label_is_dropped() -> None:
    table = candidates(0.99, 0.99, 0.99, suggested=["cat", None, "dog"])
    actions = {one.sample: one.action for one in choose(table).decisions}
    assert actions == {"training/2": "relabel", "training/0": "drop", "training/1": "drop"}
    assert len(choose(table, action="drop")) == 3


def test_samples_are_dropped_or_count_as_much_as_their_label_is_likely_right() -> None:
    dropped = choose(candidates(0.99), action="drop").decisions[0]
    assert (dropped.action, dropped.label, dropped.weight) == ("drop", None, None)
    weighed = choose(candidates(0.98), action="reweight").decisions[0]
    assert (weighed.action, weighed.label, weighed.weight) == ("reweight", None, 0.02)


def test_wrong_settings_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="Did you mean 'relabel'"):
        choose(candidates(0.9), action="relable")
    with pytest.raises(ConfigurationError, match="precision"):
        choose(candidates(0.9), precision=95)


def test_a_model_that_disagrees_with_most_labels_is_no_judge_of_them() -> None:
    table = candidates(*[0.99] * 6)
    assert len(choose(table, samples=12)) == 6
    with pytest.raises(AnalysisUnavailable, match="6 of 11 labels of training seem wrong"):
        choose(table, samples=11)


def test_good_samples_that_are_dropped_count_among_the_expected_mistakes() -> None:
    """As many were dropped as of a thousand, and no mistake was expected, since only relabelled ones counted."""
    drops = [0.98] * 1000
    table = candidates(*drops, 0.95, 0.95, suggested_score=pa.array([0.1] * 1000 + [0.95] * 2, pa.float64()))
    expected = choose(table).expected
    assert expected is not None
    assert {one.action: one.changes for one in expected.mistakes} == {"relabel": 2, "drop": 1000}
    wrong = {one.action: one.expected for one in expected.mistakes}
    assert wrong == {"relabel": pytest.approx(0.1), "drop": pytest.approx(20)}
    assert expected.wrong == pytest.approx(20.1) == pytest.approx(expected.changes - expected.right)
    assert expected.to_dict()["mistakes"][1] == {"action": "drop", "changes": 1000, "expected": pytest.approx(20)}


def test_of_changes_that_are_certain_no_mistake_is_expected() -> None:
    expected = choose(candidates(1.0, 1.0)).expected
    assert expected is not None
    assert expected.wrong == 0


@pytest.mark.parametrize("action", ["relabel", "drop", "reweight"])
@pytest.mark.parametrize("kind", [pa.float64(), pa.null()])
def test_without_probabilities_nothing_is_changed_and_the_reason_is_told(action: str, kind: pa.DataType) -> None:
    nothing = pa.nulls(3, kind)
    table = candidates(None, None, None).set_column(1, "score", nothing).drop_columns("suggested_score")
    choice = choose(table.append_column("suggested_score", nothing), action=action)
    assert choice.decisions == ()
    assert choice.notes[0].startswith("No label has a score: how many are wrong cannot be told from this training.")
    # A healthy twin, with probabilities that are merely low.
    assert choose(candidates(0.1, 0.2, 0.1), action=action).notes == ()


def test_samples_without_a_probability_are_left_alone_beside_others() -> None:
    choice = choose(candidates(None, 0.99, None))
    assert [one.sample for one in choice.decisions] == ["training/1"]
    assert choice.notes == ()
