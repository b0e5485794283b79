"""Overlays in a run folder: what is written comes back, what is damaged is refused, what is taken back is kept."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.errors import ConfigurationError, OverlayError
from cutaway.run import Run
from cutaway.run.overlay_use import CORRECTED, DATA_SET, EVALUATION, HandedOut, never_read
from cutaway.run.overlays import (
    Correction,
    Overlay,
    environment_overlay,
    find_overlay,
    free_name,
    overlays,
    read_overlay,
    undo_overlay,
    undone_overlays,
    write_overlay,
)

CLASSES = ("cat", "dog", "eel")
ROWS = (
    Correction("training/7", "label", "cat", "dog", 0.98, "its neighbours are dogs", "cutaway fix", "2026-11-16"),
    Correction("training/9", "drop", "no", "yes"),
    Correction("validation/1", "weight", "1", "0.25", 0.6),
)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run.create(tmp_path / "runs" / "mnist")


def overlay(*rows: Correction, name: str = "fix-1", **about: object) -> Overlay:
    return Overlay(name, CLASSES, rows or ROWS, "digit", about)


def test_an_overlay_comes_back_as_it_was_written(run: Run) -> None:
    written = write_overlay(run, overlay(run="mnist"))
    again = read_overlay(run.path / "overlays" / "fix-1.parquet")
    assert (again.corrections, again.classes, again.truth, dict(again.about)) == (
        ROWS,
        CLASSES,
        "digit",
        {"run": "mnist"},
    )
    assert written == again
    assert again.counts == {"label": 1, "weight": 1, "drop": 1}


def test_the_table_is_plain_parquet_with_the_documented_columns(run: Run) -> None:
    path = write_overlay(run, overlay()).path
    names = ["sample", "field", "old", "new", "score", "reason", "who", "when"]
    assert pq.read_table(path).column_names == names


def test_the_digest_is_of_what_is_corrected_and_of_nothing_else() -> None:
    first = overlay()
    others = [Correction(one.sample, one.field, one.old, one.new, 0.1, "another reason", "me", "now") for one in ROWS]
    assert overlay(*reversed(others), name="other", run="x").digest == first.digest
    assert overlay(*ROWS[:2]).digest != first.digest
    assert overlay(Correction("training/7", "label", "cat", "eel"), *ROWS[1:]).digest != first.digest
    assert Overlay("fix-1", ("dog", "cat", "eel"), ROWS, "digit").digest != first.digest


@given(st.permutations(range(3)), st.lists(st.floats(0, 1), min_size=3, max_size=3))
def test_neither_order_nor_scores_change_the_digest(order: list[int], scores: list[float]) -> None:
    rows = [Correction(ROWS[i].sample, ROWS[i].field, ROWS[i].old, ROWS[i].new, scores[i]) for i in order]
    assert overlay(*rows).digest == overlay().digest


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (Correction("7", "label", "cat", "dog"), "does not begin with a subset"),
        (Correction("train/7", "label", "cat", "dog"), "does not begin with a subset"),
        (Correction("training/7", "colour", "cat", "dog"), "corrections are of label, weight, drop"),
        (Correction("training/7", "label", "cat", "ox"), "the classes are cat, dog, eel"),
        (Correction("training/7", "drop", "no", "maybe"), "'no' and 'yes' belong there"),
        (Correction("training/7", "weight", "1", "-1"), "numbers from 0 on belong there"),
        (Correction("training/7", "weight", "1", "nan"), "numbers from 0 on belong there"),
    ],
)
def test_a_correction_that_makes_no_sense_is_refused(row: Correction, said: str) -> None:
    with pytest.raises(OverlayError, match=said):
        overlay(row)


def test_one_sample_is_not_corrected_twice() -> None:
    with pytest.raises(OverlayError, match=r"corrects the label of 'training/7' twice"):
        overlay(ROWS[0], Correction("training/7", "label", "cat", "eel"))


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "x" * 65, "a\nb"])
def test_a_name_that_would_leave_the_folder_is_refused(run: Run, name: str) -> None:
    with pytest.raises(ConfigurationError, match="An overlay's name"):
        write_overlay(run, overlay(name=name))


def test_the_same_corrections_are_written_once_and_others_do_not_replace_them(run: Run) -> None:
    first = write_overlay(run, overlay())
    assert write_overlay(run, overlay()) == first
    with pytest.raises(OverlayError, match="already has an overlay 'fix-1' with other corrections"):
        write_overlay(run, overlay(ROWS[0]))
    assert overlays(run) == [first]


def test_undoing_brings_back_the_one_before(run: Run) -> None:
    first = write_overlay(run, overlay(created="2026-11-16T01"))
    second = write_overlay(run, overlay(ROWS[0], name="fix-2", created="2026-11-16T02"))
    assert find_overlay(run) == second
    assert undo_overlay(run) == second
    assert find_overlay(run) == first
    assert [one.name for one in undone_overlays(run)] == ["fix-2"]
    assert free_name(run) == "fix-3"
    undo_overlay(run, "fix-1")
    assert overlays(run) == []
    with pytest.raises(OverlayError, match="has no overlay"):
        undo_overlay(run)


def test_an_unknown_name_is_answered_with_the_nearest(run: Run) -> None:
    write_overlay(run, overlay())
    with pytest.raises(OverlayError, match=r"no overlay 'fix-11'. Did you mean 'fix-1'\?"):
        find_overlay(run, "fix-11")


def test_damage_is_seen_and_said(run: Run) -> None:
    path = write_overlay(run, overlay()).path
    assert path is not None
    whole = path.read_bytes()
    for bad in (b"", b"PAR1", whole[:-9], whole[:40] + b"\xff" * 8 + whole[48:]):
        path.write_bytes(bad)
        with pytest.raises(OverlayError, match=r"fix-1\.parquet"):
            read_overlay(path)
    assert overlays(run) == []


def test_a_table_of_somebody_else_is_refused(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "other.parquet"
    pq.write_table(pa.table({"sample": ["training/1"]}), path)
    with pytest.raises(OverlayError, match="cannot be read"):
        read_overlay(path)
    newer = overlay().table().replace_schema_metadata({"cutaway": '{"format": 99, "classes": []}'})
    pq.write_table(newer, path)
    with pytest.raises(OverlayError, match="it has format 99"):
        read_overlay(path)


def test_the_environment_names_one_or_none(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUTAWAY_OVERLAY", raising=False)
    assert environment_overlay() is None
    monkeypatch.setenv("CUTAWAY_OVERLAY", "")
    assert environment_overlay() is None
    monkeypatch.setenv("CUTAWAY_OVERLAY", str(write_overlay(run, overlay()).path))
    assert environment_overlay() == find_overlay(run)
    monkeypatch.setenv("CUTAWAY_OVERLAY", str(run.path / "gone.parquet"))
    with pytest.raises(OverlayError, match="there is no such file"):
        environment_overlay()


def test_a_killed_writer_leaves_a_whole_overlay_or_none(run: Run) -> None:
    rows = "tuple(Correction(f'training/{i}', 'label', 'cat', 'dog', 0.9, 'why ' * 20) for i in range(20000))"
    code = (
        "import sys; from cutaway.run import Run; from cutaway.run.overlays import *;"
        f"overlay = Overlay('fix-1', ('cat', 'dog'), {rows});"
        "print('ready', flush=True); write_overlay(Run.open(sys.argv[1]), overlay); print('done', flush=True)"
    )
    seen = set()
    for wait in (0.0, 0.02, 0.1, None):
        with subprocess.Popen(
            [sys.executable, "-c", code, str(run.path)], stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            process.stdout.readline()
            if wait is None:
                process.stdout.readline()
            else:
                time.sleep(wait)
            process.send_signal(signal.SIGKILL)
        listed = [path.name for path in (run.path / "overlays").glob("*.parquet")]
        assert [one.name for one in overlays(run)] == [Path(name).stem for name in listed]
        seen.add(len(listed))
        for name in listed:
            assert len(read_overlay(run.path / "overlays" / name).corrections) == 20000
            (run.path / "overlays" / name).unlink()
    assert seen == {0, 1}
    write_overlay(run, overlay())
    assert [path.name for path in (run.path / "overlays").iterdir()] == ["fix-1.parquet"]


def test_what_was_handed_out_is_counted_once_each() -> None:
    seen = HandedOut(["training/1", "training/2"])
    seen.mark(["training/1", "training/1", "validation/1"])
    assert len(seen) == 1


def test_a_forked_worker_counts_too() -> None:
    seen = HandedOut(["training/1", "training/2"])
    child = os.fork()
    if child == 0:
        seen.mark(["training/2"])
        os._exit(0)
    os.waitpid(child, 0)
    assert len(seen) == 1


@pytest.mark.parametrize(
    ("read", "missed"),
    [
        ([], ("label", "weight", "drop")),
        ([(CORRECTED, "training", 1)], ("weight", "drop")),
        ([(CORRECTED, "validation", 0)], ("label", "weight", "drop")),
        ([(DATA_SET, "training", 1), ("weights", "training", 1)], ("weight",)),
        ([(DATA_SET, "training", 0)], ("label", "weight", "drop")),
        ([(EVALUATION, "training", 1)], ("label", "weight", "drop")),
        ([(CORRECTED, "training", 1), ("weights", "training", 1), ("weights", "validation", 1)], ()),
    ],
)
def test_what_a_training_never_asked_for_is_known(read: list[tuple[str, str, int]], missed: tuple[str, ...]) -> None:
    told = {
        "digest": overlay().digest,
        "read": [dict(zip(("by", "subset", "samples"), one, strict=True)) for one in read],
    }
    assert never_read(told, overlay()) == missed
    assert never_read({**told, "digest": "another"}, overlay()) == ("label", "weight", "drop")
    assert never_read(None, overlay()) == ("label", "weight", "drop")
