"""YAML of anybody: plain values come out, everything else is refused with the file and the line."""

from __future__ import annotations

from pathlib import Path

import pytest

from cutaway.run.plain_yaml import read_plain_yaml


def read(path: Path, content: str) -> object:
    path.write_text(content, encoding="utf-8")
    return read_plain_yaml(path, largest=1024, what="recipe")


@pytest.mark.parametrize(
    ("content", "value"),
    [
        ("", None),
        ("a: 1\nb: [x, true, null, 2.5]\n", {"a": 1, "b": ["x", True, None, 2.5]}),
        ("- &one {a: 1}\n- *one\n", [{"a": 1}, {"a": 1}]),
        ('{"a": {"b": 1}, "c": {"b": 2}}', {"a": {"b": 1}, "c": {"b": 2}}),
    ],
)
def test_plain_values_come_out(tmp_path: Path, content: str, value: object) -> None:
    assert read(tmp_path / "a.yaml", content) == value


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a: 1\nb: {c: 1, c: 2}\n", "a.yaml:2: `c` is there twice"),
        ("a: 1\nb: 'x\n", "a.yaml:3: not readable as recipe"),
        ("a: 2024-99-99\n", "a.yaml: not readable as recipe: ValueError"),
        ("a: !!python/name:os.system\n", "Only plain values are read"),
        ("a: " + "x" * 2000, "larger than 1 kB, so it is no recipe"),
    ],
)
def test_anything_else_is_refused_with_its_place(tmp_path: Path, content: str, said: str) -> None:
    with pytest.raises(ValueError, match=r"a\.yaml") as caught:
        read(tmp_path / "a.yaml", content)
    assert said in str(caught.value)
