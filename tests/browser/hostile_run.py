"""A run whose every text means harm, or is only strange: markup, addresses that are code, marks that turn the writing
around, 5,000 characters, emoji.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["HOSTILE", "IMAGE", "LONG", "SCRIPT", "TURNED", "train_hostile"]

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


def _finding(kind: Any, text: str) -> Any:
    where = {"tensor": text, "step": 3, "samples": [text]}
    return kind(text[:200], "error", text, where=where, evidence={text: text, "tensors": [text]}, source=text[:50])
