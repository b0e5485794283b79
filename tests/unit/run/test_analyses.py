"""What analysis keeps beside an evaluation: it comes back as it was, and damage counts as absence."""

from __future__ import annotations

import io
import json
import os
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cutaway.run import Run
from cutaway.run.analyses import (
    AnalysisName,
    read_about,
    read_arrays,
    read_table,
    scope_of,
    write_arrays,
    write_table,
)
from cutaway.run.evaluations import Evaluation, write_source
from cutaway.run.whole_files import _this_machine, whole_file

NAME = AnalysisName("joint", "map", "latent")
ABOUT = {"key": "k", "notes": ["one"]}


@pytest.fixture
def evaluation(tmp_path: Path) -> Evaluation:
    found = Evaluation(Run.create(tmp_path / "run"), 0)
    write_source(found, {"state": "finished", "subsets": {"training": {}, "validation": {}}})
    for subset in ("training", "validation"):
        pq.write_table(pa.table({"id": [f"{subset}/0"]}), found.path / f"{subset}.parquet")
    return found


def test_a_table_comes_back_with_what_it_was_made_from(evaluation: Evaluation) -> None:
    table = pa.table({"sample": ["a", "b"], "x": [1.5, None]})
    path = write_table(evaluation, NAME, table, ABOUT)
    held = read_table(evaluation, NAME, "k")
    assert path.name == "joint.map.latent.parquet"
    assert held is not None
    assert held.table.equals(table)
    assert held.about == ABOUT
    assert read_table(evaluation, NAME, "another") is None
    assert read_about(evaluation, NAME) == ABOUT


def test_arrays_come_back(evaluation: Evaluation) -> None:
    arrays: dict[str, np.ndarray] = {"values": np.arange(6, dtype=np.float32).reshape(2, 3), "empty": np.zeros((0, 2))}
    write_arrays(evaluation, NAME, arrays, ABOUT)
    held = read_arrays(evaluation, NAME, "k")
    assert held is not None
    assert held[1] == ABOUT
    for name, values in arrays.items():
        np.testing.assert_array_equal(held[0][name], values)
    assert read_arrays(evaluation, NAME, "another") is None


def test_subsets_have_a_word(evaluation: Evaluation) -> None:
    assert scope_of(evaluation, ["training"]) == "training"
    assert scope_of(evaluation, ["validation", "training"]) == "joint"


@pytest.mark.parametrize("position", [0.02, 0.3, 0.5, 0.7, 0.98])
def test_a_flipped_bit_in_a_table_is_no_other_table(evaluation: Evaluation, position: float) -> None:
    table = pa.table({"x": np.random.default_rng(0).normal(size=4000)})
    path = write_table(evaluation, NAME, table, ABOUT)
    data = bytearray(path.read_bytes())
    data[int(position * len(data))] ^= 0x10
    path.write_bytes(data)
    held = read_table(evaluation, NAME, "k")
    assert held is None or held.table.equals(table)


def test_a_table_that_is_cut_short_is_none(evaluation: Evaluation) -> None:
    path = write_table(evaluation, NAME, pa.table({"x": [1.0] * 100}), ABOUT)
    whole = path.read_bytes()
    for share in (0, 1, 4, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:share])
        assert read_table(evaluation, NAME, "k") is None
        assert not read_about(evaluation, NAME)


@pytest.mark.parametrize("about", [b"[]", b'"text"', b"not json", b"[" * 100_000, b"\xff\xfe"])
def test_what_says_nothing_sensible_is_none(evaluation: Evaluation, about: bytes) -> None:
    table = pa.table({"x": [1.0]}).replace_schema_metadata({b"cutaway": about})
    pq.write_table(table, NAME.file(evaluation, "parquet"))
    assert read_table(evaluation, NAME, "k") is None
    assert not read_about(evaluation, NAME)


