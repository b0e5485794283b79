"""What is systematically wrong, which labels are likely wrong, what was decided, and the tests of a run."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query

from cutaway.studio.answers.paging import Limit, Offset
from cutaway.studio.insights.deciding import decide as keep_decision
from cutaway.studio.insights.rows import insights_of
from cutaway.studio.insights.slice_testing import add_test as keep_test
from cutaway.studio.insights.slice_testing import drop_test as remove_test
from cutaway.studio.insights.slice_testing import results_of, results_on_runs
from cutaway.studio.insights.suggestions import suggestions_of
from cutaway.studio.routes.population import EvaluationNumber
from cutaway.studio.routes.runs import RunId
from cutaway.studio.the_studio import TheStudio
from cutaway.studio.wire.base import Data
from cutaway.studio.wire.insights import InsightsAnswer, NewTest, Suggestions, TestRow, TestsOfRun, TestsTable
from cutaway.studio.wire.sample import DecisionRow, NewDecision

__all__ = ["router"]

router = APIRouter(tags=["insights"])


@router.get("/runs/{run}/insights")
def list_insights(studio: TheStudio, run: RunId, evaluation: EvaluationNumber = None) -> Data[InsightsAnswer]:
    """Return what is systematically wrong, the gravest first."""
    return Data(data=insights_of(studio.populations.of(run, evaluation)))


@router.get("/runs/{run}/suggestions")
def list_suggestions(
    studio: TheStudio,
    *,
    run: RunId,
    evaluation: EvaluationNumber = None,
    decided: Annotated[Literal["open", "decided", "all"], Query()] = "all",
    offset: Offset = 0,
    limit: Limit = 100,
) -> Suggestions:
    """Return the samples whose label is likely wrong, the likeliest first."""
    return suggestions_of(studio.populations.of(run, evaluation), studio.previews, decided, offset, limit)


@router.post("/runs/{run}/decisions")
def decide(studio: TheStudio, run: RunId, decision: NewDecision) -> Data[DecisionRow]:
    """Accept or reject the correction of a label, or take that back; the data themselves are never touched."""
    return Data(data=keep_decision(studio.populations.of(run, decision.evaluation), decision))


@router.get("/runs/{run}/tests")
def list_tests(studio: TheStudio, run: RunId, evaluation: EvaluationNumber = None) -> Data[TestsOfRun]:
    """Return the tests of a run and what becomes of them on an evaluation."""
    opened = studio.index.run_of(run)
    return Data(data=results_of(opened, run, studio.populations.of_run(opened, evaluation)))


@router.post("/runs/{run}/tests", status_code=201)
def add_test(studio: TheStudio, run: RunId, test: NewTest) -> Data[TestRow]:
    """Add a test to the run; one of the same name is replaced."""
    return Data(data=keep_test(studio.populations.of(run), test))


@router.delete("/runs/{run}/tests", status_code=204)
def drop_test(studio: TheStudio, run: RunId, name: Annotated[str, Query(max_length=2000)]) -> None:
    """Remove a test, by its name or its line."""
    remove_test(studio.index.run_of(run), name)


@router.get("/tests")
def tests_by_run(
    studio: TheStudio,
    run: Annotated[list[str], Query(min_length=1, max_length=20, description="Runs; the first one's tests are meant.")],
) -> Data[TestsTable]:
    """Return the tests of one run as several runs do on them."""
    return Data(data=results_on_runs(studio.populations, [(one, studio.index.run_of(one)) for one in run]))
