"""A run whose every text means harm, or is only strange: markup, addresses that are code, marks that turn the writing
around, 5,000 characters, emoji.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["HOSTILE", "IMAGE", "LONG", "SCRIPT", "TURNED", "evaluate_hostile", "train_hostile"]

IMAGE = "<img src=x onerror=alert(1)>"
SCRIPT = '"><script>window["__hacked"]=1</script>'
ADDRESS = "javascript:alert(1)"
TURNED = "\u202eright to left\u202c \u200fmark"
EMOJI = "🦆👩‍🔬"
LONG = "long" * 1250
HOSTILE = (IMAGE, SCRIPT, ADDRESS, TURNED, EMOJI, LONG)


def train_hostile(path: Path) -> None:
    """Train a network with such names, samples, scalars and config, and write such findings, tags and a note."""
    import torch

    from cutaway.run import Finding, Run, WriterId
    from cutaway.run.annotations import annotate
    from cutaway.run.findings import append_findings
    from cutaway.torch import Hook, SaveConfig

    torch.manual_seed(6)
    model = torch.nn.Sequential()
    for text in (IMAGE, SCRIPT.replace(".", ""), TURNED, EMOJI, LONG[:400]):
        model.add_module(text, torch.nn.Linear(3, 3))
    criterion, optimizer = torch.nn.MSELoss(), torch.optim.SGD(model.parameters(), lr=0.01)
    hook = Hook(path, include_collections=["weights", "losses"], save_config=SaveConfig(save_interval=5))
    with hook:
        hook.register_module(model)
        hook.register_loss(criterion)
        hook.register_optimizer(optimizer)
        hook.set_config({text: {text: text, "list": [text]} for text in HOSTILE})
        for step in range(20):
            ids = [f"{text[:200]} {step}" for text in HOSTILE]
            hook.set_samples(ids, subset="training")
            optimizer.zero_grad()
            criterion(model(torch.randn(6, 3)), torch.zeros(6, 3)).backward()
            optimizer.step()
            for text in HOSTILE:
                hook.save_scalar(text[:300], float(step))
            hook.save_sample_values(ids, subset="training", **{IMAGE: [1.0] * len(ids)})
    run = Run.open(path)
    writer = run.writer("findings", WriterId("watch", "watcher_0", 0))
    append_findings(writer, [_finding(Finding, text) for text in HOSTILE])
    writer.close()
    annotate(run, tags=[text[:100] for text in HOSTILE], note="\n".join(HOSTILE))


def evaluate_hostile(path: Path) -> str:
    """Evaluate a model on samples whose ids, classes and metadata are such, analyse it, and keep such a selection, test
    and job. Return the id of the sample whose name is markup.
    """
    import numpy as np

    from cutaway.analysis import Population
    from cutaway.analysis.population.whole import analyze
    from cutaway.dataset import Dataset
    from cutaway.evaluation import evaluate
    from cutaway.run import Run
    from cutaway.run.documents import write_document
    from cutaway.run.jobs import end_job
    from cutaway.run.layout import TESTS_FILE
    from cutaway.run.selections import SampleSelection, keep_selection
    from cutaway.run.slice_tests import WrittenTest, write_tests
    from tests.unit.evaluation.linear_model import linear_model, samples

    x, y = samples(120)
    x[:12] += 3
    texts = [HOSTILE[number % len(HOSTILE)][:300] for number in range(len(x))]
    metadata = {text[:200]: texts for text in (IMAGE, SCRIPT, TURNED, LONG)} | {f"{IMAGE} n": np.arange(120.0)}
    names = [IMAGE, SCRIPT, LONG[:1000]]
    ids = [f"{text} {number}" for number, text in enumerate(texts)]
    data = Dataset.from_arrays({"x": x}, {"y": y}, metadata=metadata, ids=ids, labels=names, subset="validation")
    evaluate(data, linear_model(), path)
    run = Run.open(path)
    with Population.open(run) as population:
        for _ in analyze(population):
            pass
    keep_selection(run, SampleSelection(IMAGE, 0, where=(f'label = "{IMAGE}"',), note="\n".join((IMAGE, SCRIPT))))
    write_tests(
        path / TESTS_FILE, [WrittenTest("accuracy at least 0.1", IMAGE, SCRIPT), WrittenTest("loss < 1", SCRIPT)]
    )
    job = "20260101-000000-0000000a"
    told = {"kind": "analyze", "what": IMAGE, "evaluation": 0, "created": 1.7e9, "command": SCRIPT, "who": IMAGE}
    write_document(run.storage, f"jobs/{job}/job.json", told)
    (path / "jobs" / job / "log.txt").write_text("\n".join([*HOSTILE, ""]))
    end_job(run, job, "failed", SCRIPT, IMAGE)
    return f"validation/{ids[0]}"


def _finding(kind: Any, text: str) -> Any:
    where = {"tensor": text, "step": 3, "samples": [text]}
    return kind(text[:200], "error", text, where=where, evidence={text: text, "tensors": [text]}, source=text[:50])
