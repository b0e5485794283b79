"""A model in a process of its own: the contract of every backend, deadlines, deaths, and what is left behind."""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from cutaway.errors import AnalysisUnavailable, ModelCrashed, ModelError, ModelTimeout, UnsafeModel
from cutaway.models import Limits
from cutaway.models.backend import Arrays, Question
from cutaway.models.child import ChildBackend
from cutaway.testing.models import BackendContract
from tests.toy_format import ToyBackend

Write = Callable[..., Path]
Open = Callable[..., ChildBackend]


@pytest.fixture
def opened(toy: Write) -> Iterator[Open]:
    """Open a toy model that does something in its process."""
    models = []

    def opened(limits: Limits | None = None, **does: object) -> ChildBackend:
        models.append(ChildBackend(toy(**does), "toy", limits or Limits(seconds=20)))
        return models[-1]

    yield opened
    for model in models:
        model.close()


class TestAModelInAProcessOfItsOwn(BackendContract):
    @pytest.fixture
    def backend(self, opened: Open) -> ChildBackend:
        return opened()

    @pytest.fixture
    def batch(self, batch: Arrays) -> Arrays:
        return batch


def is_gone(pid: int) -> bool:
    for _ in range(100):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


def pid_of(model: ChildBackend) -> int:
    assert model._child is not None
    return model._child._process.pid


def test_answers_are_those_of_the_model_in_process_bit_for_bit(opened: Open, batch: Arrays) -> None:
    here, there = ToyBackend({}), opened()
    assert np.array_equal(here.predict(batch)["scores"], there.predict(batch)["scores"])
    question = Question("scores", "x", loss="MeanSquaredError", labels=np.ones((6, 3), np.float32))
    assert np.array_equal(here.gradient(batch, question).gradient, there.gradient(batch, question).gradient)
    wanted = here.description
    assert there.description.layers == wanted.layers
    assert (there.description.inputs, there.description.training) == (wanted.inputs, wanted.training)


def test_empty_batches_and_growing_ones_pass(opened: Open) -> None:
    model = opened()
    for rows in (0, 1, 50_000, 2):
        values = np.full((rows, 4), rows, np.float32)
        assert np.array_equal(model.predict({"x": values})["scores"], ToyBackend({}).predict({"x": values})["scores"])


def test_a_call_past_its_deadline_is_stopped_and_the_next_one_starts_again(opened: Open, batch: Arrays) -> None:
    model = opened(Limits(seconds=0.5), predict="sleep", **{"with": 60})
    pid = pid_of(model)
    with pytest.raises(ModelTimeout, match=r"did not predict within 0\.5 s.*`Limits\(seconds="):
        model.predict(batch)
    assert is_gone(pid)
    assert model.activations(batch, ["hidden"])["hidden"].shape == (6, 5)
    assert pid_of(model) != pid


def test_native_code_that_keeps_the_lock_of_python_is_stopped_too(opened: Open, batch: Arrays) -> None:
    model = opened(Limits(seconds=0.5), predict="native loop")
    with pytest.raises(ModelTimeout):
        model.predict(batch)


def test_opening_has_a_deadline_of_its_own(opened: Open) -> None:
    with pytest.raises(ModelTimeout, match=r"did not open within 3 s.*`Limits\(load_seconds="):
        opened(Limits(load_seconds=3), open="sleep", **{"with": 60})


@pytest.mark.parametrize(
    ("deed", "argument", "words"),
    [
        ("segfault", None, r"segmentation fault in native code \(SIGSEGV\).*printed last:(?s:.*)predict"),
        ("kill", None, r"somebody killed it, or the system"),
        ("hard exit", 7, r"exit status 7"),
        ("close all", None, r"closed its connection and was stopped"),
    ],
)
def test_a_process_that_dies_is_told_in_words(
    opened: Open, batch: Arrays, deed: str, argument: object, words: str
) -> None:
    model = opened(predict=deed, **{"with": argument})
    with pytest.raises(ModelCrashed, match=words):
        model.predict(batch)
    assert model.activations(batch, ["scores"])["scores"].shape == (6, 3)


def test_a_model_that_dies_at_each_call_is_not_started_for_ever(opened: Open, batch: Arrays) -> None:
    model = opened(predict="hard exit", **{"with": 1})
    for _ in range(3):
        with pytest.raises(ModelCrashed, match="exit status 1"):
            model.predict(batch)
    with pytest.raises(ModelCrashed, match="3 calls in a row ended it"):
        model.predict(batch)


def test_a_file_that_changed_is_not_opened_again(opened: Open, toy: Write, batch: Arrays) -> None:
    model = opened(predict="hard exit", **{"with": 1})
    with pytest.raises(ModelCrashed):
        model.predict(batch)
    toy(predict="another")
    with pytest.raises(ModelError, match="changed since it was loaded"):
        model.predict(batch)


