"""Case 21: files that are not what they say. Decided by content, with bounded reads and a clear word; nothing runs."""

from __future__ import annotations

import gzip
import os
import pickle
import random
import socket
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest

from cutaway.errors import ModelError, ModelFormatError, UnsafeModel
from cutaway.models import Limits, load
from cutaway.models.child import ChildBackend
from tests import toy_format

POINTER = (
    b"version https://git-lfs.github.com/spec/v1\n"
    b"oid sha256:4cac19622fc3ada9c0fdeadb33f88f367b541f38b89102a3f1261ac81fd5bcb5\nsize 84977953\n"
)


class Bomb:
    """Leaves a mark when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, ...]:
        return (os.mkdir, (str(self.mark),))


def zip_of(*names: str) -> bytes:
    import io

    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        for name in names:
            archive.writestr(name, "x" * 100)
    return whole.getvalue()


KERAS = zip_of("config.json", "metadata.json", "model.weights.h5")
LIES: list[tuple[str, str, bytes, str]] = [
    ("a pointer of Git LFS", "model.h5", POINTER, "Git LFS.*`git lfs pull`"),
    ("a pointer named onnx", "model.onnx", POINTER, "Git LFS.*`git lfs pull`"),
    ("an empty file", "model.keras", b"", "it is empty"),
    ("a pickle named h5", "model.h5", pickle.dumps({"a": 1}, 4), "is a pickle, which runs code"),
    ("a gzip", "model.onnx", gzip.compress(b"x" * 100), "compressed with gzip. Unpack it"),
    (
        "a web page",
        "model.onnx",
        b"\n<!DOCTYPE html><html><body>404</body></html>",
        "web page, as a download leaves it",
    ),
    ("another web page", "model.h5", b"<html><head></head></html>", "web page"),
    ("an error of a bucket", "model.h5", b'<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>', "web page"),
    ("a cut archive", "model.keras", KERAS[: len(KERAS) // 2], "cut short"),
    ("an archive without its end", "model.keras", KERAS[:-30], "cut short"),
    ("an archive of something else", "model.onnx", zip_of("a.txt", "b.txt"), r"something else \(2 members: a\.txt"),
    ("arrays of numpy in an archive", "model.keras", zip_of("a.npy"), "something else"),
    ("a zipped SavedModel", "model.zip", zip_of("m/saved_model.pb", "m/variables/v.index"), "Unpack it and give the"),
    ("an array of numpy", "model.onnx", b"\x93NUMPY\x01\x00" + b"x" * 100, "array of numpy"),
    ("TensorFlow Lite", "model.onnx", b"\x1c\x00\x00\x00TFL3" + b"\x00" * 100, "TensorFlow Lite"),
    (
        "safetensors",
        "model.onnx",
        (20).to_bytes(8, "little") + b'{"a":{"dtype":"F32"}}',
        "safetensors.*weights without",
    ),
    ("half an HDF5 file", "model.h5", b"\x89HDF\r\n\x1a\n\x00\x00", "HDF5 file that is cut short"),
    ("zeros", "model.onnx", b"\x00" * 5000, "none of the formats"),
    ("a text", "model.onnx", b"hello, this is my model\n", "none of the formats"),
    ("JSON", "model.json", b'{"class_name": "Sequential"}', "none of the formats"),
    ("a part of a SavedModel", "saved_model.pb", b"\x08\x01\x12\x04abcd", "part of a SavedModel. Give its folder"),
]


@pytest.mark.parametrize(("name", "content", "words"), [case[1:] for case in LIES], ids=[case[0] for case in LIES])
def test_a_file_that_is_no_model_is_said(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ModelFormatError, match=words) as caught:
        load(path)
    assert caught.value.path == str(path)


def test_a_pickle_is_never_opened(tmp_path: Path) -> None:
    mark = tmp_path / "executed"
    for protocol in range(6):
        (tmp_path / "model.h5").write_bytes(pickle.dumps(Bomb(mark), protocol))
        with pytest.raises(ModelError):
            load(tmp_path / "model.h5")
    assert not mark.exists()


def test_a_cut_onnx_file_and_a_cut_hdf5_file_are_said(tmp_path: Path) -> None:
    onnx, h5py = pytest.importorskip("onnx"), pytest.importorskip("h5py")
    from onnx import TensorProto, helper, numpy_helper

    weights = numpy_helper.from_array(np.ones((100, 100), np.float32), "w")
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", 100]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "g", values[:1], values[1:], [weights])
    whole = helper.make_model(graph).SerializeToString()
    path = tmp_path / "model.onnx"
    for part in (1, 7, 15):
        path.write_bytes(whole[: len(whole) * part // 16])
        with pytest.raises(ModelFormatError, match=r"ONNX model that is cut short, at [\d,]+ bytes"):
            load(path)
    with h5py.File(tmp_path / "model.h5", "w") as file:
        file["a"] = np.ones(10_000)
    data = (tmp_path / "model.h5").read_bytes()
    (tmp_path / "model.h5").write_bytes(data[: len(data) // 2])
    with pytest.raises(ModelFormatError, match=rf"cut short: it has {len(data) // 2:,} of {len(data):,} bytes"):
        load(tmp_path / "model.h5")
    assert onnx.__version__


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.onnx")
    with pytest.raises(ModelFormatError, match="a named pipe, not a file"):
        load(tmp_path / "pipe.onnx")
    for device in ("/dev/zero", "/dev/null", "/dev/urandom"):
        with pytest.raises(ModelFormatError, match="a device, not a file"):
            load(device)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "s"))
        with pytest.raises(ModelFormatError, match="a socket, not a file"):
            load(tmp_path / "s")
    with pytest.raises(ModelFormatError, match="empty"):
        load("/proc/self/status")
    with pytest.raises(ModelError, match="cannot be looked at"):
        load("a\x00b")
    with pytest.raises(ModelError):
        load("x" * 5000)


def test_a_folder_without_a_model_says_what_it_has(tmp_path: Path) -> None:
    with pytest.raises(ModelFormatError, match=r"no `saved_model\.pb`.*It has nothing"):
        load(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"x")
    with pytest.raises(ModelFormatError, match="folder of weights"):
        load(tmp_path)
    (tmp_path / "best.onnx").write_bytes(b"x")
    with pytest.raises(ModelFormatError, match=r"Give a model file in it, such as '.*best\.onnx'"):
        load(tmp_path)
    (tmp_path / "saved_model.pb").write_bytes(POINTER)
    with pytest.raises(ModelFormatError, match=r"saved_model\.pb.*Git LFS"):
        load(tmp_path)


def test_pointers_inside_a_saved_model_are_found(tmp_path: Path) -> None:
    (tmp_path / "variables").mkdir()
    (tmp_path / "saved_model.pb").write_bytes(b"\x08\x01\x12\x02ab")
    (tmp_path / "variables" / "variables.data-00000-of-00001").write_bytes(POINTER)
    with pytest.raises(ModelFormatError, match=r"variables\.data.*Git LFS"):
        load(tmp_path)


def test_a_folder_of_very_many_files_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cutaway.models.recognising._MOST_FILES", 20)
    (tmp_path / "saved_model.pb").write_bytes(b"\x08\x01\x12\x02ab")
    for i in range(30):
        (tmp_path / str(i)).write_bytes(b"")
    with pytest.raises(UnsafeModel, match="more than 20 files"):
        load(tmp_path)


def test_a_sparse_giant_is_refused_by_its_size(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    with path.open("wb") as file:
        file.truncate(10**13)
    with pytest.raises(UnsafeModel, match="the limit is 4,096 MB"):
        load(path)


def test_random_bytes_behind_every_first_bytes_are_survived(tmp_path: Path) -> None:
    chance = random.Random(4)
    path = tmp_path / "model"
    for start in (b"", b"PK\x03\x04", b"\x89HDF\r\n\x1a\n", b"\x08\x08\x3a", b"PK\x05\x06"):
        for _ in range(40):
            path.write_bytes(start + chance.randbytes(chance.randrange(1, 300)))
            with pytest.raises(ModelError):
                load(path, limits=Limits(load_seconds=30))


def test_a_file_that_grows_while_it_is_read_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "installed").mkdir()
    toy_format.install(tmp_path / "installed", monkeypatch)
    path = toy_format.write(tmp_path / "model.toy", open="sleep", **{"with": 0.5})
    stop = threading.Event()

    def grow() -> None:
        while not stop.wait(0.02):
            with path.open("a") as file:
                file.write(" ")

    thread = threading.Thread(target=grow)
    thread.start()
    try:
        with pytest.raises(ModelError, match=r"changed while it was being read\. Wait until"):
            ChildBackend(path, "toy", Limits())
    finally:
        stop.set()
        thread.join()
    with load(path) as model:
        assert model.predict(np.ones((1, 4), np.float32))["scores"].shape == (1, 3)
