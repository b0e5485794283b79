"""Cases 25 and 26: cells that spreadsheets and browsers would run, and pictures that would take all memory."""

from __future__ import annotations

import csv
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from cutaway.analysis.figures.pictures import choose_previews, extent_of, pixels_of, png_of
from cutaway.cli import main
from cutaway.dataset import Dataset
from cutaway.evaluation import evaluate
from cutaway.run import Run
from cutaway.run.evaluations import evaluations
from cutaway.run.exporting import neutral_cell, write_csv
from tests.hostile.image_bombs import BOMBS, png_bomb
from tests.unit.analysis.figures.made import png
from tests.unit.analysis.figures.reading_pages import Page

torch = pytest.importorskip("torch")

CELLS = [
    '=HYPERLINK("https://example.org","x")',
    "=1+1",
    "+1+1",
    "-1+1|cmd",
    "@SUM(A1)",
    "\t=1+1",
    "\r=1+1",
    "\n=1+1",
    " =1+1",
    "\uff1d1+1",
    "'=1+1",
    "<img src=x onerror=alert(1)>",
    "a\x00b",
    "\u202eabc",
    '"; DROP',
    "a,b\nc",
    "x" * 100_000,
]
DANGEROUS = ("=", "+", "-", "@", "\t", "\r", "\n", " =", "\uff1d")
FORMULAS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
any_text = st.text() | st.text(alphabet="'=+-@ \t\r\n\uff1d19.e\0")


@given(any_text)
def test_every_cell_comes_back_as_it_was_but_for_nul(text: str) -> None:
    cell, shown = neutral_cell(text), text.replace("\0", "\u2400")
    # A cell has a mark in front exactly where it would be given another one.
    assert (cell[1:] if cell.startswith("'") and neutral_cell(cell) != cell else cell) == shown


@given(any_text)
def test_no_cell_begins_as_a_formula_unless_it_is_a_number(text: str) -> None:
    shown = neutral_cell(text)
    assert not shown.startswith(("\t", "\r", "\n"))
    if shown.lstrip(" \t\r\n\f\v\u00a0\u3000").startswith(FORMULAS):
        float(shown)


@given(st.lists(any_text | st.none(), max_size=20))
def test_columns_are_written_as_cells_are(tmp_path_factory: pytest.TempPathFactory, texts: list[str | None]) -> None:
    path = tmp_path_factory.getbasetemp() / "cells.csv"
    write_csv(pa.table({"n": range(len(texts)), "text": pa.array(texts, pa.string())}), path)
    with path.open(newline="", encoding="utf-8") as lines:
        rows = list(csv.reader(lines))
    assert [row[1] for row in rows[1:]] == ["" if one is None else neutral_cell(one) for one in texts]


def test_numbers_stay_numbers_and_every_kind_of_column_is_text_where_it_is_text(tmp_path: Path) -> None:
    table = pa.table(
        {
            "=name": [-1, 2],
            "float": [-0.5, float("nan")],
            "list": [["=1"], None],
            "coded": pa.array(["=1", "b"]).dictionary_encode(),
            "large": pa.array(["=1", "-3"], pa.large_string()),
            "bytes": [b"=1", b"\xff"],
            "none": pa.nulls(2),
        }
    )
    write_csv(table, tmp_path / "table.csv")
    with (tmp_path / "table.csv").open(newline="", encoding="utf-8") as lines:
        head, first, second = csv.reader(lines)
    assert head[0] == "'=name"
    assert first == ["-1", "-0.5", "['=1']", "'=1", "'=1", "b'=1'", ""]
    assert second[4] == "-3"


def test_texts_that_are_not_utf_8_do_not_end_an_export(tmp_path: Path) -> None:
    raw = pa.array([b"=1", b"\xff\xfe"], pa.binary())
    broken = pa.Array.from_buffers(pa.string(), 2, raw.buffers())
    write_csv(pa.table({"text": broken}), tmp_path / "table.csv")
    assert (tmp_path / "table.csv").read_text(encoding="utf-8").splitlines()[1:] == ['"\'=1"', '"\\xff\\xfe"']


