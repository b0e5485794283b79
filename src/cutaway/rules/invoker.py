"""`invoke_rule`: one rule over the steps of a run, as they come, until the training ends."""

from __future__ import annotations

import logging
import time

from cutaway.errors import InsufficientInformationForRuleInvocation, NoMoreData, RuleEvaluationConditionMet
from cutaway.rules.rule import Rule
from cutaway.trial import Trial, no_refresh

__all__ = ["invoke_rule"]

log = logging.getLogger("cutaway.rules")

# How long to wait before looking for further steps.
POLL_SECONDS = 0.1
# At most so many steps are judged at once, so that what is held in memory stays small.
SPAN = 2_000


def invoke_rule(
    rule: Rule,
    start_step: int = 0,
    end_step: int | None = None,
    raise_eval_cond: bool = False,  # noqa: FBT001, FBT002 - upstream's signature
) -> None:
    """Evaluate a rule at every step with `start_step <= step < end_step`, waiting for those to come.

    Where the rule fires it is logged, or raised as `RuleEvaluationConditionMet` where `raise_eval_cond` says so. When
    the training ends before `end_step`, or there is no `end_step`, it ends with `NoMoreData`; with
    `InsufficientInformationForRuleInvocation` where none of the steps had what the rule needs.
    """
    trial = rule._reader()  # noqa: SLF001 - says which run is missing, in the rule's own words
    rule.start_over()
    while end_step is None or rule.next_step < end_step:
        over = trial.job_finished()
        stop = trial.newest_step() + 1
        stop = stop if end_step is None else min(stop, end_step)
        lack = _look_at_all(rule, trial, stop, start_step, raises=raise_eval_cond)
        if over or (end_step is not None and stop >= end_step):
            if lack is not None:
                raise lack
            if over and (end_step is None or stop < end_step):
                raise NoMoreData(rule.next_step, last_step=trial.newest_step())
        else:
            time.sleep(POLL_SECONDS)


def _look_at_all(
    rule: Rule, trial: Trial, stop: int, start_step: int, *, raises: bool
) -> InsufficientInformationForRuleInvocation | None:
    """Evaluate the steps up to `stop`, few at a time; return what the rule says that it lacks in all of them."""
    span = 1 if rule.is_stepwise else SPAN
    while rule.next_step < stop:
        try:
            _invoke_up_to(rule, trial, min(stop, rule.next_step + span), start_step, raises=raises)
        except InsufficientInformationForRuleInvocation as error:
            if rule.next_step + span >= stop:
                return error
            # What it needs may begin later than in the steps that it was given.
            span *= 2
    return None


def _invoke_up_to(rule: Rule, trial: Trial, stop: int, start_step: int, *, raises: bool) -> None:
    with no_refresh([trial, *rule.other_trials]):
        judgements = rule.judged(trial, stop)
    fired = {step for one in judgements for step in one.steps[one.fires.any(axis=0)].tolist()}
    for step in sorted(step for step in fired if step >= start_step):
        if raises:
            raise RuleEvaluationConditionMet(rule.rule_name, step)
        log.info("Rule %s fired at step %d", rule.rule_name, step)
