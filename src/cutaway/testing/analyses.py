"""For people who write an analysis: the tests that every analysis must pass.

Subclass `AnalysisContract` and give it the analysis; pytest checks the rest:

    class TestNorms(AnalysisContract):
        analysis = Norms
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pytest

from cutaway.analysis import Analysis, AnalysisResult, Population
from cutaway.analysis.population.applicability import analysis_named
from cutaway.analysis.population.names import command_name, file_name
from cutaway.analysis.population.options import options_of, with_options
from cutaway.analysis.population.whole import answer, figures_of_part
from cutaway.errors import AnalysisUnavailable, ConfigurationError, CutawayError

__all__ = ["AnalysisContract"]


class AnalysisContract:
    """What holds for every analysis. Give another population where these samples are none that it applies to."""

    analysis: ClassVar[type[Analysis]]
    # What it is asked with by `cutaway analyze RUN NAME`, where it cannot do without.
    asked_with: ClassVar[Mapping[str, Any]] = {}

    def population(self, samples: int = 60) -> Population:
        """Return samples of three classes in two subsets, some of them predicted as another class."""
        rng = np.random.default_rng(0)
        labels = np.arange(samples) % 3
        latents = rng.normal(size=(samples, 4)) + np.eye(3, 4)[labels] * 4
        chances = np.exp(latents[:, :3]) + 1e-3
        columns = {
            "subset": ["training" if row % 3 else "validation" for row in range(samples)],
            "metadata.size": rng.normal(size=samples).tolist(),
        }
        return Population.from_arrays(latents, labels, chances / chances.sum(axis=1, keepdims=True), columns)

    def test_it_is_found_under_its_name(self) -> None:
        """It is registered, and its name is small words: a command and a file are named after it."""
        name = self.analysis.name
        assert re.fullmatch(r"[a-z][a-z0-9]*( [a-z0-9]+)*", name)
        for word in (name, command_name(name), file_name(name)):
            assert type(analysis_named(word)) is self.analysis

    def test_its_options_are_typed_and_say_what_they_do(self) -> None:
        """Each has a type, a default and a sentence; others are refused."""
        declared = options_of(self.analysis.options)
        assert all(option.help.endswith(".") for option in declared)
        with_options(self.analysis.name, self.analysis.options, {})
        with pytest.raises(ConfigurationError, match="no option"):
            with_options(self.analysis.name, self.analysis.options, {"no_such_option": 1})

    def test_why_it_does_not_apply_is_a_sentence(self) -> None:
        """Without samples it says why not, or answers all the same: nothing but our errors comes out of it."""
        empty = self.population(samples=0)
        assert isinstance(self.analysis().why_not(empty.samples, None), str)
        self._part(empty)

    def test_it_makes_its_part(self) -> None:
        """The part bears its name; its first table, too, unless the population keeps what it is made of."""
        part = self._part(self.population())
        if part is not None:
            assert part.analysis == self.analysis.name
            assert all(isinstance(line, str) and line for line in (*part.words, *part.notes))
            if part.tables and not self.analysis.kept_by_population:
                first, *further = part.tables
                assert first == self.analysis.name
                assert set(further) <= set(self.analysis.further)

    def test_the_same_seed_makes_the_same_part(self) -> None:
        """Two populations of the same samples answer alike."""
        first, second = self._part(self.population()), self._part(self.population())
        assert (first is None) == (second is None)
        if first is not None and second is not None:
            assert first.words == second.words
            assert first.tables.keys() == second.tables.keys()
            for name, table in first.tables.items():
                # Not numbers are equal here: a sample that is nowhere is nowhere again.
                np.testing.assert_equal(table.to_pydict(), second.tables[name].to_pydict())

    def test_its_figures_can_be_drawn_or_say_why_not(self) -> None:
        """A figure is made when it is called."""
        population = self.population()
        part = self._part(population)
        if part is not None:
            for draw in figures_of_part(population, part).values():
                with contextlib.suppress(AnalysisUnavailable):
                    assert draw().html()

    def test_it_answers_when_it_is_asked_alone(self) -> None:
        """`cutaway analyze RUN NAME` gets a part whose printed table is there, or one of our errors."""
        with contextlib.suppress(CutawayError):
            part = answer(self.population(), self.analysis.name, self.asked_with)
            assert part.analysis == self.analysis.name
            assert part.shown is None or part.shown in part.tables

    def _part(self, population: Population) -> AnalysisResult | None:
        """Return what it makes where it applies; None where it says why not."""
        if self.analysis().why_not(population.samples, population.origin):
            return None
        with contextlib.suppress(AnalysisUnavailable):
            return self.analysis().make(population, 0, None)
        return None
