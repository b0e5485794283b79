"""What the table shows of one run, also where the run is damaged, hostile, or of a release to come."""

import json
from pathlib import Path

import pytest

from cutaway.cli.run_facts import list_facts, show_facts
from cutaway.run import Finding, Run, RunState
from cutaway.run.annotations import annotate
from cutaway.studio.index import facts as facts_module
from cutaway.studio.index.facts import IndexedRun, Memory, read_facts
from cutaway.trial.run_totals import GLANCE_POINTS
from tests.unit.studio.index.small_runs import add_steps, make_run, place_of, spoil


def facts_of(run: Run) -> IndexedRun:
    return read_facts(place_of(run.path))


def cells(facts: IndexedRun) -> dict[str, object]:
    return dict(zip(facts.keys, facts.values, strict=True))


def test_a_row_says_what_the_command_says(tmp_path: Path) -> None:
    run = make_run(tmp_path / "a", steps=30)
    (said,), facts = list_facts([run]), facts_of(run)
    assert (facts.name, facts.steps) == (said["name"], said["steps"])
    assert facts.loss is not None
    assert (facts.loss.name, facts.loss.last) == ("loss", said["loss"]["last"])
    assert facts.loss.values == pytest.approx(said["loss"]["series"], rel=1e-5)
    assert facts.loss.best == min(1.0 / (1 + step) for step in range(30))


def test_a_row_has_config_scalars_and_identity(tmp_path: Path) -> None:
    config = {"lr": 0.1, "optimizer": {"groups": [{"betas": [0.9, 0.999]}]}, "flag": True, "none": None}
    run = make_run(tmp_path / "a", config=config, seed=7, versions={"torch": "2.13"})
    found = cells(facts_of(run))
    assert found["config.lr"] == 0.1
    assert found["config.optimizer.groups.0.betas"] == "[0.9, 0.999]"
    assert found["config.flag"] is True
    assert "config.none" not in found
    assert (found["scalar.loss.TRAIN.last"], found["scalar.loss.TRAIN.max"]) == (0.25, 1.0)
    assert (found["identity.seed"], found["identity.versions.torch"]) == (7, "2.13")


def test_health_and_findings_are_counted(tmp_path: Path) -> None:
    sick = make_run(tmp_path / "a", findings=[Finding("DeadRelu", "error", "Dead.", where={"step": 1, "attempt": 0})])
    healthy = make_run(tmp_path / "b")
    assert (facts_of(sick).findings, facts_of(sick).health.verdict, facts_of(sick).health.since) == (1, "sick", 1)
    assert (facts_of(healthy).findings, facts_of(healthy).health.verdict) == (0, "not checked")


def test_a_run_that_no_rule_has_judged_is_not_checked_and_its_faults_are_named(tmp_path: Path) -> None:
    losses = [1.0] * 21 + [float("nan")] * 39
    diverged = make_run(tmp_path / "a", steps=60, losses=losses)
    diverged.identity["state"] = "failed"
    diverged.save_identity()
    sound = make_run(tmp_path / "b", steps=60)
    said = "Not checked yet; loss was NaN or infinite at 39 of 60 TRAIN steps; the training failed"
    assert facts_of(diverged).health[:2] == ("not checked", said)
    assert facts_of(sound).health[:2] == ("not checked", "Not checked yet")


def test_the_row_and_the_command_say_the_same_of_health(tmp_path: Path) -> None:
    lost = Finding("writer-behind", "warning", "Some steps.", where={"step": 2}, source="capture worker_0")
    spike = Finding("LossSpike", "warning", "A spike.", where={"step": 3, "attempt": 0})
    run = make_run(tmp_path / "a", findings=[lost, spike])
    health, said = facts_of(run).health, show_facts(run)["health"]
    assert health.sentence == said["sentence"] == "1 warning, the first at step 3; some steps were not recorded"
    assert [one["code"] for one in said["telling"]] == ["LossSpike"]


def test_a_long_loss_is_a_glance_and_what_is_not_finite_leaves_a_gap(tmp_path: Path) -> None:
    run = make_run(tmp_path / "a", steps=200, losses=[1.0] * 199 + [float("nan")])
    loss = facts_of(run).loss
    assert loss is not None
    assert len(loss.values) == GLANCE_POINTS
    assert (loss.values[-1], loss.last, loss.best) == (None, None, 1.0)


def test_the_time_between_two_attempts_was_no_training(tmp_path: Path) -> None:
    run = make_run(tmp_path / "a", steps=3, state=RunState.FAILED)
    number, lease = run.begin_attempt()
    add_steps(run, range(100, 103), number)
    lease.release(RunState.FINISHED)
    facts = facts_of(run)
    assert (facts.attempts, facts.steps, facts.seconds) == (2, 103, 4.0)


