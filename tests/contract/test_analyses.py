"""Every analysis of ours keeps the contract that those of other packages keep."""

from collections.abc import Mapping
from typing import Any

import pytest

from cutaway.analysis.population.applicability import analyses
from cutaway.testing.analyses import AnalysisContract

pytest.importorskip("torch")

ASKED_WITH: Mapping[str, Mapping[str, Any]] = {
    "similar": {"sample": ("3",)},
    "curve": {"x": "metadata.size"},
    "clusters": {"method": "kmeans", "count": 3},
    "map": {"method": "pca"},
}

for _one in analyses():
    _name = f"Test{type(_one).__name__}"
    globals()[_name] = type(
        _name, (AnalysisContract,), {"analysis": type(_one), "asked_with": ASKED_WITH.get(_one.name, {})}
    )


def test_each_has_its_tests() -> None:
    there = {value.analysis for name, value in globals().items() if name.startswith("Test")}
    assert there == {type(one) for one in analyses()}
