"""The model of an evaluation over HTTP: what it is, how it is started, and what it says to files, hostile ones too."""

from __future__ import annotations

import io
import struct
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from PIL import Image

from cutaway.studio.serving.app import create_app
from cutaway.studio.the_studio import Studio
from tests.unit.studio.asked_model import digits_run, text_run
from tests.unit.studio.one_run import Asked, studio_of

pytest.importorskip("onnxruntime")
FILE = {"content-type": "application/octet-stream"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("models")
    digits_run(made / "digits", made / "runs" / "digits")
    text_run(made / "text", made / "runs" / "text")
    return made


@pytest.fixture(scope="module")
def asked(folder: Path) -> Iterator[Asked]:
    with studio_of(folder / "runs") as found:
        yield found


def send(asked: Asked, body: bytes, run: str = "digits", **params: Any) -> Any:
    return asked.client.post(f"/api/runs/{asked.id_of(run)}/model/try", content=body, headers=FILE, params=params)


def picture(pixels: np.ndarray, kind: str = "PNG") -> bytes:
    made = io.BytesIO()
    Image.fromarray(pixels).save(made, kind)
    return made.getvalue()


def saved(values: np.ndarray) -> bytes:
    made = io.BytesIO()
    np.save(made, values, allow_pickle=True)
    return made.getvalue()


def claimed(width: int, height: int) -> bytes:
    """A small PNG file that says that it is large."""
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(bytes(1000))), (b"IEND", b""))
    framed = [
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in chunks
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(framed)


def test_a_model_is_told_with_its_layers_and_files_but_no_path(asked: Asked) -> None:
    answer = asked.get("digits", "/model")
    told = answer.json()["data"]
    assert told["format"] == "onnx"
    assert [one["shape"] for one in told["inputs"]] == [[None, 1, 8, 8]]
    assert sum(one["latent"] for one in told["layers"]) == 1
    (file,) = told["files"]
    assert (file["name"], file["kept"], len(file["digest"])) == ("model.onnx", False, 64)
    assert told["uploads"] == ["image", "npy"]
    assert told["limits"]
    assert "/tmp/" not in answer.text
    text = asked.data("text", "/model")
    assert text["uploads"] == []
    assert any("numbers of words" in note for note in text["notes"])


def test_a_model_is_started_without_waiting_and_is_ready_soon(asked: Asked) -> None:
    address = f"/api/runs/{asked.id_of('digits')}/model/start"
    states = []
    for _ in range(600):
        answer = asked.client.post(address, json={})
        assert answer.status_code == 200, answer.text
        states.append(answer.json()["data"]["state"])
        if states[-1] == "ready":
            break
        time.sleep(0.1)
    assert states[-1] == "ready"
    assert asked.client.post("/api/runs/nothing/model/start", json={}).status_code == 404


def test_a_sample_saved_as_an_array_gets_the_answer_that_the_sample_got(asked: Asked, folder: Path) -> None:
    image = np.load(folder / "digits" / "digits.npz")["x"][12]
    told = send(asked, saved(image), name="twelve.npy").json()["data"]
    sample = asked.data("digits", "/sample", sample="training/12")
    assert told["prediction"] == sample["prediction"]
    assert told["classes"][0]["probability"] == pytest.approx(sample["classes"][0]["probability"], rel=1e-3)
    assert (told["similar"][0]["sample"], round(told["similar"][0]["distance"], 3)) == ("training/12", 0)
    assert told["heat_map"]["target"] == told["prediction"]
    assert told["heat_map"]["sanity"] is None
    assert (told["input"]["type"], told["notes"]) == ("Image", [])
    batched = send(asked, saved(image[None].astype(np.float64))).json()["data"]
    assert batched["outputs"] == told["outputs"]
    assert batched["notes"] == ["Made float32 of float64."]


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_a_picture_of_another_size_and_colour_is_fitted_and_that_is_said(asked: Asked, kind: str) -> None:
    pixels = np.random.default_rng(0).integers(0, 255, (30, 28, 3)).astype(np.uint8)
    told = send(asked, picture(pixels, kind), target="4").json()["data"]
    assert told["heat_map"]["target"] == "4"
    assert told["notes"][:2] == ["Resized from 28 x 30 to 8 x 8.", "Made gray of RGB."]
    assert told["notes"][2].startswith("Scaled to 0..1")
    assert len(told["similar"]) == 20


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "no file"),
        (b"GIF89a what is this", "no PNG, no JPEG and no `.npy`"),
        (picture(np.zeros((30, 30), np.uint8))[:50], "cannot be read"),
        (claimed(60_000, 60_000), "more than 50,000,000"),
        (claimed(0, 0), "cannot be read"),
        (saved(np.zeros((7, 7, 1))), "(7, 7, 1), but the encoder gives (8, 8, 1)"),
        (saved(np.array([{"a": 1}], object)), "holds object, but numbers are needed"),
        (saved(np.zeros(3))[:70], "cannot be read"),
        (saved(np.zeros(3)).replace(b"(3,)", b"(3, 9999999999)"), "more than 50,000,000"),
    ],
    ids=["nothing", "gif", "cut", "bomb", "empty", "shape", "objects", "cut array", "huge array"],
)
def test_a_file_that_cannot_be_used_is_refused_in_words(asked: Asked, body: bytes, said: str) -> None:
    answer = send(asked, body)
    assert answer.status_code == 400, answer.text
    assert said in answer.json()["error"]
    assert asked.data("digits", "/model")["format"] == "onnx"