def test_memory_above_the_limit_is_an_error_and_the_process_lives(opened: Open, batch: Arrays) -> None:
    model = opened(Limits(memory_mb=300), predict="allocate", **{"with": 10_000})
    pid = pid_of(model)
    with pytest.raises(
        ModelError, match=r"ran out of memory: Unable to allocate .* 300 MB; `Limits\(memory_mb="
    ) as caught:
        model.predict(batch)
    assert type(caught.value) is ModelError
    assert pid_of(model) == pid
    assert opened(Limits(memory_mb=300), predict="allocate", **{"with": 50}).predict(batch)["scores"][0, 0] == 1


def test_an_answer_above_the_limit_is_refused(opened: Open) -> None:
    model = opened(Limits(memory_mb=150), widths=(1, 1, 10_000))
    assert model.predict({"x": np.ones((10, 1), np.float32)})["scores"].shape == (10, 10_000)
    with pytest.raises(ModelError, match=r"memory"):
        model.predict({"x": np.ones((5_000, 1), np.float32)})


def test_errors_of_ours_keep_their_class_and_those_of_others_become_model_errors(opened: Open, batch: Arrays) -> None:
    with pytest.raises(UnsafeModel, match="is refused: it says so itself") as caught:
        opened(unsafe=True)
    assert caught.value.reason == "it says so itself."
    with pytest.raises(ModelError, match="RuntimeError: a reason") as other:
        opened(predict="raise", **{"with": "a reason"}).predict(batch)
    assert type(other.value) is ModelError
    with pytest.raises(ModelError, match=r"called `sys\.exit\(5\)`"):
        opened(open="exit", **{"with": 5})


def test_a_gigabyte_of_prints_neither_blocks_nor_piles_up(opened: Open, batch: Arrays) -> None:
    model = opened(Limits(seconds=60), predict="print", **{"with": 1024})
    assert model.predict(batch)["scores"].shape == (6, 3)
    assert model._child is not None
    assert len(model._child._process.printed) <= 16 * 1024
    assert b"the last line" in model._child._process.printed


def test_arrays_that_have_no_place_in_an_answer_are_said(opened: Open, batch: Arrays) -> None:
    assert opened(predict="odd", **{"with": "object"}).predict(batch)["scores"][0].tolist() == ["a", "b", "a"]
    with pytest.raises(ModelError, match=r"'scores' is of datetime64\[D\]"):
        opened(predict="odd", **{"with": "datetime"}).predict(batch)


def lie(**changes: object) -> list[dict[str, object]]:
    return [{"name": "scores", "dtype": "float32", "shape": [6, 3], "at": 0, **changes}]


@pytest.mark.parametrize(
    ("deed", "argument"),
    [
        ("lie", None),
        ("lie", []),
        ("lie", lie(name="other")),
        ("lie", [*lie(), *lie(name="other")]),
        ("lie", lie(shape=[10**9, 10**9])),
        ("lie", lie(at=10**12)),
        ("lie", lie(dtype="object")),
        ("babble", "\xff" * 100),
        ("babble", "\x02\x00\x00\x00[]"),
        ("babble", "\x04\x00\x00\x00nope"),
    ],
)
def test_an_answer_that_cannot_be_right_ends_the_process(
    opened: Open, batch: Arrays, deed: str, argument: object
) -> None:
    model = opened(predict=deed, **{"with": argument})
    pid = pid_of(model)
    with pytest.raises(ModelCrashed, match="its answer cannot be right, so it was stopped"):
        model.predict(batch)
    assert is_gone(pid)


def test_a_lie_about_the_model_itself_is_refused(opened: Open) -> None:
    with pytest.raises(ModelCrashed, match="cannot be right"):
        opened(open="babble", **{"with": '\x24\x00\x00\x00{"ok": true, "description": {"a": 1}}'})


def test_a_batch_that_cannot_cross_is_said_before_anybody_is_asked(opened: Open) -> None:
    model = opened()
    with pytest.raises(ModelError, match=r"cannot be handed to the process of the model: 'batch/x' is of datetime64"):
        model.predict({"x": np.array(["2026-11-15"], "datetime64[D]")})
    assert model.predict({"x": np.ones((1, 4), np.float32)})["scores"].shape == (1, 3)


def test_the_number_of_threads_reaches_the_framework(opened: Open) -> None:
    assert opened(Limits(threads=1)).description.about["threads"] == "1"


def test_what_lies_in_the_current_folder_is_not_imported(
    opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch: Arrays
) -> None:
    (tmp_path / "numpy.py").write_text("raise SystemExit('imported by accident')")
    monkeypatch.chdir(tmp_path)
    model = opened()
    assert model.predict(batch)["scores"].shape == (6, 3)
    scratch = Path(model.description.about["cwd"])
    assert scratch.is_dir()
    model.close()
    assert not scratch.exists()


def test_closing_ends_the_process_and_a_later_call_says_so(opened: Open, batch: Arrays) -> None:
    model = opened()
    pid = pid_of(model)
    model.close()
    model.close()
    assert is_gone(pid)
    with pytest.raises(ModelError, match="is closed"):
        model.predict(batch)


