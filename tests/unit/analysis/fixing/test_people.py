"""What people decided stands: on the page, in a file, and in the overlay that a run was evaluated with."""

from __future__ import annotations

from pathlib import Path

import pytest

from cutaway.analysis.fixing import BY_SCORES, decided_by_people
from cutaway.errors import OverlayError
from cutaway.run import Run
from cutaway.run.alone import writing_alone
from cutaway.run.decisions import STUDIO, Decisions, Rejection, write_decisions
from cutaway.run.overlays import DROP, LABEL, Correction, Overlay, write_overlay

CLASSES = ("cat", "dog")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run.create(tmp_path / "run")


def correction(sample: str, who: str, when: str = "2026", new: str = "dog") -> Correction:
    return Correction(sample, LABEL, "cat" if new == "dog" else "dog", new, 0.9, "why", who, when)


def overlay(name: str, *corrections: Correction, **about: object) -> Overlay:
    return Overlay(name, CLASSES, corrections, about=about)


def test_corrections_of_people_stand_and_those_by_scores_do_not(run: Run) -> None:
    assert decided_by_people(run, None).samples == frozenset()
    dropped = Correction("training/3", DROP, "no", "yes", who="ann")
    write_overlay(run, overlay("by-hand", correction("training/1", "ann"), dropped))
    write_overlay(run, overlay("fix-1", correction("training/2", BY_SCORES), correction("training/4", "")))
    standing = decided_by_people(run, None)
    assert standing.samples == {"training/1", "training/3"}
    assert {one.who for one in standing.corrections} == {"ann"}


def test_what_was_rejected_on_the_page_stands_with_and_without_a_correction(run: Run) -> None:
    rejected = {"training/5": Rejection("training/5")}
    with writing_alone(run):
        write_decisions(run, Decisions(rejected=rejected, classes=CLASSES))
    assert decided_by_people(run, None).samples == {"training/5"}
    held = {("training/6", LABEL): correction("training/6", STUDIO)}
    with writing_alone(run):
        write_decisions(run, Decisions(held, rejected, classes=CLASSES))
    assert decided_by_people(run, None).samples == {"training/5", "training/6"}


def test_of_two_decisions_about_a_sample_the_newest_stands(run: Run) -> None:
    base = overlay("base", correction("training/1", "ann", "2025"))
    write_overlay(run, overlay("by-hand", correction("training/1", "bob", "2026", new="cat")))
    assert [one.new for one in decided_by_people(run, base).corrections] == ["cat"]


def test_what_was_rejected_before_an_earlier_fix_stands_in_the_next(run: Run) -> None:
    base = overlay("fix-1", correction("training/1", BY_SCORES), rejected=[vars(Rejection("training/5"))])
    assert decided_by_people(run, base).samples == {"training/5"}


def test_an_overlay_that_cannot_be_read_is_no_permission(run: Run) -> None:
    written = write_overlay(run, overlay("by-hand", correction("training/1", "ann")))
    assert written.path is not None
    written.path.write_bytes(b"torn")
    with pytest.raises(OverlayError, match="cannot be read"):
        decided_by_people(run, None)