def test_a_file_may_be_larger_than_other_bodies_but_not_any_size(asked: Asked) -> None:
    assert send(asked, bytes(2 << 20)).json()["code"] == "configuration-error"
    assert send(asked, bytes((8 << 20) + 1)).status_code == 413
    address = f"/api/runs/{asked.id_of('digits')}/model/start"
    assert asked.client.post(address, content=b"x", headers=FILE).status_code == 415
    assert (
        asked.client.post(address, content=bytes(2 << 20), headers={"content-type": "application/json"}).status_code
        == 413
    )
    odd = asked.client.post(address.replace("start", "try"), content=b"x", headers={"content-type": "text/plain"})
    assert odd.status_code == 415


def test_a_class_that_is_not_there_is_refused_with_the_nearest(asked: Asked) -> None:
    answer = send(asked, saved(np.zeros((8, 8, 1), np.float32)), target="10")
    assert (answer.status_code, answer.json()["error"]) == (400, "There is no class '10'.")


def test_a_text_model_takes_no_file(asked: Asked) -> None:
    assert send(asked, picture(np.zeros((8, 8), np.uint8)), run="text").status_code == 400


def test_a_studio_for_looking_only_changes_nothing_and_still_finds_similars(folder: Path) -> None:
    (folder / "digits" / "imported").unlink(missing_ok=True)
    studio = Studio.open(folder / "runs", read_only=True)
    try:
        with TestClient(create_app(studio), base_url="http://127.0.0.1") as client:
            asked = Asked(studio, client)
            assert client.get("/api/about").json()["data"]["read_only"] is True
            for method, path in (
                ("POST", "model/start"),
                ("POST", "model/try"),
                ("POST", "selections"),
                ("PATCH", "x"),
            ):
                refused = client.request(method, f"/api/runs/{asked.id_of('digits')}/{path}", json={})
                assert (refused.status_code, refused.json()["code"]) == (403, "read-only"), path
            assert client.post("/api/login", json={"token": "x" * 20}).status_code == 204
            for path in ("/sample/visuals", "/sample/heat-maps"):
                answer = asked.get("digits", path, sample="training/12")
                assert (answer.status_code, answer.json()["code"]) == (403, "read-only")
            told = asked.data("digits", "/model")
            assert (told["format"], told["layers"], told["files"][0]["name"]) == ("onnx", [], "model.onnx")
            assert any("read-only" in note for note in told["notes"])
            assert len(asked.data("digits", "/sample/similar", sample="training/12", count=4)["similar"]) == 4
    finally:
        studio.close()
    assert not (folder / "digits" / "imported").exists()
