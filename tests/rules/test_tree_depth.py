"""TreeDepth."""

import numpy as np
import pytest

from cutaway.errors import ConfigurationError
from cutaway.rules.built_in.tree_depth import TreeDepth
from cutaway.testing.rules import RuleContract, ScriptedRun, findings

NAME = "trees/Node"


def grown(*largest: int) -> ScriptedRun:
    run = ScriptedRun()
    for node in largest:
        run.step(tensors={NAME: np.array([0, 1, 2, node])}, save=True)
    return run


class TestTreeDepth(RuleContract):
    rule = TreeDepth

    def sick(self) -> tuple[ScriptedRun, int]:
        return grown(2, 6, 16, 17, 40), 3

    def healthy(self) -> ScriptedRun:
        return grown(2, 6, 14, 16, 16)


def test_its_message_names_node_and_depth() -> None:
    (found,) = findings(TreeDepth(), grown(64))
    assert found.message == (
        "The trees in trees/Node are deep at step 0: the largest node is number 64, which makes a depth of 6, more "
        "than 4."
    )
    assert found.evidence["node"] == 64


@pytest.mark.parametrize(("depth", "fires"), [(5, True), (6, False)])
def test_the_bound_itself_is_allowed(depth: int, fires: bool) -> None:
    assert bool(findings(TreeDepth(depth=depth), grown(64))) is fires


def test_a_tree_of_only_a_root_has_no_depth() -> None:
    run = ScriptedRun()
    run.step(tensors={NAME: np.array([0])}, save=True)
    run.step(tensors={NAME: np.array([], int)}, save=True)
    assert findings(TreeDepth(depth=0), run) == []


def test_a_depth_must_be_a_whole_number() -> None:
    with pytest.raises(ConfigurationError, match="`depth` must be a whole number"):
        TreeDepth(depth="deep")
