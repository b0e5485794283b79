"""`tests.yaml`: what is written reads back, a person may edit it, and a hostile file is only refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from cutaway.errors import ConfigurationError
from cutaway.run.slice_tests import WrittenTest, read_tests, with_tests, without_tests, write_tests

# What can be printed, by its kind: to draw any character and throw most away is given up by Hypothesis now and then.
VISIBLE = some.characters(codec="utf-8", exclude_categories=("C", "Z"))
CHARACTERS = VISIBLE | some.just(" ")
TEXTS = some.text(CHARACTERS, max_size=200).map(str.strip)
TITLES = some.tuples(VISIBLE, some.text(CHARACTERS, max_size=199)).map("".join).map(str.strip)


@given(some.lists(some.builds(WrittenTest, TITLES, TEXTS, TEXTS, some.booleans()), unique_by=lambda one: one.title))
def test_what_is_written_reads_back(tmp_path_factory: pytest.TempPathFactory, tests: list[WrittenTest]) -> None:
    path = tmp_path_factory.mktemp("tests") / "tests.yaml"
    write_tests(path, tests)
    assert read_tests(path) == tuple(tests)


def test_a_person_may_write_lines_and_mappings(tmp_path: Path) -> None:
    path = tmp_path / "tests.yaml"
    path.write_text(
        "# what we promise\n"
        "tests:\n"
        "- accuracy of test at least 97 %\n"
        "- name: thin\n"
        "  line: >\n"
        "    accuracy where metadata.thickness < 2\n"
        "    at least 0.95\n"
        "  why: fine pens\n",
        encoding="utf-8",
    )
    assert read_tests(path) == (
        WrittenTest("accuracy of test at least 97 %"),
        WrittenTest("accuracy where metadata.thickness < 2 at least 0.95", "thin", "fine pens"),
    )


def test_plain_tests_are_written_as_lines(tmp_path: Path) -> None:
    path = tmp_path / "new" / "tests.yaml"
    write_tests(path, [WrittenTest("loss at most 1"), WrittenTest("loss at most 2", insight=True)])
    assert path.read_text(encoding="utf-8") == (
        "version: 1\ntests:\n- loss at most 1\n- line: loss at most 2\n  insight: true\n"
    )
    assert [one.name for one in path.parent.iterdir()] == ["tests.yaml"]


@pytest.mark.parametrize("content", ["", "# nothing yet\n", "version: 1\n", "tests:\n", "tests: []\n"])
def test_a_file_may_have_no_tests(tmp_path: Path, content: str) -> None:
    (tmp_path / "tests.yaml").write_text(content, encoding="utf-8")
    assert read_tests(tmp_path / "tests.yaml") == ()


def test_no_file_has_no_tests(tmp_path: Path) -> None:
    assert read_tests(tmp_path / "tests.yaml") == ()


BOMB = "a0: &a0 [x, x]\n" + "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("- loss at most 1", "holds list, but a file of tests begins with `version: 1` and `tests:`"),
        ("loss at most 1", "holds str"),
        ("version: 2\ntests: []", "has version 2; this release reads version 1"),
        ("version: true\ntests: []", "has version True"),
        ("tests: loss at most 1", "`tests` must be a list of lines, but is str"),
        ("test: []", "has 'test', but a file of tests has `version` and `tests` only"),
        ("tests: [3]", "test 1 must be a line"),
        ("tests: ['']", "test 1 is empty"),
        ("tests: [a, null]", "test 2 must be a line"),
        ("tests:\n- thin: loss at most 1", "A line that holds ': ' or ' #' goes in quotes"),
        ("tests:\n- line: loss at most 1\n  nmae: x", "has 'nmae'. Did you mean 'name'"),
        ("tests:\n- line: [a]", "`line` must be a text"),
        ("tests:\n- line: a\n  name: 3", "`name` must be a text, but is 3"),
        ("tests:\n- line: a\n  insight: maybe", "`insight` must be true or false"),
        ("tests:\n- line: |\n    a\n    b\n", "must be one line of printable characters"),
        ('tests: ["a\\u001bb"]', "must be one line of printable characters"),
        ("tests: [a, a]", "has 'a' twice"),
        ("tests: [a]\ntests: [b]", "`tests` is there twice"),
        ("tests:\n- line: a\n  line: b", "`line` is there twice"),
        ("tests: [!!python/object/apply:os.system ['touch made']]", "Only plain values are read"),
        ("tests: ['a", "not readable as file of tests"),
        ("tests: [2024-99-99]", "Only plain values are read"),
        ("tests: [\x00]", "Only plain values are read"),
        ("[" * 50_000, "more than 32 deep"),
        (BOMB, "more than 16 aliases"),
        (f"tests: [{'9' * 100_000}]", "longer than 4096 characters"),
        (f"tests: [{'1:' * 50_000}1]", "longer than 4096 characters"),
        ("tests: [a]\n" + "#" * 10_000_000, "larger than 256 kB"),
        ("tests: &a [*a]", "must be a line"),
        ("---\ntests: [a]\n---\ntests: [b]\n", "not readable"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_another_file_is_refused_with_what_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "tests.yaml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigurationError) as caught:
        read_tests(path)
    assert said in str(caught.value)
    assert str(path) in str(caught.value)
    assert not (tmp_path / "made").exists()


def test_bytes_that_are_no_text_and_folders_are_refused(tmp_path: Path) -> None:
    (tmp_path / "tests.yaml").write_bytes(b"\xff\xfe\x00tests")
    with pytest.raises(ConfigurationError, match="Only plain values are read"):
        read_tests(tmp_path / "tests.yaml")
    with pytest.raises(ConfigurationError, match="Is a directory"):
        read_tests(tmp_path)


def test_a_test_of_the_same_name_takes_the_place_of_the_old_one() -> None:
    old = [WrittenTest("a"), WrittenTest("b", "x"), WrittenTest("c")]
    assert with_tests(old, [WrittenTest("d", "x"), WrittenTest("a"), WrittenTest("e")]) == (
        WrittenTest("a"),
        WrittenTest("d", "x"),
        WrittenTest("c"),
        WrittenTest("e"),
    )


def test_tests_are_removed_by_name_or_line_and_unknown_names_are_said() -> None:
    tests = [WrittenTest("a"), WrittenTest("b", "thin"), WrittenTest("c")]
    assert without_tests(tests, ["thin", "c"]) == (WrittenTest("a"),)
    assert without_tests(tests, ["b"]) == (WrittenTest("a"), WrittenTest("c"))
    with pytest.raises(ConfigurationError, match=r"There is no test 'thn'\. Did you mean 'thin'"):
        without_tests(tests, ["thn"])


@pytest.mark.parametrize("name", ["a\u200bb", "\N{WOMAN}\u200d\N{MICROSCOPE}", "soft\u00adhyphen"])
def test_what_could_not_be_read_again_is_not_written(tmp_path: Path, name: str) -> None:
    path = tmp_path / "tests.yaml"
    write_tests(path, [WrittenTest("accuracy at least 0.5")])
    with pytest.raises(ConfigurationError, match="printable") as caught:
        write_tests(path, [WrittenTest("accuracy at least 0.5", name)])
    assert str(path) in str(caught.value)
    assert read_tests(path) == (WrittenTest("accuracy at least 0.5"),)
    assert [one.name for one in tmp_path.iterdir()] == ["tests.yaml"]


def test_more_than_can_be_read_again_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "tests.yaml"
    with pytest.raises(ConfigurationError, match="larger"):
        write_tests(path, [WrittenTest("accuracy at least 0.5", f"{n}", "why" * 600) for n in range(200)])
    assert not path.exists()


def test_a_pipe_keeps_nobody_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "tests.yaml")
    with pytest.raises(ConfigurationError, match="plain file"):
        read_tests(tmp_path / "tests.yaml")