def test_a_model_that_nobody_holds_takes_its_process_with_it(toy: Write) -> None:
    # Neither what earlier tests left behind nor what their threads close meanwhile is its own.
    gc.collect()
    before = open_files()
    model = ChildBackend(toy(), "toy", Limits())
    pid, own = pid_of(model), open_files() - before
    assert len(own) >= 6
    del model
    gc.collect()
    assert is_gone(pid)
    assert not own & open_files()


def open_files() -> set[tuple[str, str]]:
    """Return each open file of this process: its number and what it is."""
    found = set()
    for one in Path("/proc/self/fd").iterdir():
        # The folder that is being listed is gone by now.
        with contextlib.suppress(FileNotFoundError):
            found.add((one.name, str(one.readlink())))
    return {(number, file) for number, file in found if not file.endswith("/fd")}


def test_closing_from_another_thread_ends_a_call_that_waits(opened: Open, batch: Arrays) -> None:
    model = opened(Limits(seconds=60), predict="sleep", **{"with": 60})
    threading.Timer(0.3, model.close).start()
    with pytest.raises(ModelCrashed):
        model.predict(batch)


def test_threads_share_a_model(opened: Open) -> None:
    model, here, wrong = opened(), ToyBackend({}), []

    def ask(seed: int) -> None:
        for i in range(20):
            values = {"x": np.random.default_rng([seed, i]).normal(size=(seed + 1, 4)).astype(np.float32)}
            if not np.array_equal(model.predict(values)["scores"], here.predict(values)["scores"]):
                wrong.append((seed, i))

    threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_many_models_live_side_by_side(toy: Write, batch: Arrays) -> None:
    models = [ChildBackend(toy(), "toy", Limits()) for _ in range(4)]
    assert len({pid_of(model) for model in models}) == 4
    models[1]._child.kill()
    with pytest.raises(ModelCrashed):
        models[1].predict(batch)
    for model in (models[0], models[2], models[3]):
        assert model.predict(batch)["scores"].shape == (6, 3)
    for model in models:
        model.close()


def test_a_fork_of_the_parent_is_told_to_load_its_own(opened: Open, batch: Arrays) -> None:
    model = opened()
    pipe, theirs = multiprocessing.Pipe()
    pid = os.fork()
    if pid == 0:
        try:
            model.predict(batch)
            theirs.send("answered")
        except ModelError as error:
            theirs.send(str(error))
        finally:
            model.close()
            os._exit(0)
    os.waitpid(pid, 0)
    assert "before the process was forked" in pipe.recv()
    assert model.predict(batch)["scores"].shape == (6, 3)


@pytest.mark.parametrize("deed", ["sleep", "native loop"])
def test_the_process_ends_with_its_parent_whatever_it_does(toy: Write, deed: str) -> None:
    path = toy(predict=deed, **{"with": 60})
    script = (
        "import sys, threading, numpy as np\n"
        "from pathlib import Path\n"
        "from cutaway.models import Limits\n"
        "from cutaway.models.child import ChildBackend\n"
        f"model = ChildBackend(Path({str(path)!r}), 'toy', Limits())\n"
        "print(model._child._process.pid, flush=True)\n"
        "model.predict({'x': np.ones((1, 4), np.float32)})\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    time.sleep(0.2)
    assert Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    parent.kill()
    parent.wait()
    parent.stdout.close()
    assert is_gone(child)


def test_an_interrupted_call_does_not_answer_the_next(
    opened: Open, batch: Arrays, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = opened()
    other = {"x": batch["x"][:2]}
    model.predict(batch)

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("cutaway.engine.supervised.read_message", interrupt)
        with pytest.raises(KeyboardInterrupt):
            model.predict(batch)
    assert model.predict(other)["scores"].shape == (2, 3)


def test_random_weights_live_in_the_same_process_and_come_back_when_it_had_to_be_started_again(
    opened: Open, batch: Arrays
) -> None:
    model = opened()
    pid = pid_of(model)
    other = model.with_random_weights(5)
    random = other.predict(batch)["scores"]
    assert pid_of(model) == pid
    assert np.array_equal(random, ToyBackend({}).with_random_weights(5).predict(batch)["scores"])
    os.kill(pid, 9)
    with pytest.raises(ModelCrashed):
        other.predict(batch)
    assert np.array_equal(other.predict(batch)["scores"], random)
    assert pid_of(model) != pid
    other.close()
    other.close()
    with pytest.raises(ModelError, match="with random weights is closed"):
        other.predict(batch)
    assert np.array_equal(model.predict(batch)["scores"], ToyBackend({}).predict(batch)["scores"])


def test_a_model_whose_weights_cannot_be_drawn_anew_says_so_and_lives_on(opened: Open, batch: Arrays) -> None:
    model = opened(fixed=True)
    pid = pid_of(model)
    with pytest.raises(AnalysisUnavailable, match="No randomised weights: the file says so") as caught:
        model.with_random_weights(0)
    assert caught.value.reason == "the file says so."
    model.predict(batch)
    assert pid_of(model) == pid
