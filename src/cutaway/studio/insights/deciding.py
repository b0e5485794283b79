"""What a person decides about a label on the page: accepted, rejected or taken back, into the run's overlay `studio`.

The data are never touched. An evaluation that was made with an overlay shows corrected labels; the overlay here then
holds those corrections too, so that it alone turns the original data into what was decided.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal

from cutaway.analysis.fixing.making import base_overlay
from cutaway.analysis.samples import LABEL
from cutaway.errors import did_you_mean
from cutaway.run.alone import writing_alone
from cutaway.run.command_words import run_word
from cutaway.run.decisions import STUDIO, Decisions, Rejection, read_decisions, write_decisions
from cutaway.run.overlays import LABEL as CORRECTED
from cutaway.run.overlays import Correction
from cutaway.studio.answers.errors import Refusal
from cutaway.studio.populations.loaded import Loaded
from cutaway.studio.samples.facts import row_of
from cutaway.studio.wire.sample import DecisionRow, NewDecision

__all__ = ["decide"]

_WORDS: dict[str, Literal["accepted", "rejected", "undone"]] = {
    "accept": "accepted",
    "reject": "rejected",
    "undo": "undone",
}


def decide(loaded: Loaded, wanted: NewDecision) -> DecisionRow:
    """Keep a decision about the label of a sample, and return it with the overlay that carries it out."""
    row = row_of(loaded, wanted.sample)
    if LABEL not in loaded.own_columns or not loaded.classes:
        reason = loaded.population.answer.reason or "its samples have no label that is one of several classes"
        said = f"Labels of evaluation {loaded.number} cannot be corrected: {reason.removesuffix('.')}."
        raise Refusal(409, "no-labels", said, "Corrections are for evaluations with one class for each sample.")
    label = loaded.column(LABEL)[row].as_py()
    if label is None:
        raise Refusal(
            409, "no-label", f"{wanted.sample} has no label that could be corrected.", "Choose another sample."
        )
    suggestion = loaded.kept_row("mislabeled", wanted.sample)
    new = _label(loaded, wanted, suggestion) if wanted.decision == "accept" else None
    with writing_alone(loaded.run):
        before = _ready(loaded, read_decisions(loaded.run))
        if wanted.decision == "undo" and before.of(wanted.sample) is None:
            said = f"Nothing was decided about {wanted.sample}."
            raise Refusal(409, "nothing-decided", said, "There is nothing to take back.")
        ground = _ground(loaded, before)
        # A rejection changes no label, and so needs no overlay.
        after = _without(before if new is None else _with_base(before, ground), ground, wanted.sample)
        if new is not None:
            held = before.corrections.get((wanted.sample, CORRECTED))
            original = held.old if held is not None else ground.original(wanted.sample, label)
            after = _with(after, _correction(wanted, original, new, suggestion))
        if wanted.decision == "reject":
            suggested = "" if suggestion is None else str(suggestion["suggested"])
            rejection = Rejection(wanted.sample, label, suggested, _now())
            after = replace(after, rejected={**after.rejected, wanted.sample: rejection})
        overlay = write_decisions(loaded.run, after)
    return DecisionRow(
        sample=wanted.sample,
        decision=_WORDS[wanted.decision],
        label=new,
        overlay=None if overlay is None else overlay.name,
        corrections=0 if overlay is None else len(overlay.corrections),
    )


def _label(loaded: Loaded, wanted: NewDecision, suggestion: Mapping[str, Any] | None) -> str:
    """Return the label that is accepted: the given one, or the suggested one."""
    if wanted.label is None:
        if suggestion is None:
            said = f"No label is suggested for {wanted.sample}."
            raise Refusal(409, "no-suggestion", said, "Choose a label, or analyse `mislabeled` first.")
        return str(suggestion["suggested"])
    if wanted.label not in loaded.classes:
        near = did_you_mean(wanted.label, list(loaded.classes)).strip()
        some = ", ".join(loaded.classes[:20])
        said = f"There is no class {wanted.label[:100]!r}."
        raise Refusal(400, "no-such-class", said, f"{near} The classes are {some}.".strip())
    return wanted.label


def _ready(loaded: Loaded, decisions: Decisions) -> Decisions:
    """Return decisions that can take another one about the labels of this evaluation."""
    truth = loaded.population.answer.truth or ""
    if decisions.corrections and (decisions.classes, decisions.truth) != (loaded.classes, truth):
        said = f"The overlay {STUDIO!r} of run {loaded.run.name!r} corrects other classes than this evaluation has."
        hint = f"Take it back first: `cutaway fix {run_word(loaded.run.path, relative=True)} --undo --name {STUDIO}`."
        raise Refusal(409, "other-classes", said, hint)
    about = decisions.about or {"run": loaded.run.name, "run_id": loaded.run.id, "created": _now()}
    return replace(decisions, classes=loaded.classes, truth=truth, about={**about, "evaluation": loaded.number})


@dataclass(frozen=True)
class _Ground:
    """What the labels of an evaluation were made with: another overlay, this one as it was then, or nothing."""

    digest: str = ""
    corrections: Mapping[tuple[str, str], Correction] = field(default_factory=dict)
    originals: Mapping[str, str] = field(default_factory=dict)

    def original(self, sample: str, label: str) -> str:
        """Return the label that the data themselves have, of a sample that the evaluation shows with `label`."""
        held = self.corrections.get((sample, CORRECTED))
        return held.old if held is not None else self.originals.get(sample, label)


def _ground(loaded: Loaded, before: Decisions) -> _Ground:
    digest = loaded.evaluation.source.binding.overlay
    if digest is None:
        return _Ground()
    if digest in before.digests:
        return _Ground(originals=before.originals)
    base = base_overlay(loaded.run, digest)
    if base.classes != loaded.classes:
        said = f"The overlay {base.name!r} that evaluation {loaded.number} was made with has other classes."
        raise Refusal(409, "other-classes", said, "Evaluate again with the overlay of this data set.")
    return _Ground(base.digest, {(one.sample, one.field): one for one in base.corrections})


def _with_base(before: Decisions, ground: _Ground) -> Decisions:
    """Return the decisions together with the corrections of the overlay that they are made on top of; once."""
    if not ground.digest or ground.digest in before.on:
        return before
    return replace(before, corrections={**ground.corrections, **before.corrections}, on=(*before.on, ground.digest))


def _correction(wanted: NewDecision, original: str, new: str, suggestion: Mapping[str, Any] | None) -> Correction:
    if new == original:
        said = f"{wanted.sample} has the label {original!r} in the data themselves."
        raise Refusal(409, "same-label", said, "Reject the suggestion to keep it, or undo what was decided.")
    if suggestion is None or suggestion["suggested"] != new:
        return Correction(wanted.sample, CORRECTED, original, new, who=STUDIO, when=_now())
    score, reason = suggestion["score"], suggestion["reason"]
    return Correction(wanted.sample, CORRECTED, original, new, score, reason, STUDIO, _now())


def _with(decisions: Decisions, correction: Correction) -> Decisions:
    key = correction.sample, CORRECTED
    others = {one: held for one, held in decisions.corrections.items() if one != key}
    originals = {**decisions.originals, correction.sample: correction.old}
    return replace(decisions, corrections={**others, key: correction}, originals=originals)


def _without(decisions: Decisions, ground: _Ground, sample: str) -> Decisions:
    """Return the decisions without the one about a sample; what the evaluation was made with stands again."""
    key = sample, CORRECTED
    corrections = {one: held for one, held in decisions.corrections.items() if one != key}
    if ground.digest in decisions.on and key in ground.corrections:
        corrections[key] = ground.corrections[key]
    rejected = {one: held for one, held in decisions.rejected.items() if one != sample}
    return replace(decisions, corrections=corrections, rejected=rejected)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
