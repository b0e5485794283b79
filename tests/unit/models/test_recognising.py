"""Healthy files are told by their content, whatever they are called."""

from __future__ import annotations

import contextlib
import io
import json
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.errors import ModelFormatError, ModelNotFound, UnsafeModel
from cutaway.models import Limits
from cutaway.models.onnx_fields import looks_like_onnx, looks_like_saved_model
from cutaway.models.recognising import identity_of, recognise
from cutaway.models.zip_names import BadZip, zip_names


def zipped(path: Path, *names: str, comment: bytes = b"") -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, "x" * 50)
        archive.comment = comment
    return path


def hdf5(path: Path) -> Path:
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        file["weights"] = np.ones(1000)
    return path


def onnx_file(path: Path) -> Path:
    onnx = pytest.importorskip("onnx")
    from onnx import TensorProto, helper

    value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", 4]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", value[:1], value[1:])
    onnx.save(helper.make_model(graph, producer_name="test"), path)
    return path


def saved_model(path: Path) -> Path:
    (path / "variables").mkdir(parents=True)
    (path / "saved_model.pb").write_bytes(b"\x08\x01\x12\x02ab")
    (path / "variables" / "variables.index").write_bytes(b"index")
    return path


@pytest.mark.parametrize("name", ["model.keras", "model.onnx", "model.bin", "model"])
def test_every_format_is_told_by_its_content(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    limits = Limits()
    assert recognise(zipped(path, "metadata.json", "config.json", "model.weights.h5"), limits).format == "keras"
    assert recognise(zipped(path, "m/archive_format", "m/models/model.json"), limits).format == "pt2"
    assert recognise(hdf5(path), limits).format == "h5"
    assert recognise(onnx_file(path), limits).format == "onnx"
    path.unlink()
    assert recognise(saved_model(path), limits).format == "saved_model"


def test_what_torch_writes_is_told_apart(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    path = tmp_path / "model.pt"
    program = torch.export.export(torch.nn.Linear(2, 2), (torch.ones(1, 2),))
    torch.export.save(program, tmp_path / "model.pt2")
    assert recognise(tmp_path / "model.pt2", Limits()) == ("pt2", "")
    torch.save(torch.nn.Linear(2, 2).state_dict(), path)
    with pytest.raises(ModelFormatError, match=r"pickled checkpoint of torch.*`torch\.export\.save"):
        recognise(path, Limits())
    torch.save(torch.nn.Linear(2, 2).state_dict(), path, _use_new_zipfile_serialization=False)
    with pytest.raises(ModelFormatError, match="it is a pickle"):
        recognise(path, Limits())
    torch.jit.save(torch.jit.trace(torch.nn.Linear(2, 2), torch.ones(1, 2)), path)
    with pytest.raises(ModelFormatError, match="TorchScript"):
        recognise(path, Limits())


def test_a_name_that_says_another_format_is_noted(tmp_path: Path) -> None:
    assert recognise(hdf5(tmp_path / "model.h5"), Limits()).note == ""
    assert recognise(hdf5(tmp_path / "model.bin"), Limits()).note == ""
    note = recognise(hdf5(tmp_path / "model.ONNX"), Limits()).note
    assert note == "model.ONNX is named as onnx, but its content is h5; it was read as h5."


def test_a_missing_file_offers_the_nearest(tmp_path: Path) -> None:
    hdf5(tmp_path / "model.h5")
    with pytest.raises(ModelNotFound, match=r"No model at '.*modle\.h5'\. Did you mean 'model\.h5'\?"):
        recognise(tmp_path / "modle.h5", Limits())
    with pytest.raises(ModelNotFound, match="Give the path of a model file"):
        recognise(tmp_path / "no folder" / "m.h5", Limits())
    (tmp_path / "link.h5").symlink_to(tmp_path / "gone")
    with pytest.raises(ModelNotFound, match="a link to something that is not there"):
        recognise(tmp_path / "link.h5", Limits())
    (tmp_path / "good.h5").symlink_to(tmp_path / "model.h5")
    assert recognise(tmp_path / "good.h5", Limits()).format == "h5"


def test_the_size_is_limited_for_files_and_folders(tmp_path: Path) -> None:
    big = tmp_path / "big.onnx"
    with big.open("wb") as file:
        file.truncate(2 * 1024 * 1024)
    with pytest.raises(UnsafeModel, match=r"2 MB, and the limit is 1 MB\. Raise it with `Limits\(file_mb="):
        recognise(big, Limits(file_mb=1))
    folder = saved_model(tmp_path / "folder")
    big.rename(folder / "variables" / "big")
    with pytest.raises(UnsafeModel, match="2 MB"):
        recognise(folder, Limits(file_mb=1))
    assert recognise(folder, Limits(file_mb=3)).format == "saved_model"


def test_a_change_shows_in_the_identity(tmp_path: Path) -> None:
    folder = saved_model(tmp_path / "folder")
    before = identity_of(folder)
    assert identity_of(folder) == before
    (folder / "variables" / "variables.index").write_bytes(b"another")
    assert identity_of(folder) != before


@given(
    st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\x00\\"), min_size=1), max_size=20),
    st.binary(max_size=100),
)
def test_names_are_those_that_python_reads(names: list[str], comment: bytes) -> None:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        for name in dict.fromkeys(names):
            archive.writestr(zipfile.ZipInfo(name), b"x")
        archive.comment = comment.replace(b"PK", b"..")
        wanted = archive.namelist()
    assert zip_names(whole, len(whole.getvalue())) == wanted


def test_a_large_archive_is_read_too(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    path = tmp_path / "m.pt"
    torch.save({str(i): torch.ones(1) for i in range(70)}, path)
    data = bytearray(path.read_bytes())
    # What an archive above 4 GB says in its last record: look into the larger one before it.
    data[-10:-2] = b"\xff" * 8
    assert "m/data.pkl" in zip_names(io.BytesIO(data), len(data))
    with pytest.raises(BadZip, match="damaged"):
        zip_names(io.BytesIO(data[-22:]), 22)


@pytest.mark.parametrize("part", range(1, 16))
def test_an_archive_cut_anywhere_is_cut_short(tmp_path: Path, part: int) -> None:
    whole = zipped(tmp_path / "a.zip", "config.json", "metadata.json").read_bytes()
    cut = whole[: len(whole) * part // 16]
    with pytest.raises(BadZip):
        zip_names(io.BytesIO(cut), len(cut))


def test_a_list_of_a_million_members_is_not_read() -> None:
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 80_000_000, 0, 0)
    with pytest.raises(BadZip, match="80,000,000 bytes"):
        zip_names(io.BytesIO(end), len(end))


@given(st.binary(max_size=300))
def test_any_bytes_are_judged_without_an_accident(data: bytes) -> None:
    assert looks_like_onnx(io.BytesIO(data), len(data)) in (True, False, None)
    looks_like_saved_model(io.BytesIO(data), len(data))
    with contextlib.suppress(BadZip):
        zip_names(io.BytesIO(b"PK\x03\x04" + data), len(data) + 4)


def test_json_and_other_texts_are_no_onnx() -> None:
    for data in (json.dumps({"a": 1}).encode(), b"hello world", b"\x00" * 100, b"\x08\x07" * 50):
        assert looks_like_onnx(io.BytesIO(data), len(data)) is False
