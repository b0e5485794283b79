"""`cutaway watch`: rules over a run, live or afterwards."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, cast

import typer

from cutaway.cli.options import FAILED_EXIT, Follow, RunText, open_run, shown_path
from cutaway.errors import ConfigurationError, RunNotFound, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cutaway.cli.output import Screen
    from cutaway.cli.watch_pages import WatchRecord
    from cutaway.rules.actions.action import Action
    from cutaway.rules.watcher import Watcher, WatchStatus
    from cutaway.run import Run
    from cutaway.run.findings import Severity

__all__ = ["watch"]

NEVER = "never"
WAIT_SECONDS = 0.2
# A log gets a line about how far it is no more often than this; findings come at once.
LOG_SECONDS = 10.0


def watch(
    run: RunText,
    *,
    rules: Annotated[
        str, typer.Option(metavar="all|NAME,...", help="Which rules look: names, or path/to/file.py:MyRule.")
    ] = "all",
    param: Annotated[
        list[str] | None, typer.Option(metavar="RULE.x=y", help="A parameter of a rule; give it again for more.")
    ] = None,
    action: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[RULE=]ACTION",
            help="What to do when a rule fires: stop, checkpoint, reduce-lr[=0.1], dump, notify=URL.",
        ),
    ] = None,
    follow: Follow = False,
    fail_on: Annotated[
        str, typer.Option(metavar="info|warning|error|never", help="End with 1 for findings this bad or worse.")
    ] = "error",
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object; with --follow one line per finding before it.")
    ] = False,
) -> int:
    """Let rules look at a run, while it trains or afterwards, and record what they find in it.

    Rules say what is wrong in words; none of them does anything by itself. What they find is shown again by
    `cutaway runs show`. A rule that lacks what it needs is SKIPPED, and says what to record. With --follow a run that
    does not exist yet is waited for.

    \b
    cutaway watch mnist                                            all rules, once
    cutaway watch mnist --follow                                   beside the training, until it ends
    cutaway watch mnist --rules VanishingGradient,Overfit          some rules
    cutaway watch mnist --param VanishingGradient.threshold=1e-6   a parameter
    cutaway watch mnist --rules ./mine.py:MyRule                   a rule of your own
    cutaway watch mnist --follow --action ExplodingTensor=stop     stop the training when tensors explode
    cutaway watch mnist --fail-on warning                          for a script: end with 1 when anything is wrong
    """
    from cutaway.cli.output import Screen, emit_json
    from cutaway.rules.making import parse_parameters, rule_recipes
    from cutaway.rules.watcher import Watcher
    from cutaway.trial import Trial

    # What is wrong with the command is said now, not when a run that is waited for begins.
    least = _severity(fail_on)
    recipes = rule_recipes(rules, parse_parameters(param or []))
    actions = _actions([recipe.kind.__name__ for recipe in recipes], action or [])
    screen = Screen()
    opened = _open_run_to_watch(run, follow=follow)
    trial = Trial(opened)
    chosen = [recipe.make(trial) for recipe in recipes]
    for rule in chosen:
        rule.add_actions(actions[rule.rule_name])
    with Watcher(trial, chosen) as watcher:
        if as_json:
            last = _as_lines(watcher.looks(follow=follow), follow=follow)
            emit_json(_summary(opened, watcher, last))
        else:
            _as_pages(screen, opened, watcher, follow=follow)
        return FAILED_EXIT if _is_bad(watcher, least) else 0


def _severity(text: str) -> Severity | None:
    from cutaway.run.findings import SEVERITIES

    known = [*SEVERITIES, NEVER]
    if text not in known:
        hint = did_you_mean(text, known)
        raise ConfigurationError(f"`--fail-on` must be info, warning, error or never, but got {text!r}.", hint=hint)
    return None if text == NEVER else cast("Severity", text)


def _is_bad(watcher: Watcher, least: Severity | None) -> bool:
    from cutaway.run.findings import SEVERITIES

    if least is None or watcher.worst is None:
        return False
    return SEVERITIES.index(watcher.worst) >= SEVERITIES.index(least)


def _open_run_to_watch(text: str, *, follow: bool) -> Run:
    """Open the run; with `follow` wait for one that does not exist yet."""
    said = False
    while True:
        try:
            return open_run(text)
        except RunNotFound:
            if not follow:
                raise
        if not said:
            typer.echo(f"Waiting for the run {text!r} to begin; Ctrl-C ends.", err=True)
            said = True
        time.sleep(WAIT_SECONDS)


def _actions(rules: Sequence[str], texts: Sequence[str]) -> dict[str, list[Action]]:
    """Return the actions of each rule: those that name it, and those that name none."""
    from cutaway.rules.actions.parsing import parse_action_words

    found: dict[str, list[Action]] = {rule: [] for rule in rules}
    known = {rule.lower(): rule for rule in rules}
    for text in texts:
        head, equals, rest = text.partition("=")
        meant = known.get(head.strip().lower()) if equals else None
        if meant is not None:
            found[meant] += parse_action_words(rest)
            continue
        try:
            parsed = parse_action_words(text)
        except ConfigurationError as error:
            hint = did_you_mean(head, rules) if equals else ""
            raise ConfigurationError(error.message, hint=f"{error.hint}{hint}") from error
        for rule in rules:
            found[rule] += parsed
    return found


def _as_lines(statuses: Iterator[WatchStatus], *, follow: bool) -> WatchStatus:
    from cutaway.cli.output import emit_json
    from cutaway.cli.watch_pages import finding_object

    for one in statuses:
        if follow:
            for finding in one.findings:
                emit_json(finding_object(finding), one_line=True)
    return one


def _summary(run: Run, watcher: Watcher, last: WatchStatus) -> dict[str, object]:
    from cutaway.cli.watch_pages import finding_object

    codes = {one.rule.rule_name for one in last.watched}
    found = [one for one in run.findings() if one.code in codes or one.source == "watch"]
    return {
        "run": run.name,
        "path": shown_path(run.path),
        "state": str(last.state),
        "step": last.newest,
        "worst": watcher.worst,
        "rules": [one.to_dict() for one in last.watched],
        "findings": [finding_object(one) for one in found],
        "unrecorded": last.unrecorded,
    }


def _as_pages(screen: Screen, run: Run, watcher: Watcher, *, follow: bool) -> None:
    """Show a live table in a terminal, or findings as lines elsewhere; at the end the whole page."""
    from cutaway.cli.watch_pages import WatchRecord, print_end

    seen = WatchRecord(run.name)
    if screen.is_terminal and follow:
        _live(screen, seen, watcher)
    else:
        told = time.monotonic()
        for one in watcher.looks(follow=follow):
            seen.add(one)
            if follow:
                for finding in one.findings:
                    typer.echo(seen.line(finding), err=True)
                if time.monotonic() - told >= LOG_SECONDS:
                    typer.echo(seen.one_line(), err=True)
                    told = time.monotonic()
    print_end(screen, seen, run)


def _live(screen: Screen, seen: WatchRecord, watcher: Watcher) -> None:
    from rich.console import Group
    from rich.live import Live

    from cutaway.cli.watch_pages import live_page

    with Live(console=screen.console, auto_refresh=False, transient=True) as live:
        for one in watcher.looks(follow=True):
            seen.add(one)
            live.update(Group(*live_page(screen, seen)), refresh=True)
