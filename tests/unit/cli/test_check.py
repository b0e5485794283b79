"""`cutaway check`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

Cutaway = Callable[..., tuple[int, str, str]]

BINDING = """
import numpy as np
from cutaway.dataset import PreprocessResponse, tensorleap_gt_encoder, tensorleap_input_encoder, tensorleap_metadata
from cutaway.dataset import tensorleap_preprocess

print("loading")

@tensorleap_preprocess()
def preprocess():
    return [PreprocessResponse(length=30, data=seed) for seed in (0, 1)]

@tensorleap_input_encoder("signal")
def signal(index, subset):
    return np.random.default_rng([subset.data, index]).random(4).astype(np.float32)

@tensorleap_gt_encoder("kind")
def kind(index, subset):
    return np.eye(2, dtype=np.float32)[index % 2]

@tensorleap_metadata("number")
def number(index, subset):
    return index
"""
RAISES = "    return np.random", "    open('missing.csv')\n    return np.random"


@pytest.fixture
def binding(home: Path) -> Path:
    path = home / "leap_binder.py"
    path.write_text(BINDING, encoding="utf-8")
    return path


def breaking(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_a_healthy_binding_has_a_table_and_a_next_command(binding: Path, cutaway: Cutaway) -> None:
    code, out, err = cutaway("check", columns=140)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "leap_binder.py  training 30, validation 30; looked at 32 samples"
    assert lines[1].split() == ["function", "kind", "status", "shape", "dtype", "a", "sample", "100k", "about"]
    rows = {line.split()[0]: line for line in lines[2:8]}
    assert rows["signal"].split()[1:5] == ["input", "pass", "(4,)", "float32"]
    assert rows["kind"].split()[1:4] == ["ground", "truth", "pass"]
    assert rows["split"].endswith("all 60 samples compared")
    assert "Binding is valid: 5 passed, 1 skipped." in out
    assert lines[-1] == "Next: cutaway check . --model PATH"


def test_a_failure_has_place_line_reason_and_fix_and_ends_with_1(binding: Path, cutaway: Cutaway) -> None:
    breaking(binding, *RAISES)
    code, out, _ = cutaway("check", "leap_binder.py")
    assert code == 1
    said = out[out.index("Failures") :]
    assert "binding-raises  leap_binder.py:14: Input 'signal' failed for 'training/0': FileNotFoundError" in said
    assert "open('missing.csv')" in said
    assert "-> Repair that line" in said
    assert "Binding is not valid: 1 failed" in out
    assert "Next: repair binding-raises, then `cutaway check leap_binder.py`" in out


def test_a_warning_is_no_failure(binding: Path, cutaway: Cutaway) -> None:
    same = '@tensorleap_input_encoder("same")\ndef same(index, subset):\n    return np.arange(8, dtype=np.float32)\n\n'
    breaking(binding, '@tensorleap_gt_encoder("kind")', same + '@tensorleap_gt_encoder("kind")')
    code, out, _ = cutaway("check")
    assert code == 0
    assert "Binding is valid" in out
    assert "1 warning" in out
    told = json.loads(cutaway("check", "--json")[1])
    # Beside it stands that no model was given.
    assert (told["valid"], [one["severity"] for one in told["findings"]]) == (True, ["warning", "info"])


def test_no_line_is_wider_than_the_terminal(binding: Path, cutaway: Cutaway) -> None:
    breaking(binding, *RAISES)
    for columns in (60, 80, 100, 200):
        _, out, _ = cutaway("check", columns=columns)
        assert max(map(len, out.splitlines())) <= columns


def test_json_is_one_object_with_everything(binding: Path, cutaway: Cutaway) -> None:
    breaking(binding, *RAISES)
    code, out, _ = cutaway("check", "--json")
    told = json.loads(out)
    assert code == 1
    assert (told["valid"], told["entry"], told["prints"]) == (False, str(binding.resolve()), "loading\n")
    assert told["subsets"] == {"training": 30, "validation": 30}
    [failure] = [one for one in told["findings"] if one["severity"] == "error"]
    assert failure["where"] == {
        "function": "signal",
        "kind": "input",
        "subset": "training",
        "sample": "training/0",
        "place": f"{binding.resolve()}:14",
    }
    assert failure["evidence"]["failed"] == 32


def test_prints_are_counted_and_shown_when_asked_for(binding: Path, cutaway: Cutaway) -> None:
    _, out, _ = cutaway("check")
    assert "The binding printed 1 line; --prints shows them." in out
    _, out, _ = cutaway("check", "--prints")
    assert "Printed by the binding  1 line\n  loading\n" in out


def test_options_reach_the_check(binding: Path, cutaway: Cutaway) -> None:
    _, out, _ = cutaway("check", "--samples", "3", "--scan", "0", "--seed", "4", "--timeout", "2")
    assert "looked at 6 samples" in out
    breaking(binding, "    return index", "    import time\n    time.sleep(20)")
    _, out, _ = cutaway("check", "--timeout", "0.1")
    assert "binding-timeout" in out
    assert "had not returned after 0.1 s" in out


def test_a_folder_without_a_binding_is_the_first_diagnosis(home: Path, cutaway: Cutaway) -> None:
    code, out, _ = cutaway("check")
    assert code == 1
    assert "binding-entry" in out
    assert "Binding is not valid: 1 failed, 1 skipped." in out


def test_a_model_that_is_not_there_is_told_after_the_binding_was_checked(binding: Path, cutaway: Cutaway) -> None:
    code, out, _ = cutaway("check", "--model", "nowhere.onnx")
    assert code == 1
    assert "model-missing" in out
    assert "nowhere.onnx" in out
    assert "Next: repair model-missing, then `cutaway check . --model nowhere.onnx`" in out


@pytest.mark.parametrize("words", [("--samples", "0"), ("--timeout", "0"), ("--scan", "-1"), ("--samples", "many")])
def test_a_wrong_option_ends_with_2(binding: Path, cutaway: Cutaway, words: tuple[str, str]) -> None:
    code, _, err = cutaway("check", *words)
    assert code == 2
    assert words[0] in err


def test_a_binding_cannot_steer_the_terminal(binding: Path, cutaway: Cutaway) -> None:
    breaking(
        binding,
        *(
            RAISES[0],
            dedent("""\
        raise ValueError("\\x1b[2J\\x1b[31mgone")
        return np.random""")
            .replace("raise", "    raise")
            .replace("return", "    return"),
        ),
    )
    _, out, _ = cutaway("check")
    assert "\x1b" not in out
    assert "gone" in out
