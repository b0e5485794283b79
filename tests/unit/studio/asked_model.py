"""Runs of small bindings with the examples' models, whose code can be told to misbehave by a file beside it."""

from __future__ import annotations

from pathlib import Path
from shutil import copy

import numpy as np
from sklearn.datasets import load_digits

from cutaway.dataset import load_entry
from cutaway.evaluation import evaluate

EXAMPLES = Path(__file__).parents[3] / "examples"
SECRET_LINE = "the binding speaks"

_FAULTS = '''
import os, sys, time
from pathlib import Path
import numpy as np

HERE = Path(__file__).parent


def misbehave(where):
    """Do what the file `fault` says: `<where> <what>`."""
    told = HERE / "fault"
    asked = told.read_text().split() if told.exists() else ["", ""]
    if asked[0] != where:
        return
    if asked[1] == "raise":
        raise ValueError("this sample is broken")
    if asked[1] == "print":
        print("the binding speaks")
    if asked[1] == "hang":
        time.sleep(600)
    if asked[1] == "exit":
        print("last words", file=sys.stderr, flush=True)
        os._exit(7)


with (HERE / "imported").open("a") as file:
    file.write("again\\n")
misbehave("import")
'''

DIGITS = (
    _FAULTS
    + """
from cutaway.dataset import (
    DatasetMetadataType, DataStateType, LeapDataType, LeapHorizontalBar, LeapImage, LeapText, PreprocessResponse,
    leap_binder, tensorleap_custom_visualizer, tensorleap_gt_encoder, tensorleap_input_encoder, tensorleap_metadata,
    tensorleap_preprocess,
)

LABELS = [str(one) for one in range(10)]


@tensorleap_preprocess()
def preprocess():
    held = np.load(HERE / "digits.npz")
    parts = {DataStateType.training: slice(0, 90), DataStateType.validation: slice(90, 130)}
    found = []
    for state, part in parts.items():
        data = {"x": held["x"][part], "y": held["y"][part]}
        found.append(PreprocessResponse(length=len(data["y"]), data=data, state=state))
    return found


@tensorleap_input_encoder("image", channel_dim=-1)
def image(index, subset):
    if index == 7 and subset.state == DataStateType.validation:
        raise ValueError("number seven is torn")
    misbehave("encode")
    return subset.data["x"][index]


@tensorleap_gt_encoder("digit")
def digit(index, subset):
    return np.eye(10, dtype=np.float32)[subset.data["y"][index]]


@tensorleap_metadata("brightness", DatasetMetadataType.float)
def brightness(index, subset):
    return float(subset.data["x"][index].mean())


@tensorleap_metadata("name", DatasetMetadataType.string)
def name(index, subset):
    return f"<b>{index}</b>"


@tensorleap_custom_visualizer("large", LeapDataType.Image)
def large(image):
    misbehave("draw")
    return LeapImage(np.kron(image * 255, np.ones((4, 4, 1))).astype(np.uint8))


@tensorleap_custom_visualizer("answer", LeapDataType.HorizontalBar)
def answer(prediction, digit):
    return LeapHorizontalBar(prediction.astype(np.float32), LABELS, digit.astype(np.float32))


leap_binder.add_prediction("prediction", LABELS)
"""
)

TEXT = (
    _FAULTS
    + """
from cutaway.dataset import (
    DataStateType, LeapDataType, LeapText, PreprocessResponse, leap_binder, tensorleap_custom_visualizer,
    tensorleap_gt_encoder, tensorleap_preprocess,
)


@tensorleap_preprocess()
def preprocess():
    words = np.random.default_rng(0).integers(2, 60, (40, 32))
    parts = {DataStateType.training: words[:30], DataStateType.validation: words[30:]}
    return [PreprocessResponse(length=len(part), data=part, state=state) for state, part in parts.items()]


def tokens(index, subset):
    return subset.data[index].astype(np.int64)


leap_binder.set_input(tokens, "tokens")


@tensorleap_gt_encoder("package")
def package(index, subset):
    return np.eye(3, dtype=np.float32)[index % 3]


@tensorleap_custom_visualizer("sentence", LeapDataType.Text)
def sentence(tokens):
    return LeapText([f"word{one}" for one in tokens])


leap_binder.add_prediction("prediction", ["scipy", "sklearn", "torch"])
"""
)


def digits_run(folder: Path, run: Path) -> Path:
    """Evaluate the digits with a binding in `folder`, into a run."""
    folder.mkdir(parents=True)
    held = load_digits()
    images = (held.images[:130, :, :, None] / 16).astype(np.float32)
    np.savez(folder / "digits.npz", x=images, y=held.target[:130])
    return _evaluated(folder, run, DIGITS, "bind_digits")


def text_run(folder: Path, run: Path) -> Path:
    """Evaluate a text of made-up words."""
    folder.mkdir(parents=True)
    return _evaluated(folder, run, TEXT, "bind_text")


def _evaluated(folder: Path, run: Path, binding: str, example: str) -> Path:
    (folder / "leap_binder.py").write_text(binding)
    copy(EXAMPLES / example / "model.onnx", folder / "model.onnx")
    evaluate(load_entry(folder / "leap_binder.py").dataset(), folder / "model.onnx", run)
    (folder / "imported").unlink()
    return run
