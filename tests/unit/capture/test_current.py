"""The one process-wide current hook and its collections."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest

from cutaway.capture import current
from cutaway.errors import RunExists
from cutaway.tensors.save_config import SaveConfig


def test_before_a_hook_exists_collections_are_those_of_the_next(tmp_path: Path, array_hook: type) -> None:
    current.get_collection("mine").include("x")
    with array_hook(tmp_path / "run", include_collections=["mine"]) as hook:
        assert hook.get_collection("mine").include_regex == ["x"]
        assert current.get_collection("mine") is hook.get_collection("mine")
    assert "mine" not in current.get_collections()


def test_names_go_to_the_collection_that_they_are_added_to() -> None:
    current.add_to_collection("mine", "a")
    current.add_to_default_collection("b")
    assert current.get_collection("mine").tensor_names == {"a"}
    assert current.get_collection("default").tensor_names == {"b"}
    current.reset_collections()
    assert current.get_collection("default").tensor_names == set()


def test_the_newest_hook_is_the_current_one(tmp_path: Path, array_hook: type) -> None:
    one = array_hook(tmp_path / "one")
    two = array_hook(tmp_path / "two")
    assert current.get_hook() is two
    assert one.collections is not two.collections
    assert set(current.live_hooks()) == {one, two}
    one.close()
    assert current.get_hook() is two
    current.del_hook()
    assert current.get_hook() is None
    assert current.live_hooks() == []


@pytest.mark.parametrize("steps", [0, 3])
def test_a_cell_that_is_run_again_after_its_training_failed_has_its_collections(
    tmp_path: Path, array_hook: type, steps: int
) -> None:
    def cell(path: Path) -> None:
        current.get_collection("mine").include("relu")
        current.get_collection("mine").save_config = {"save_interval": 7}
        current.add_to_collection("mine", "extra")
        hook = array_hook(path, include_collections=["mine"])
        for _ in range(steps):
            hook.take(x=[1.0])
        raise ValueError("the training failed")

    for number in range(3):
        with pytest.raises(ValueError, match="the training failed"):
            cell(tmp_path / f"run-{number}")
        hook = current.get_hook()
        assert hook is not None
        mine = hook.collections.get("mine")
        assert (mine.include_regex, mine.tensor_names) == (["relu"], {"extra"})
        assert mine.save_config == SaveConfig(save_interval=7)


def test_a_hook_whose_capture_failed_keeps_nothing_from_the_next(tmp_path: Path, array_hook: type) -> None:
    failed = array_hook(tmp_path / "failed")
    failed.take(x=[1.0])
    failed.fail(OSError("gone"), "a test")
    current.get_collection("mine").include("relu")
    healthy = array_hook(tmp_path / "healthy", include_collections=["mine"])
    assert healthy.get_collection("mine").include_regex == ["relu"]


def test_what_a_hook_was_given_before_its_first_step_is_its_own(tmp_path: Path, array_hook: type) -> None:
    one = array_hook(tmp_path / "one")
    current.get_collection("weights").save_config = {"save_interval": 5}
    one.take(x=[1.0])
    two = array_hook(tmp_path / "two")
    assert one.get_collection("weights").save_config is not None
    assert two.get_collection("weights").save_config is None


def test_a_hook_that_could_not_be_made_is_never_the_current_one(tmp_path: Path, array_hook: type) -> None:
    one = array_hook(tmp_path / "one")
    with pytest.raises(RunExists) as kept:
        array_hook(tmp_path / "one")
    assert current.get_hook() is one
    assert current.live_hooks() == [one]
    assert kept.value.path == str(tmp_path / "one")


def test_an_open_hook_is_kept_alive_until_it_is_closed(tmp_path: Path, array_hook: type) -> None:
    array_hook(tmp_path / "run")
    gc.collect()
    hook = current.get_hook()
    assert hook is not None
    hook.close()


def test_what_is_prepared_while_a_hook_lives_is_for_the_next(tmp_path: Path, array_hook: type) -> None:
    one = array_hook(tmp_path / "one")
    current.prepare().get("mine").include("x")
    assert "mine" not in one.get_collections()
    two = array_hook(tmp_path / "two", include_collections=["mine"])
    assert two.get_collection("mine").include_regex == ["x"]


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_in_a_forked_child_there_is_no_hook(tmp_path: Path, array_hook: type) -> None:
    hook = array_hook(tmp_path / "run")
    child = os.fork()
    if child == 0:
        os._exit(0 if current.get_hook() is None and not hook.active and not current.live_hooks() else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert current.get_hook() is hook
    assert hook.active
