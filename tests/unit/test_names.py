"""One name means one thing: no two modules define a class of the same name."""

import ast
from collections import defaultdict
from pathlib import Path

from scripts.requirements import ROOT

SOURCE = ROOT / "src" / "cutaway"


def modules_by_class(folder: Path) -> dict[str, list[str]]:
    """For each class that is defined at the top of a module below a folder, those modules."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(folder.rglob("*.py")):
        for statement in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(statement, ast.ClassDef):
                found[statement.name].append(str(path.relative_to(folder)))
    return found


def shared_class_names(folder: Path) -> dict[str, list[str]]:
    return {name: paths for name, paths in modules_by_class(folder).items() if len(paths) > 1}


def test_no_two_modules_define_a_class_of_the_same_name() -> None:
    assert shared_class_names(SOURCE) == {}


def test_a_class_name_in_two_modules_is_found(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "one.py").write_text("class Answer:\n    class Part: ...\n")
    (tmp_path / "inner" / "two.py").write_text("class Answer: ...\nclass Part: ...\n")
    assert shared_class_names(tmp_path) == {"Answer": ["inner/two.py", "one.py"]}