@pytest.fixture(scope="module")
def hostile_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose classes and metadata are all of these cells."""
    chance = np.random.default_rng(0)
    x = chance.normal(size=(len(CELLS) * 3, 4)).astype(np.float32)
    y = np.arange(len(x)) % len(CELLS)
    labels = [one[:2000].replace("\0", "") + str(place) for place, one in enumerate(CELLS)]
    told = {"note": [CELLS[one] for one in y], "size": chance.random(len(x)).tolist()}
    data = Dataset.from_arrays(x, y, labels=labels, metadata=told)
    folder = tmp_path_factory.mktemp("hostile") / "run"
    evaluate(data, torch.nn.Linear(4, len(CELLS)).eval(), folder, keep_model=False)
    return folder


@pytest.mark.parametrize("what", ["confusion", "similar"])
def test_what_analyze_writes_runs_nowhere(hostile_run: Path, tmp_path: Path, what: str) -> None:
    about = ["--sample", "training/0"] if what == "similar" else []
    assert main(["analyze", str(hostile_run), what, *about, "--out", str(tmp_path)]) == 0
    for path in tmp_path.glob("*.csv"):
        with path.open(newline="", encoding="utf-8") as lines:
            csv.field_size_limit(10_000_000)
            cells = [cell for row in csv.reader(lines) for cell in row]
        assert cells
        wrong = [cell[:40] for cell in cells if cell.startswith(DANGEROUS) and not _is_number(cell)]
        assert wrong == []
    for path in tmp_path.glob("*.html"):
        Page(path.read_text(encoding="utf-8")).loads_nothing()
    exact = pq.read_table(next(tmp_path.glob("*.parquet")))
    assert any(str(one).startswith("=") for name in exact.column_names for one in exact[name].to_pylist())


def test_a_terminal_shows_cells_cut_and_without_what_steers_it(
    hostile_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["analyze", str(hostile_run), "similar", "--sample", "training/0"]) == 0
    out = capsys.readouterr().out
    assert not any(one in out for one in ("\x1b", "\0", "\r", "\u202e"))
    assert max(map(len, out.splitlines())) < 3_000


@pytest.mark.parametrize("name", BOMBS)
def test_a_figure_never_decodes_a_bomb(name: str) -> None:
    data = BOMBS[name]
    if name == "a PNG of 12,000 x 12,000, below Pillow's own limit":
        assert extent_of(data) == (0, 0)
    assert pixels_of(data) is None
    assert png_of(data) is None
    assert choose_previews(["a", "b"], {"a": data, "b": png()}, np.ones(2)).rows == (1,)


def test_a_folder_of_bombs_fails_sample_by_sample_within_bounded_memory(tmp_path: Path) -> None:
    folder = tmp_path / "pictures" / "cats"
    folder.mkdir(parents=True)
    for place, data in enumerate(BOMBS.values()):
        (folder / f"{place}.png").write_bytes(data)
    for place in range(3):
        Image.new("RGB", (8, 8), (place, 0, 0)).save(folder / f"fine{place}.png")
    code = (
        "import sys, torch; from cutaway.dataset import Dataset; from cutaway.evaluation import evaluate;"
        "data = Dataset.from_folder(sys.argv[1], size=(8, 8));"
        "net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(192, 2)).eval();"
        "evaluate(data, net, sys.argv[2], keep_model=False)"
    )
    limit = 8 << 30
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "pictures"), str(tmp_path / "run")],
        capture_output=True, text=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    [found] = evaluations(Run.open(tmp_path / "run"))
    failed = {one.id: one.error for one in found.failures()}
    assert len(failed) == len(BOMBS)
    assert all("cannot be read as an image" in reason for reason in failed.values())
    assert any("pixels" in reason for reason in failed.values())


def test_an_image_that_is_large_but_honest_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "cats"
    folder.mkdir()
    Image.new("L", (3000, 2000), 9).save(folder / "large.png")
    data = Dataset.from_folder(tmp_path, size=(4, 4), scale=False)
    from cutaway.dataset.enums import Role

    assert int(data.subsets["training"].encode(Role.INPUT, "image", 0).max()) == 9


def test_a_bomb_is_as_small_as_it_claims_to_be_large() -> None:
    assert len(png_bomb(60_000, 60_000)) < 2_000


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
