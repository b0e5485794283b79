"""Every analysis keeps the contract, and one of another package stands beside ours."""

import sys
from pathlib import Path

import numpy as np
import pytest

from cutaway import registry
from cutaway.analysis import Population, analyze
from cutaway.analysis.population.applicability import analyses
from cutaway.analysis.population.whole import figures_of_part

TOY = """
import pyarrow as pa
from cutaway.analysis import Analysis, AnalysisResult

class Norms(Analysis):
    name = "norms"

    def why_not(self, samples, origin):
        return "" if len(samples) else "there are no samples"

    def make(self, population, seed, progress):
        norms = (population.samples.latents ** 2).sum(axis=1)
        return AnalysisResult(self.name, ("lengths of the vectors",), {self.name: pa.table({"norm": norms})})
"""


def test_each_is_registered_under_its_name() -> None:
    assert [one.name for one in analyses()] == list(registry.BUILT_IN["analyses"])


def test_one_of_another_package_stands_beside_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "toy_norms.py").write_text(TOY)
    about = tmp_path / "toy_norms-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: toy_norms\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[cutaway.analyses]\nnorms = toy_norms:Norms\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "toy_norms", raising=False)
    population = Population.from_arrays(np.ones((3, 2)))
    assert population.applies()[-1].analysis == "norms"
    (part,) = analyze(population, only="norms")
    assert part.tables["norms"]["norm"].to_pylist() == [2.0, 2.0, 2.0]
    assert figures_of_part(population, part) == {}
