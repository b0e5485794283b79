"""`cutaway test`: lines are added, run and removed; the exit code, JSON and JUnit say the same."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pyarrow as pa
import pytest

from cutaway.analysis import Population
from cutaway.cli.test_editing import insight_tests
from tests.unit.analysis.kinds import evaluated_kind
from tests.unit.cli.conftest import Cutaway

pytest.importorskip("torch")

EASY, HARD = "accuracy at least 0", "accuracy at least 1"


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return evaluated_kind("probabilities", tmp_path_factory.mktemp("made") / "animals")[0]


@pytest.fixture
def run(home: Path, evaluated: Path) -> str:
    shutil.copytree(evaluated, home / "runs" / "animals")
    return "animals"


def test_a_line_is_added_run_listed_and_removed(cutaway: Cutaway, run: str, home: Path) -> None:
    code, out, err = cutaway(
        "test", run, "--add", "accuracy where size > 0.1 at least 0 %", "--name", "big", "--why", "because"
    )
    assert (code, err) == (0, "")
    assert "added 1 test" in out
    assert (home / "runs" / run / "tests.yaml").read_text(encoding="utf-8") == (
        "version: 1\ntests:\n- name: big\n  line: accuracy where size > 0.1 at least 0\n  why: because\n"
    )
    code, out, err = cutaway("test", run)
    assert (code, err) == (0, "")
    assert "evaluation 0, 1 test; tests without 'of' look at validation" in out
    assert "1 passed. A test is passed where the value meets the bound." in out
    code, out, _ = cutaway("test", run, "--list")
    assert code == 0
    assert "big   accuracy where size > 0.1 at least 0  because" in out
    assert json.loads(cutaway("test", run, "--list", "--json")[1])["tests"][0]["name"] == "big"
    code, out, _ = cutaway("test", run, "--remove", "big", "--json")
    assert (code, json.loads(out)["tests"]) == (0, 0)
    assert cutaway("test", run)[0] == 2


def test_a_failed_test_ends_with_1_and_says_its_figures_everywhere(cutaway: Cutaway, run: str, home: Path) -> None:
    cutaway("test", run, "--add", EASY, "--add", HARD, "--add", "loss where colour = green at most 9")
    code, out, err = cutaway("test", run, "--junit", "out/results.xml")
    assert (code, err) == (1, "")
    assert "failed: accuracy at least 1" in out
    assert "not judged: loss where colour = green at most 9" in out
    assert "The slice has 0 samples, but 20 are needed." in out
    assert "1 passed, 1 failed, 1 not judged." in out
    root = ET.parse(home / "out" / "results.xml").getroot()
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("3", "1", "1")
    code, out, _ = cutaway("test", run, "--json")
    page = json.loads(out)
    assert (code, page["ok"], page["passed"]) == (1, True, False)
    assert [one["verdict"] for one in page["tests"]] == ["passed", "failed", "not judged"]
    assert page["tests"][1]["value"] < 1
    assert page["tests"][2]["value"] is None


def test_what_could_not_be_judged_alone_ends_with_1(cutaway: Cutaway, run: str, home: Path) -> None:
    (home / "tests.yaml").write_text("tests: [loss where thikness < 3 at most 9]\n", encoding="utf-8")
    code, out, _ = cutaway("test", run, "--tests", "tests.yaml")
    assert code == 1
    assert "There is no column 'thikness'" in out


def test_the_tests_of_a_file_or_of_another_run_are_used(cutaway: Cutaway, run: str, home: Path) -> None:
    shutil.copytree(home / "runs" / run, home / "runs" / "later")
    cutaway("test", run, "--add", HARD)
    cutaway("test", "later", "--tests", "ci/tests.yaml", "--add", EASY)
    assert not (home / "runs" / "later" / "tests.yaml").exists()
    assert cutaway("test", "later", "--from", run)[0] == 1
    assert cutaway("test", "later", "--tests", "ci/tests.yaml")[0] == 0
    code, out, _ = cutaway("test", "later", "--from", run, "--baseline", run)
    assert (code, out.splitlines()[1].split()[5]) == (1, run)
    page = json.loads(cutaway("test", "later", "--from", run, "--baseline", run, "--json")[1])
    assert page["tests"][0]["baseline"] == page["tests"][0]["value"]


def test_confident_asks_more(cutaway: Cutaway, run: str) -> None:
    value = json.loads(cutaway("test", run, "--add", EASY, "--json")[1])["added"][0]["value"]
    cutaway("test", run, "--remove", EASY, "--add", f"accuracy at least {value}")
    code, out, _ = cutaway("test", run)
    assert code == 0
    assert "passed (close)" in out
    assert "1 of those passed may be chance" in out
    code, out, _ = cutaway("test", run, "--confident", columns=300)
    assert code == 1
    assert "but not the whole interval" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "Add one: `cutaway test animals --add 'accuracy at least 0.9'`"),
        (("--tests", "nowhere.yaml"), "nowhere.yaml is not there, so there are no tests. Add one"),
        (("--tests", "nowhere.yaml", "--list"), "nowhere.yaml is not there"),
        (("--tests", "a", "--from", "b"), "Give one of them"),
        (("--from", "nope"), "No run 'nope'"),
        (("--add", "accuracy"), "does not end with a bound"),
        (("--add", "accuracy where sise < 3 at least 0"), "Did you mean 'size'"),
        (("--add", EASY, "--add", HARD, "--name", "x"), "about one test"),
        (("--name", "x"), "about one test"),
        (("--add", EASY, "--list"), "change the tests and run none"),
        (("--remove", "x", "--junit", "y"), "change the tests and run none"),
        (("--list", "--confident"), "`--list` runs no tests"),
        (("--from", "animals", "--add", EASY), "Give that run as RUN"),
        (("--remove", "x"), "There is no test 'x'"),
        (("--tests", "bad.yaml"), "bad.yaml: test 1 cannot be read"),
        (("--tests", "."), "Is a directory"),
        (("--tests", "good.yaml", "--evaluation", "7"), "has no evaluation 7"),
        (("--tests", "good.yaml", "--baseline", "nope"), "No run 'nope'"),
    ],
)
def test_wrong_usage_ends_with_2(cutaway: Cutaway, run: str, home: Path, words: tuple[str, ...], said: str) -> None:
    (home / "bad.yaml").write_text("tests: [nonsense]\n", encoding="utf-8")
    (home / "good.yaml").write_text(f"tests: [{EASY}]\n", encoding="utf-8")
    code, out, err = cutaway("test", run, *words, columns=10_000)
    assert (code, out) == (2, "")
    assert said in " ".join(err.split())
    assert not (home / "runs" / run / "tests.yaml").exists()


def test_a_run_without_an_evaluation_says_so(cutaway: Cutaway, make_run: object, home: Path) -> None:
    make_run("plain")  # type: ignore[operator]
    (home / "tests.yaml").write_text(f"tests: [{EASY}]\n", encoding="utf-8")
    code, _, err = cutaway("test", "plain", "--tests", "tests.yaml")
    assert code == 2
    assert "need a finished evaluation" in err


def test_a_hostile_name_steers_no_terminal(cutaway: Cutaway, run: str, home: Path) -> None:
    (home / "tests.yaml").write_text('tests: [{line: accuracy at least 0, name: "a\\x1b[31mb"}]\n', encoding="utf-8")
    code, out, err = cutaway("test", run, "--tests", "tests.yaml")
    assert code == 2
    assert "\x1b" not in out + err


class TestInsights:
    @pytest.fixture
    def insights(self) -> pa.Table:
        rows = [
            ("low-performance", "label = b and size < 0.5", "error", "b and\nsmall: error 50 %"),
            ("low-performance", "cluster = 3", "error", "cluster 3"),
            ("low-performance", "size < 0.5", "loss", "small: loss 2"),
            ("low-performance", "size < 0.001", "loss", "tiny"),
            ("low-performance", "", "loss", "somewhere"),
            ("domain-gap", "size > 0.5", "median size", "drift"),
        ]
        return pa.table(dict(zip(("kind", "where", "measure", "reason"), zip(*rows, strict=True), strict=True)))

    @pytest.fixture
    def population(self) -> Population:
        chance = np.random.default_rng(0)
        size, labels = chance.random(600), chance.choice(["a", "b"], 600)
        wrong = chance.random(600) < np.where((labels == "b") & (size < 0.5), 0.5, 0.02)
        loss = np.where(wrong, 2.0, 0.1)
        columns = {"size": size, "correct": ~wrong, "loss": loss, "subset": ["test"] * 600}
        return Population.from_arrays(np.zeros((600, 2)), labels, columns=columns)

    def test_weak_slices_become_tests_and_others_say_why_not(self, population: Population, insights: pa.Table) -> None:
        made, notes = insight_tests(population.samples, insights)
        assert [one.line.rsplit(" ", 1)[0] for one in made] == [
            "accuracy where label = b and size < 0.5 at least",
            "loss where size < 0.5 at most",
        ]
        assert (made[0].why, made[0].insight) == ("b and small: error 50 %", True)
        assert [note.split(":")[0] for note in notes] == ["No test of cluster = 3", "No test of size < 0.001"]

    def test_a_slice_with_a_domain_gap_becomes_a_test_as_any_weak_slice(self, population: Population) -> None:
        row = {"kind": ["domain-gap"], "where": ["size < 0.5"], "measure": ["error"], "reason": ["a domain gap"]}
        made, _ = insight_tests(population.samples, pa.table(row))
        assert [one.line.rsplit(" ", 1)[0] for one in made] == ["accuracy where size < 0.5 at least"]

    def test_where_no_slice_is_weak_that_is_said(self, population: Population, insights: pa.Table) -> None:
        assert insight_tests(population.samples, insights.slice(5)) == (
            [],
            ("No insight names a weak slice, so there is no test to add.",),
        )

    def test_they_are_added_to_the_file(
        self, cutaway: Cutaway, run: str, home: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        row = {"kind": ["low-performance"], "where": ["subset = validation"], "measure": ["error"], "reason": ["weak"]}
        monkeypatch.setattr(Population, "insights", lambda _, progress: pa.table(row))
        code, out, err = cutaway("test", run, "--add-insights")
        assert (code, err) == (0, "")
        assert "No test of subset = validation: A test needs 20 samples inside and outside" in out
        row["where"] = ["metadata.size > 0.3"]
        monkeypatch.setattr(Population, "insights", lambda _, progress: pa.table(row))
        monkeypatch.setattr("cutaway.analysis.slice_tests.from_slice.FEWEST", 5)
        code, out, _ = cutaway("test", run, "--add-insights", "--json")
        assert (code, len(json.loads(out)["added"])) == (0, 1)
        assert "insight: true" in (home / "runs" / run / "tests.yaml").read_text(encoding="utf-8")
