"""Overlays of decisions, also on top of one that is in use: one file turns the original into what was decided."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.analysis.fixing import Decision, make_overlay
from cutaway.errors import AnalysisUnavailable
from cutaway.run.overlays import Overlay

CLASSES = ("cat", "dog", "eel")
LABELS = {"training/1": "cat", "training/2": "dog", "training/3": None}


def rows(overlay: Overlay) -> set[tuple[str, str, str, str]]:
    return {(one.sample, one.field, one.old, one.new) for one in overlay.corrections}


def relabel(sample: str, label: str) -> Decision:
    return Decision(sample, "relabel", label=label, score=0.97, reason="why")


def test_each_decision_becomes_a_correction_with_who_and_when() -> None:
    decisions = [
        relabel("training/1", "dog"),
        Decision("training/2", "drop"),
        Decision("training/3", "reweight", weight=0.25),
    ]
    overlay = make_overlay(
        "fix-1", decisions, LABELS, CLASSES, truth="animal", who="me", when="now", about={"run": "r"}
    )
    assert rows(overlay) == {
        ("training/1", "label", "cat", "dog"),
        ("training/2", "drop", "no", "yes"),
        ("training/3", "weight", "1", "0.25"),
    }
    first = overlay.corrections[0]
    assert (first.score, first.reason, first.who, first.when) == (0.97, "why", "me", "now")
    assert (overlay.truth, dict(overlay.about)) == ("animal", {"run": "r", "created": "now"})


def test_a_decision_that_changes_nothing_leaves_nothing() -> None:
    assert rows(make_overlay("fix-1", [relabel("training/1", "cat")], LABELS, CLASSES)) == set()


def test_a_sample_without_a_label_cannot_be_relabelled() -> None:
    with pytest.raises(AnalysisUnavailable, match="training/3 has no label"):
        make_overlay("fix-1", [relabel("training/3", "cat")], LABELS, CLASSES)


def test_the_second_round_holds_the_first_and_keeps_the_original_as_old() -> None:
    base = make_overlay("fix-1", [relabel("training/1", "dog"), relabel("training/2", "eel")], LABELS, CLASSES)
    now = {**LABELS, "training/1": "dog", "training/2": "eel"}
    overlay = make_overlay("fix-2", [relabel("training/1", "eel")], now, CLASSES, base=base)
    assert rows(overlay) == {("training/1", "label", "cat", "eel"), ("training/2", "label", "dog", "eel")}
    assert overlay.about["on"] == base.digest
    back = make_overlay("fix-3", [relabel("training/1", "cat")], now, CLASSES, base=base)
    assert rows(back) == {("training/2", "label", "dog", "eel")}


@given(st.lists(st.lists(st.sampled_from(CLASSES), min_size=4, max_size=4), min_size=1, max_size=4))
def test_however_many_rounds_the_last_overlay_alone_gives_the_last_labels(rounds: list[list[str]]) -> None:
    original = {f"training/{i}": "cat" for i in range(4)}
    now, overlay = dict(original), None
    for number, labels in enumerate(rounds):
        decisions = [relabel(f"training/{i}", label) for i, label in enumerate(labels)]
        overlay = make_overlay(f"fix-{number}", decisions, now, CLASSES, base=overlay)
        now = {f"training/{i}": label for i, label in enumerate(labels)}
    assert overlay is not None
    changed = {one.sample: one for one in overlay.corrections}
    assert {sample: changed[sample].new if sample in changed else old for sample, old in original.items()} == now
    assert all(one.old == original[one.sample] for one in overlay.corrections)


def test_an_overlay_of_other_classes_is_no_base() -> None:
    base = Overlay("fix-1", ("a", "b"), ())
    with pytest.raises(AnalysisUnavailable, match="has other classes"):
        make_overlay("fix-2", [relabel("training/1", "dog")], LABELS, CLASSES, base=base)
