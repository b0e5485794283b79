"""Cases 22 and 23: `leap.yaml` is plain values of bounded size. Nothing in it runs, leaves its folder or expands."""

from __future__ import annotations

from pathlib import Path

import pytest

from cutaway.dataset import load_entry
from cutaway.errors import BindingError
from cutaway.evaluation import check

BINDING = "from cutaway.dataset import leap_binder\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with an entry file, and below it nothing that may be touched."""
    inside = tmp_path / "project"
    inside.mkdir()
    (inside / "leap_binder.py").write_text(BINDING, encoding="utf-8")
    (tmp_path / "outside.py").write_text("raise SystemExit('this must not run')\n", encoding="utf-8")
    return inside


def bomb(levels: int = 12) -> str:
    """Nested aliases: a few lines that stand for ten to the power of their number."""
    lines = ['a0: &a0 ["x"]']
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, levels)]
    return "\n".join(lines)


REFUSED = {
    "a Python object": "entryFile: !!python/object/apply:os.mkdir ['{marker}']",
    "a Python name": "entryFile: !!python/name:os.system",
    "a Python module": "x: !!python/module:antigravity",
    "a tag in a list": "include: [!!python/object/new:pathlib.Path ['{marker}']]",
    "an unknown tag": "entryFile: !secret leap_binder.py",
    "an alias bomb": bomb(),
    "many aliases": "a: &a x\nb: [" + ", ".join(["*a"] * 1000) + "]",
    "more than a megabyte": "a: " + "x" * (2 * 1024 * 1024),
    "deep nesting": "a: " + "[" * 20_000 + "]" * 20_000,
    "a list": "- entryFile: leap_binder.py",
    "a text": "leap_binder.py",
    "broken syntax": "entryFile: [leap_binder.py",
    "no text at all": "\x00\x01\x02",
    "a parent": "entryFile: ../outside.py",
    "an absolute path": "entryFile: {outside}",
    "a number": "entryFile: 7",
    "a list of files": "entryFile: [leap_binder.py]",
    "an include above": "entryFile: leap_binder.py\ninclude: ['../*.py']",
    "an absolute include": "entryFile: leap_binder.py\ninclude: ['/etc/*']",
    "an include that is a number": "entryFile: leap_binder.py\ninclude: 7",
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_hostile_file_is_refused_by_name_and_nothing_of_it_runs(case: str, folder: Path) -> None:
    marker = folder.parent / "pwned"
    text = REFUSED[case].replace("{marker}", str(marker)).replace("{outside}", str(folder.parent / "outside.py"))
    (folder / "leap.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(BindingError, match=r"leap\.yaml"):
        load_entry(folder)
    assert not marker.exists()
    first = check(folder).first
    assert first is not None
    assert (first.code, "leap.yaml" in first.message + first.where.get("place", "")) == ("binding-entry", True)


@pytest.mark.parametrize("content", [b"\xff\xfe\x00bad", b"entryFile: \xe9.py"])
def test_bytes_that_are_no_text_are_refused(content: bytes, folder: Path) -> None:
    (folder / "leap.yaml").write_bytes(content)
    with pytest.raises(BindingError, match=r"leap\.yaml"):
        load_entry(folder)


@pytest.mark.parametrize(
    "name", ["${oc.env:HOME}.py", "{{ entry }}.py", "$HOME.py", "~/leap_binder.py", "$(touch pwned).py", "%(entry)s.py"]
)
def test_what_looks_like_an_expression_is_a_literal_name(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(folder))
    (folder / "leap.yaml").write_text(f'entryFile: "{name}"\n', encoding="utf-8")
    with pytest.raises(BindingError) as caught:
        load_entry(folder)
    assert name in str(caught.value)
    target = folder / name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(BINDING, encoding="utf-8")
    assert load_entry(folder).path == target.resolve()


def test_a_healthy_file_with_a_few_aliases_is_read(folder: Path) -> None:
    text = "entryFile: leap_binder.py\ninclude: &files ['*.py']\nexclude: []\nother: *files\n"
    (folder / "leap.yaml").write_text(text, encoding="utf-8")
    assert load_entry(folder).path == (folder / "leap_binder.py").resolve()


def test_a_link_that_leaves_the_folder_is_not_followed(folder: Path) -> None:
    (folder / "linked.py").symlink_to(folder.parent / "outside.py")
    (folder / "leap.yaml").write_text("entryFile: linked.py\n", encoding="utf-8")
    with pytest.raises(BindingError, match="leaves the folder"):
        load_entry(folder)