def test_a_run_that_grows_is_read_on_with_what_is_known_of_it(tmp_path: Path) -> None:
    run = make_run(tmp_path / "a", steps=3)
    memory = Memory()
    read_facts(place_of(run.path), memory)
    add_steps(run, range(3, 6))
    run.write_config({"lr": 0.5, "more": "settings"})
    assert read_facts(place_of(run.path), memory) == facts_of(run)


def test_a_damaged_identity_costs_a_name_and_is_said(tmp_path: Path) -> None:
    run = make_run(tmp_path / "a")
    spoil(run.path / "run.json")
    facts = facts_of(run)
    assert facts.steps == 4
    assert "run.json" in facts.health.sentence


@pytest.mark.parametrize("document", ["config.yaml", "annotations.json"])
def test_a_document_that_cannot_be_read_costs_itself_only_and_is_said(document: str, tmp_path: Path) -> None:
    run = make_run(tmp_path / "a")
    annotate(run, tags=["x"])
    (run.path / document).write_bytes(b"\xff[[[: - }")
    facts = facts_of(run)
    assert facts.steps == 4
    assert document in facts.health.sentence


def test_a_run_of_a_newer_format_is_listed_and_says_so(tmp_path: Path) -> None:
    run = make_run(tmp_path / "a")
    run.identity["format"] = 99
    run.save_identity()
    facts = facts_of(run)
    assert facts.state == "unknown"
    assert "format 99" in facts.health.sentence
    assert str(tmp_path) not in facts.health.sentence


def test_a_run_that_is_gone_is_said_to_be(tmp_path: Path) -> None:
    run = make_run(tmp_path / "a")
    place = place_of(run.path)
    (run.path / "run.json").unlink()
    assert read_facts(place).state == "unknown"
    assert str(tmp_path) not in read_facts(place).health.sentence


HOSTILE = [
    {"project": 7, "framework": ["x"], "created": "yesterday", "attempts": [], "kind": {}},
    {"project": "\ud800<script>\x1b[31m" * 2000, "framework": None, "created": 1e400, "attempts": []},
    {"created": "0001-01-01T00:00:00", "attempts": [], "versions": "none", "seed": 10**400},
    {"attempts": [{"attempt": "x"}]},
    {"attempts": 7, "state": "gone"},
    {"deep": [[[[[[[[[[[[[]]]]]]]]]]]]], "attempts": []},
]


@pytest.mark.parametrize("identity", HOSTILE, ids=range(len(HOSTILE)))
def test_whatever_an_identity_says_the_row_can_be_sent(identity: dict[str, object], tmp_path: Path) -> None:
    run = make_run(tmp_path / "a")
    run.write_document("run.json", {"format": 0, "id": "x", **identity})
    facts = facts_of(run)
    text = json.dumps([facts.name, facts.project, facts.framework, facts.health, facts.keys, facts.values])
    assert len(text) < 20_000
    text.encode()


def test_a_small_config_that_stands_for_billions_of_values_is_refused(tmp_path: Path) -> None:
    run = make_run(tmp_path / "a")
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
    (run.path / "config.yaml").write_text("\n".join(lines))
    assert "config.yaml" in facts_of(run).health.sentence
    (run.path / "config.yaml").write_text("a: &a [*a]")
    assert "config.yaml" in facts_of(run).health.sentence


@pytest.mark.parametrize("text", ["[" * 100_000, "{a: " * 50_000, "\n".join(" " * i + f"k{i}:" for i in range(1500))])
def test_a_config_that_is_nested_endlessly_ends_nothing(text: str, tmp_path: Path) -> None:
    run = make_run(tmp_path / "a")
    (run.path / "config.yaml").write_text(text)
    assert facts_of(run).steps == 4


def test_more_settings_than_a_table_can_show_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cutaway.studio.index.values.MOST_VALUES", 10)
    monkeypatch.setattr(facts_module, "MOST_SERIES", 1)
    facts = facts_of(make_run(tmp_path / "a", config={f"k{i}": i for i in range(14)}))
    assert facts.left_out == 4 + 1
    assert sum(key.startswith("config.") for key in facts.keys) == 10


def test_secrets_of_a_config_are_no_cells(tmp_path: Path) -> None:
    run = make_run(tmp_path / "a", config={"api_key": "hunter2", "nested": {"password": "hunter2"}})
    assert "hunter2" not in str(facts_of(run))


@pytest.mark.usefixtures("permissions_count")
def test_a_run_that_may_not_be_read_is_listed_and_says_so(tmp_path: Path) -> None:
    run = make_run(tmp_path / "a")
    (run.path / "run.json").chmod(0)
    assert "ermission" in facts_of(run).health.sentence