class Boom:
    """What a pickle would execute."""

    def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
        return os.system, ("touch pwned",)


def npy(values: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, values, allow_pickle=False)
    return file.getvalue()


def told(about: object) -> bytes:
    return npy(np.frombuffer(json.dumps(about).encode(), np.uint8))


def header(text: str) -> bytes:
    return b"\x93NUMPY\x01\x00v\x00" + text.encode().ljust(117) + b"\n"


def huge() -> bytes:
    """The header of an array of a petabyte, and nothing behind it."""
    return header("{'descr': '<f4', 'fortran_order': False, 'shape': (250000000000000,), }")


FORGED: dict[str, dict[str, bytes]] = {
    "an `about` that is a list": {"about.npy": told([1]), "array.x.npy": npy(np.zeros(3))},
    "an `about` that is bytes": {"about": b"{}", "array.x.npy": npy(np.zeros(3))},
    "an `about` that is no JSON": {"about.npy": npy(np.frombuffer(b"{{{", np.uint8))},
    "no `about`": {"array.x.npy": npy(np.zeros(3))},
    "a pickle": {"about.npy": told({"key": "k"}), "array.x.npy": pickle.dumps(Boom())},
    "an array of objects": {
        "about.npy": told({"key": "k"}),
        "array.x.npy": header("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }") + pickle.dumps([Boom()]),
    },
    "a size that no memory has": {"about.npy": told({"key": "k"}), "array.x.npy": huge()},
    "an `about` that no memory has": {"about.npy": huge()},
}  # fmt: skip


@pytest.mark.parametrize("case", FORGED)
def test_forged_arrays_are_none_and_run_nothing(
    evaluation: Evaluation, case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with zipfile.ZipFile(NAME.file(evaluation, "npz"), "w") as archive:
        for name, data in FORGED[case].items():
            archive.writestr(name, data)
    assert read_arrays(evaluation, NAME, "k") is None
    assert not (tmp_path / "pwned").exists()


def test_packed_arrays_are_none_whatever_they_unfold_to(evaluation: Evaluation) -> None:
    with zipfile.ZipFile(NAME.file(evaluation, "npz"), "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("about.npy", told({"key": "k"}))
        archive.writestr("array.x.npy", npy(np.zeros(1_000_000)))
    assert read_arrays(evaluation, NAME, "k") is None


@pytest.mark.parametrize("content", [b"", b"PK", b"no archive", npy(np.zeros(3)), pickle.dumps(Boom())])
def test_what_is_no_archive_is_none(
    evaluation: Evaluation, content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    NAME.file(evaluation, "npz").write_bytes(content)
    assert read_arrays(evaluation, NAME, "k") is None
    assert not (tmp_path / "pwned").exists()


def test_what_killed_writers_left_goes_with_the_next_write(evaluation: Evaluation) -> None:
    dead, alive = 2**22 + 1, os.getpid()
    left = evaluation.path / f".joint.map.latent.parquet.{_this_machine()}-{dead}"
    others = [
        evaluation.path / f".joint.map.latent.parquet.{_this_machine()}-{alive}",
        evaluation.path / f".joint.map.latent.parquet.00000000-{dead}",  # another machine's
        evaluation.path / ".training.conv1.npy.part",
        evaluation.path / ".hidden",
    ]
    for path in (left, *others):
        path.write_bytes(b"half")
    write_table(evaluation, NAME, pa.table({"x": [1.0]}), ABOUT)
    assert not left.exists()
    # The file of this process itself is the one that was just written and renamed.
    assert [path.exists() for path in others] == [False, True, True, True]


def test_a_file_that_fails_leaves_nothing(evaluation: Evaluation) -> None:
    def write() -> None:
        with whole_file(evaluation.path / "x.npz") as beside:
            beside.write_bytes(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert not [path for path in evaluation.path.iterdir() if path.name.startswith(".")]
    assert not (evaluation.path / "x.npz").exists()
