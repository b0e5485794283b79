"""The files of a run are named in `run` alone, so that a place of theirs can change in one package."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from cutaway.run import layout, schemas
from cutaway.run.identity import Run
from scripts.requirements import ROOT

SOURCE = ROOT / "src" / "cutaway"
FILES = {Path(name).name for key, name in vars(layout).items() if key.endswith("_FILE")}
FOLDERS = {name for name in layout.LAYOUT if "." not in name} | set(schemas.SCHEMAS)
# What opens a file or lists a folder by its name in a run.
READERS = {"list", "read", "document", "write_document", "joinpath", "Path"}


def names_of_run_files(code: str) -> list[str]:
    """Return the literals of a module that say where a file of a run lies, with their lines."""
    found = []
    for line, text, is_place in _literals(ast.parse(code)):
        parts = text.strip("/").split("/")
        if parts[-1] in FILES or (is_place and (parts[0] in FOLDERS or "/".join(parts) in FOLDERS)):
            found.append(f"line {line}: {text}")
    return found


def _literals(tree: ast.AST) -> Iterator[tuple[int, str, bool]]:
    """Yield each text without spaces, and whether it is a place: after `/`, in a path, or given to a reader."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            yield from _texts([node.right], is_place=True)
        elif isinstance(node, ast.JoinedStr):
            pieces = [one for one in node.values if isinstance(one, ast.Constant)]
            yield from _texts([one for one in pieces if "/" in str(one.value)], is_place=True)
        elif isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            yield from _texts(node.args, is_place=called in READERS)
        elif isinstance(node, ast.Constant):
            yield from _texts([node], is_place=False)


def _texts(nodes: list[ast.expr] | list[ast.Constant], *, is_place: bool) -> Iterator[tuple[int, str, bool]]:
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.fullmatch(r"\S+", node.value):
            yield node.lineno, node.value, is_place


# A frozen copy has a folder of previews of its own, and answers of the API by their paths.
OTHERS = {"studio/freezing/freeze.py": ["previews"], "studio/freezing/training_parts.py": ["findings/"]}


def test_only_run_names_the_files_of_a_run() -> None:
    modules = [path for path in sorted(SOURCE.rglob("*.py")) if path.relative_to(SOURCE).parts[0] != "run"]
    found = {str(path.relative_to(SOURCE)): names_of_run_files(path.read_text(encoding="utf-8")) for path in modules}
    named = {path: [name.partition(": ")[2] for name in names] for path, names in found.items() if names}
    assert named == OTHERS, {path: names for path, names in found.items() if names}


@pytest.mark.parametrize(
    ("code", "count"),
    [
        ('(path / "run.json").exists()', 2),
        ('f"{path}/scalars"', 1),
        ('f"leases/{name}.json"', 1),
        ('storage.list("leases")', 1),
        ('run.document("overlay.json")', 2),
        ('names = ("source.json", "spaces.json")', 2),
        ('"its run.json is gone"', 0),
        ('{"samples": 3, "findings": []}', 0),
        ('(path / "index.html").exists()', 0),
    ],
)
def test_a_file_name_of_a_run_is_found_where_it_is_used(code: str, count: int) -> None:
    assert len(names_of_run_files(code)) == count


def test_a_folder_is_a_run_when_it_has_an_identity(tmp_path: Path) -> None:
    Run.create(tmp_path / "one")
    (tmp_path / "two").mkdir()
    assert layout.is_run(tmp_path / "one")
    assert not layout.is_run(tmp_path / "two")
