"""Files of torch that are no models: pickles and archives of them are recognised, said, and never read."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import cutaway.models  # noqa: E402
from cutaway.errors import ModelError, ModelFormatError  # noqa: E402
from cutaway.models.loading import load  # noqa: E402
from tests.hostile.pt2_archives import Touches, pickled  # noqa: E402


def test_a_pickle_that_runs_code_is_refused_and_does_not_run(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    evil = {"state_dict": {"weight": torch.zeros(2)}, "evil": Touches(marker)}
    torch.save(evil, tmp_path / "zip.pt")
    torch.save(evil, tmp_path / "legacy.pt", _use_new_zipfile_serialization=False)
    (tmp_path / "plain.pkl").write_bytes(pickled(Touches(marker)))
    for name in ("zip.pt", "legacy.pt", "plain.pkl"):
        for trust in (False, True):
            with pytest.raises(ModelFormatError, match=r"torch\.export\.save"):
                load(tmp_path / name, trust=trust)
    assert not marker.exists()
    torch.load(tmp_path / "zip.pt", weights_only=False)
    assert marker.exists()  # the attack is real


@pytest.mark.parametrize("name", ["model.pt2", "model.onnx", "model.keras", "model.h5", "model.pth", "model"])
def test_whatever_it_is_called(name: str, tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    torch.save({"evil": Touches(marker)}, tmp_path / name)
    with pytest.raises(ModelFormatError, match="checkpoint"):
        load(tmp_path / name)
    assert not marker.exists()


def test_a_checkpoint_that_names_a_callable_is_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "named_by_checkpoint.py").write_text(f"import os\nos.mkdir({str(tmp_path / 'ran')!r})\n")
    monkeypatch.syspath_prepend(tmp_path)
    hyper = {"_target_": "named_by_checkpoint.make", "_instantiator": "named_by_checkpoint.make"}
    torch.save({"hyper_parameters": hyper, "state_dict": {}}, tmp_path / "last.ckpt")
    with pytest.raises(ModelFormatError, match="checkpoint"):
        load(tmp_path / "last.ckpt")
    assert not (tmp_path / "ran").exists()


@pytest.mark.filterwarnings("ignore")  # torch says that TorchScript is on its way out
def test_torchscript_is_recognised(tmp_path: Path) -> None:
    torch.jit.save(torch.jit.script(torch.nn.Linear(2, 2)), str(tmp_path / "script.pt"))
    with pytest.raises(ModelFormatError, match=r"TorchScript.*torch\.export"):
        load(tmp_path / "script.pt")


def test_a_checkpoint_that_is_cut_short_says_so_or_is_no_model(tmp_path: Path) -> None:
    torch.save({"weight": torch.zeros(100)}, tmp_path / "whole.pt")
    data = (tmp_path / "whole.pt").read_bytes()
    for i in range(64):
        (tmp_path / "short.pt").write_bytes(data[: len(data) * i // 64])
        with pytest.raises(ModelFormatError):
            load(tmp_path / "short.pt")


def header(tensors: dict[str, Any]) -> bytes:
    text = json.dumps(tensors).encode()
    return struct.pack("<Q", len(text)) + text


def tensor(start: int, end: int, shape: list[int]) -> dict[str, Any]:
    return {"dtype": "F32", "shape": shape, "data_offsets": [start, end]}


SAFETENSORS = {
    "healthy": header({"a": tensor(0, 4, [1])}) + b"\0" * 4,
    "header of 2**62": struct.pack("<Q", 2**62) + b'{"a":1}',
    "overlap": header({"a": tensor(0, 8, [2]), "b": tensor(4, 12, [2])}) + b"\0" * 12,
    "hole": header({"a": tensor(0, 4, [1]), "b": tensor(8, 12, [1])}) + b"\0" * 12,
    "shape overflow": header({"a": tensor(0, 4, [2**62, 2**62])}) + b"\0" * 4,
    "bad UTF-8": struct.pack("<Q", 4) + b'{"\xff"',
    "duplicate key": struct.pack("<Q", 15) + b'{"a":1, "a":2} ',
    "trailing bytes": header({"a": tensor(0, 4, [1])}) + b"\0" * 400,
}


@pytest.mark.parametrize("name", list(SAFETENSORS))
def test_safetensors_are_weights_and_no_model_whatever_they_hold(name: str, tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(SAFETENSORS[name])
    with pytest.raises(ModelError):
        load(path)


def test_nothing_of_this_is_a_public_switch() -> None:
    assert not [name for name in dir(cutaway.models) if "pickle" in name.lower()]
