"""What a run comes to is counted once, for commands, studio and demo alike."""

from pathlib import Path

from cutaway.run import Run, RunState
from cutaway.run.annotations import annotate
from cutaway.run.layout import ANNOTATIONS_FILE, COLLECTIONS_FILE
from cutaway.trial.run_facts import count_steps, read_run_facts
from cutaway.trial.trial import Trial
from tests.unit.cli.run_folders import write_steps


def a_run(path: Path) -> Run:
    """Thirty steps, every fifth of them an evaluation."""
    run = Run.create(path)
    _, lease = run.begin_attempt()
    write_steps(run, range(30), modes=lambda step: "TRAIN" if step % 5 else "EVAL", thinned=lambda step: int(step == 7))
    lease.release(RunState.FINISHED)
    return run


def test_a_healthy_run_is_counted_whole(tmp_path: Path) -> None:
    run = a_run(tmp_path / "run")
    annotate(run, tags=["kept"])
    found = read_run_facts(run)
    assert found.state is RunState.FINISHED
    assert (found.steps.recorded, found.steps.first, found.steps.last, found.steps.epochs) == (30, 0, 29, 3)
    assert list(found.steps.by_mode.items()) == [("EVAL", 6), ("TRAIN", 24)]
    assert (found.steps.with_statistics, found.steps.thinned, found.workers) == (30, 1, ["worker_0"])
    assert [(one.name, one.mode) for one in found.scalars][:2] == [("loss", "TRAIN"), ("loss", "EVAL")]
    assert (found.collections["gradients"], found.annotations.tags) == (2, ("kept",))
    assert (found.evaluations, found.findings, found.damage) == ([], [], [])


def test_a_trial_counts_the_same_steps(tmp_path: Path) -> None:
    run = a_run(tmp_path / "run")
    assert count_steps(Trial(run).step_columns()) == read_run_facts(run).steps


def test_a_run_without_steps_has_none_to_count(tmp_path: Path) -> None:
    found = read_run_facts(Run.create(tmp_path / "run"))
    assert (found.steps.recorded, found.steps.last, found.steps.epochs, found.steps.by_mode) == (0, None, None, {})
    assert (found.workers, found.scalars, found.collections) == ([], [], {})


def test_the_first_worker_is_counted_and_every_one_is_named(tmp_path: Path) -> None:
    run = a_run(tmp_path / "run")
    write_steps(run, range(40), worker="worker_1")
    found = read_run_facts(run)
    assert (found.steps.recorded, found.workers) == (30, ["worker_0", "worker_1"])


def test_what_cannot_be_read_is_named_and_the_rest_is_told(tmp_path: Path) -> None:
    run = a_run(tmp_path / "run")
    run.write_document(COLLECTIONS_FILE, {"included": [], "collections": {}})
    for key in (COLLECTIONS_FILE, ANNOTATIONS_FILE):
        (run.path / key).write_bytes(b"{]")
    found = read_run_facts(run)
    assert [one.path for one in found.damage] == [COLLECTIONS_FILE, ANNOTATIONS_FILE]
    assert (found.steps.recorded, found.collections["losses"], found.annotations.tags) == (30, 1, ())
