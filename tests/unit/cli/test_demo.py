import json
import sys
from collections.abc import Callable

import pytest

from cutaway.cli.demo import Cost
from cutaway.errors import MissingExtraError

Cutaway = Callable[..., tuple[int, str, str]]


def test_the_cost_is_the_ratio_of_medians_and_its_noise_that_of_equal_epochs() -> None:
    cost = Cost.of([(1.0, 1.2, 1.1), (1.0, 1.3, 1.0), (1.0, 9.0, 0.9)])
    assert cost is not None
    assert (cost.watched_seconds, cost.bare_seconds, cost.triples) == (1.3, 1.0, 3)
    assert cost.noise == pytest.approx(1 - 1 / 1.1)
    assert Cost.of([]) is None


@pytest.mark.parametrize("epochs", ["0", "-3"])
def test_no_epoch_is_refused(epochs: str, cutaway: Cutaway) -> None:
    code, _, err = cutaway("demo", "--epochs", epochs)
    assert code == 2
    assert f"`--epochs >= 1` must hold, but got --epochs {epochs}." in err


@pytest.mark.parametrize("missing", ["torch", "sklearn.datasets"])
def test_a_missing_package_is_named_with_the_line_that_installs_it(
    missing: str, cutaway: Cutaway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    code, out, err = cutaway("demo", "--json")
    assert code == 2
    assert "pip install 'cutaway[demo]'" in err
    assert json.loads(out)["code"] == MissingExtraError.__name__
