"""What only the binding or the model of a run can say of a sample, as rows: its visuals and its heat maps."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from cutaway.errors import BindingError
from cutaway.studio.answers.errors import Refusal, presentable
from cutaway.studio.populations import Loaded
from cutaway.studio.samples.facts import row_of
from cutaway.studio.wire.sample import HeatMapAnswer, HeatMapRow, VisualRow
from cutaway.studio.workers.pool import Workers

__all__ = ["heat_map_row", "sample_heat_maps", "sample_visuals", "visual_row"]

_SECONDS = 60.0


def sample_visuals(workers: Workers, loaded: Loaded, run_id: str, sample: str) -> list[VisualRow]:
    """Return a sample as the visualizers of its binding show it.

    Refused, with the way to bring it back, where there is no binding to ask; then its preview is all there is.
    """
    row_of(loaded, sample)
    try:
        answer = workers.ask(run_id, loaded.number, "visuals", {"sample": sample}, seconds=_SECONDS)
    except BindingError as error:
        again = "`cutaway evaluate ENTRY.py MODEL` makes an evaluation whose binding can be asked again."
        raise Refusal(409, "no-binding", f"Only the preview can be shown: {error}", again) from error
    told = [presentable(one) for one in answer.value["notes"]]
    visuals = [visual_row(one) for one in answer.value["visuals"]]
    if visuals and told:
        # What is not as it was when the samples were evaluated is said once.
        data = visuals[0].data
        visuals[0] = visuals[0].model_copy(update={"data": {**data, "notes": [*told, *data.get("notes", [])]}})
    printed = answer.printed
    if visuals and printed:
        # What was printed before any visualizer was called: by the binding itself, or an encoder.
        visuals[0] = visuals[0].model_copy(update={"printed": printed + visuals[0].printed})
    return visuals


def sample_heat_maps(workers: Workers, loaded: Loaded, run_id: str, asked: dict[str, Any]) -> HeatMapAnswer:
    """Return where the model looked in a sample; what takes longer than a page should wait belongs into a terminal."""
    sample, method = asked["sample"], asked["method"]
    row_of(loaded, sample)
    try:
        found = workers.ask(run_id, loaded.number, "heat_maps", asked, seconds=_SECONDS).value
    except Refusal as refusal:
        if refusal.code != "too-slow":
            raise
        chosen = f" --method {shlex.quote(method)}" if method else ""
        what = "loss-heat-maps" if asked["loss"] else "heat-maps"
        command = f"cutaway analyze {loaded.run.name} {what} --sample {shlex.quote(sample)}{chosen}"
        raise Refusal(504, "too-slow", refusal.error, f"A terminal has no time limit: `{command}`.") from refusal
    return HeatMapAnswer(**{**found, "maps": [heat_map_row(one) for one in found["maps"]]})


def visual_row(found: Mapping[str, Any]) -> VisualRow:
    """Return what a worker drew as a row; where users' code failed, by its file's name alone."""
    return VisualRow(**{**found, "error": presentable(found["error"])})


def heat_map_row(found: Mapping[str, Any]) -> HeatMapRow:
    """Return what a worker made as a row."""
    visuals = [visual_row(one) for one in found["visuals"]]
    return HeatMapRow(**{**found, "visuals": visuals, "notes": [presentable(one) for one in found["notes"]]})
