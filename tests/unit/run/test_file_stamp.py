import os
from pathlib import Path

from cutaway.run.file_stamp import stamp_of


def test_a_stamp_changes_with_the_file_and_with_nothing_else(tmp_path: Path) -> None:
    path, other = tmp_path / "a", tmp_path / "b"
    assert stamp_of(path) is stamp_of(None) is None
    path.write_text("one")
    first = stamp_of(path)
    assert path.read_text() == "one"
    assert stamp_of(path) == first is not None
    os.utime(path, ns=(0, 5))
    assert stamp_of(path) != first
    # Another file of the same size and time that took its place.
    before = stamp_of(path)
    other.write_text("two")
    os.utime(other, ns=(0, 5))
    other.replace(path)
    assert stamp_of(path) != before
