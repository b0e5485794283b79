"""What people write about a run: kept whole, bounded and plain, whoever else writes."""

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.errors import ConfigurationError, RunDamaged
from cutaway.run import Run
from cutaway.run.annotations import (
    LONGEST_NOTE,
    LONGEST_TAG,
    MOST_TAGS,
    Annotations,
    annotate,
    read_annotations,
    tidy_tags,
)
from cutaway.run.catalog import remove_run
from cutaway.run.layout import ANNOTATIONS_FILE
from cutaway.run.plain_text import plain_text


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run.create(tmp_path / "a")


def test_a_run_that_nobody_wrote_about_has_nothing(run: Run) -> None:
    assert read_annotations(run) == Annotations()
    assert not (run.path / ANNOTATIONS_FILE).exists()


def test_what_is_left_out_stays(run: Run) -> None:
    annotate(run, tags=["good", "night"], note="first\nsecond")
    assert annotate(run, baseline=True) == Annotations(("good", "night"), "first\nsecond", baseline=True)
    assert annotate(run, tags=[]) == Annotations((), "first\nsecond", baseline=True)
    assert annotate(Run.open(run.path), note="") == Annotations((), "", baseline=True)
    assert read_annotations(run) == Annotations((), "", baseline=True)


def test_tags_are_trimmed_kept_once_and_in_their_order() -> None:
    assert tidy_tags([" b ", "a", "", "b", "c\td\n", "a"]) == ("b", "a", "c d")
    assert len(tidy_tags(map(str, range(1000)))) == MOST_TAGS
    assert len(tidy_tags(["x" * 5000])[0]) == LONGEST_TAG


def test_what_another_release_keeps_in_the_file_stays(run: Run) -> None:
    run.write_document(ANNOTATIONS_FILE, {"tags": ["a"], "selections": {"hard": [1, 2]}})
    annotate(run, note="new")
    document = run.document(ANNOTATIONS_FILE)
    assert document is not None
    assert document["selections"] == {"hard": [1, 2]}
    assert (document["tags"], document["note"]) == (["a"], "new")


@given(text=st.text(st.characters(), max_size=80))
def test_whatever_text_comes_it_is_plain_afterwards(text: str) -> None:
    for lines in (False, True):
        plain = plain_text(text, 40, lines=lines)
        plain.encode()
        assert len(plain) <= 40
        assert plain == plain_text(plain, 40, lines=lines)
        assert all(char.isprintable() or char in "\n\t" or ord(char) > 0x9F for char in plain)
        assert lines or "\n" not in plain


def test_marks_that_turn_the_writing_are_left_out_and_writing_from_the_right_stays() -> None:
    assert plain_text("\u202eevil\u202c", 100) == "evil"
    assert plain_text("שלום مرحبا 👩‍👩‍👧", 100) == "שלום مرحبا 👩‍👩‍👧"


@pytest.mark.parametrize(
    "content",
    [
        {"tags": "no list", "note": 7, "baseline": "yes"},
        {"tags": [1, None, {"a": 2}, "good", "\ud800"], "note": None},
        {"tags": [f"{i}" * 1000 for i in range(500)], "note": "n" * 500_000},
        {"tags": ["\x00\x1b[31m"], "note": "\x07bell\nline"},
    ],
)
def test_a_file_of_anybodys_gives_bounded_plain_text(content: dict[str, object], run: Run) -> None:
    run.write_document(ANNOTATIONS_FILE, content)
    found = read_annotations(run)
    json.dumps([found.tags, found.note], ensure_ascii=False).encode()
    assert len(found.tags) <= MOST_TAGS
    assert len(found.note) <= LONGEST_NOTE
    assert all(tag and len(tag) <= LONGEST_TAG for tag in found.tags)
    assert found.baseline is False


def test_a_damaged_file_is_named_and_not_overwritten(run: Run) -> None:
    annotate(run, note="precious")
    whole = (run.path / ANNOTATIONS_FILE).read_bytes()
    (run.path / ANNOTATIONS_FILE).write_bytes(whole.replace(b"precious", b"precioux"))
    with pytest.raises(RunDamaged):
        read_annotations(run)
    with pytest.raises(RunDamaged):
        annotate(run, tags=["new"])
    assert b"precioux" in (run.path / ANNOTATIONS_FILE).read_bytes()
    (run.path / ANNOTATIONS_FILE).write_bytes(b" " * (5 << 20))
    with pytest.raises(RunDamaged):
        read_annotations(run)


def test_of_two_who_write_at_once_none_loses_anything(run: Run) -> None:
    def add(tag: str) -> None:
        mine = Run.open(run.path)
        for i in range(10):
            annotate(mine, note=f"{tag}{i}")

    code = (
        "import sys; from cutaway.run import Run; from cutaway.run.annotations import annotate\n"
        "for i in range(10): annotate(Run.open(sys.argv[1]), tags=[f'tag{i}'])"
    )
    other = subprocess.Popen([sys.executable, "-c", code, str(run.path)])
    threads = [threading.Thread(target=add, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert other.wait(60) == 0
    found = read_annotations(run)
    assert found.tags == ("tag9",)
    assert found.note in ("a9", "b9")


@pytest.mark.usefixtures("permissions_count")
def test_a_folder_that_cannot_be_written_is_said_in_words(run: Run) -> None:
    run.path.chmod(0o555)
    try:
        with pytest.raises(ConfigurationError, match="Nothing was written about run 'a'"):
            annotate(run, note="x")
        assert annotate(run) == Annotations()
    finally:
        run.path.chmod(0o755)


def test_a_storage_that_refuses_is_said_in_words(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(ConfigurationError, match="Read-only file system") as caught:
        annotate(run, note="x")
    assert str(run.path.parent) not in str(caught.value)


def test_annotations_belong_to_the_run_and_go_with_it(run: Run) -> None:
    annotate(run, note="x")
    remove_run(run)
    assert not run.path.exists()
