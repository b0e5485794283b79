"""What is told of the tensors of a run: their places, their last statistics, what was found about them."""

from pathlib import Path

from cutaway.run import Finding, Run, WriterId
from cutaway.run.findings import append_findings
from cutaway.run.schemas import FINDINGS
from cutaway.trial.model_tensors import ModelTensors
from cutaway.trial.trial import Trial
from tests.unit.cli.run_folders import write_steps


def test_a_tensor_has_its_place_its_steps_and_its_last_statistics(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run")
    write_steps(run, range(3, 9))
    facts = ModelTensors(Trial(run)).facts("gradient/Net_conv1.weight")
    assert (facts.layer, facts.kind, facts.collections) == ("conv1", "gradient", ["gradients"])
    assert (facts.first_step, facts.last_step, facts.size, facts.nonfinite) == (3, 8, 72, 0)
    assert (facts.zeros, facts.findings, facts.severity) == (0.25, 0, None)


def test_a_sick_tensor_counts_what_is_not_finite_and_has_its_worst_finding(tmp_path: Path) -> None:
    run = Run.create(tmp_path / "run")
    write_steps(run, range(5), nonfinite=lambda name, step: 4 if step == 4 and name == "Net_fc.weight" else 0)
    where = {"tensor": "Net_fc.weight", "step": 4}
    found = [Finding(code, severity, "Sick.", where=where) for code, severity in (("A", "warning"), ("B", "error"))]
    writer = run.writer(FINDINGS, WriterId("watch", "worker_0", 0))
    append_findings(writer, found)
    writer.close()
    tensors = ModelTensors(Trial(run))
    assert (tensors.facts("Net_fc.weight").nonfinite, tensors.facts("Net_fc.weight").severity) == (4, "error")
    assert tensors.number("Net_fc.weight", "findings") == 2
    assert tensors.facts("Net_conv1.weight").severity is None
