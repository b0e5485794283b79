"""The tests of runs over HTTP: run, added, removed, and one run's on several runs."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from httpx import Response

from cutaway.cli import main
from cutaway.run import Run
from cutaway.run.slice_tests import read_tests
from tests.unit.studio.one_run import Asked, studio_of


def _post(asked: Asked, **test: Any) -> Response:
    return asked.client.post(f"/api/runs/{asked.id_of('insects')}/tests", json=test)


def _drop(asked: Asked, name: str) -> Response:
    headers = {"content-type": "application/json"}
    return asked.client.delete(f"/api/runs/{asked.id_of('insects')}/tests", params={"name": name}, headers=headers)


def _added(asked: Asked, **test: Any) -> dict[str, Any]:
    answer = _post(asked, **test)
    assert answer.status_code == 201, answer.text
    return dict(answer.json()["data"])


class TestRunning:
    def test_a_run_without_tests_has_none(self, asked: Asked) -> None:
        found = asked.data("insects", "/tests")
        assert (found["evaluation"], found["tests"], found["error"]) == (0, [], "")

    def test_each_test_has_its_verdict_as_the_command_has_it(
        self, asked: Asked, run: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (run / "tests.yaml").write_text(
            "version: 1\ntests:\n- accuracy at least 0.5\n- name: never\n  line: loss at most 0\n  why: a joke\n"
            "- accuracy where label = nothing at least 0.5\n- this is no test\n"
        )
        found = asked.data("insects", "/tests")["tests"]
        assert [one["verdict"] for one in found] == ["passed", "failed", "not judged", "not judged"]
        assert (found[1]["name"], found[1]["why"], found[1]["samples"]) == ("never", "a joke", 90)
        assert found[0]["low"] < found[0]["value"] <= found[0]["high"]
        assert found[2]["value"] is None
        (run / "tests.yaml").write_text("version: 1\ntests:\n- accuracy at least 0.5\n")
        assert main(["test", str(run)]) == 0
        assert f"{found[0]['value']:.4g}" in capsys.readouterr().out

    def test_a_damaged_file_is_refused_with_its_name_and_line(self, asked: Asked, run: Path) -> None:
        (run / "tests.yaml").write_text("version: 1\ntests:\n- a: [\n")
        answer = asked.get("insects", "/tests")
        assert answer.status_code == 400
        assert "tests.yaml:" in answer.json()["error"]
        assert str(run) not in answer.text
        before = (run / "tests.yaml").read_bytes()
        assert _post(asked, line="accuracy at least 0.5").status_code == 400
        assert (run / "tests.yaml").read_bytes() == before


class TestAdding:
    def test_a_line_is_written_and_run(self, asked: Asked, run: Path) -> None:
        row = _added(asked, line="accuracy at least 0.5", name="half", why="at least\nthat")
        assert (row["verdict"], row["samples"]) == ("passed", 90)
        [one] = read_tests(run / "tests.yaml")
        assert (one.title, one.line, one.why) == ("half", "accuracy at least 0.5", "at least that")
        assert asked.data("insects", "/tests")["tests"] == [row]

    def test_conditions_become_a_test_that_the_slice_is_as_good_as_the_rest(self, asked: Asked) -> None:
        row = _added(asked, where=["label = ant"], insight=True)
        assert row["line"].startswith("accuracy where label = ant at least 0.")
        assert row["insight"] is True

    def test_one_of_the_same_name_is_replaced(self, asked: Asked, run: Path) -> None:
        _added(asked, line="accuracy at least 0.5", name="half")
        _added(asked, line="accuracy at least 0.6", name="half")
        assert [one.line for one in read_tests(run / "tests.yaml")] == ["accuracy at least 0.6"]

    def test_of_many_at_once_none_is_lost(self, asked: Asked, run: Path) -> None:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda number: _added(asked, line=f"accuracy at least 0.{number}"), range(1, 10)))
        assert len(read_tests(run / "tests.yaml")) == 9

    @pytest.mark.parametrize(
        ("test", "said"),
        [
            ({}, "either the `line`"),
            ({"line": "loss at most 1", "where": ["label = ant"]}, "either the `line`"),
            ({"line": "accuracy is great"}, "accuracy"),
            ({"line": "accuracy where metadata.widht > 1 at least 0.5"}, "Did you mean"),
            ({"line": "accuracy at least 95"}, "between 0 and 1"),
            ({"where": ["cluster = 3"]}, "no slice that a later run has"),
            ({"where": ["label = moth"]}, "20 samples"),
        ],
    )
    def test_what_is_no_test_is_refused_and_nothing_is_written(
        self, asked: Asked, run: Path, test: dict[str, Any], said: str
    ) -> None:
        answer = _post(asked, **test)
        assert answer.status_code == 400, answer.text
        assert said in f"{answer.json()['error']} {answer.json()['hint']}"
        assert not (run / "tests.yaml").exists()


class TestRemoving:
    def test_by_its_name_or_its_line(self, asked: Asked, run: Path) -> None:
        _added(asked, line="accuracy at least 0.5", name="half")
        _added(asked, line="loss at most 3")
        assert _drop(asked, "half").status_code == 204
        assert _drop(asked, "loss at most 3").status_code == 204
        assert read_tests(run / "tests.yaml") == ()

    def test_one_that_there_is_not_is_not_found(self, asked: Asked) -> None:
        _added(asked, line="accuracy at least 0.5", name="half")
        answer = _drop(asked, "hafl")
        assert answer.status_code == 404
        assert "Did you mean 'half'" in answer.json()["error"]


def test_the_first_runs_tests_are_run_on_each_run(run: Path) -> None:
    Path(shutil.copytree(run, run.with_name("others")))
    Run.create(run.with_name("empty"))
    with studio_of(run.parent) as asked:
        _added(asked, line="accuracy at least 0.5")
        runs = [asked.id_of(name) for name in ("insects", "others", "empty")]
        table = asked.client.get("/api/tests", params={"run": runs}).json()["data"]["runs"]
        assert [one["name"] for one in table] == ["insects", "others", "empty"]
        assert [len(one["tests"]) for one in table] == [1, 1, 0]
        assert "no evaluation" in table[2]["error"]
        assert asked.client.get("/api/tests", params={"run": [runs[0], "nobody"]}).status_code == 404
        backwards = asked.client.get("/api/tests", params={"run": runs[::-1]}).json()["data"]["runs"]
        assert [one["tests"] for one in backwards] == [[], [], []]
