"""Observers inside a hook: what they are shown, what becomes of their findings, and of those that misbehave."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from cutaway.capture.observing import MOST_STEPS, Observer, Observing, observers_of
from cutaway.capture.records import StepRecord
from cutaway.capture.statistics_batch import Part
from cutaway.errors import ConfigurationError, InsufficientInformationForRuleInvocation
from cutaway.rules.built_in.vanishing_gradient import VanishingGradient
from cutaway.run import Run
from cutaway.run.findings import Finding, Severity
from cutaway.run.segments import WriterId
from cutaway.run.watches import read_watches
from cutaway.tensors.collections import Collections
from cutaway.tensors.modes import ModeKeys
from cutaway.tensors.reader import TensorReader
from cutaway.tensors.recent_steps import HeldStep, RecentSteps, TensorRows
from cutaway.tensors.statistic_names import STATISTIC_COLUMNS

WHO = WriterId("capture", "worker_0", 3)
NAMES = pa.array(["Net_weight", "gradient/Net_weight"])


class Book:
    """A logbook of lists."""

    def __init__(self) -> None:
        self.said: list[tuple[str, str, dict[str, Any]]] = []
        self.found: list[Finding] = []

    def say(self, code: str, severity: Severity, message: str, *, once: bool = True, **where: Any) -> None:
        assert severity == "info"
        assert not once
        self.said.append((code, message, where))

    def record(self, finding: Finding) -> None:
        self.found.append(finding)


class Clock:
    """A time that tests move."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Looks:
    """Notes what it is shown, does what it is told, and finds what it is given."""

    def __init__(self, do: Callable[[TensorReader, int], Iterable[Finding] | None] | None = None) -> None:
        self.steps: list[int] = []
        self._do = do

    def observe(self, reader: TensorReader, step: int) -> Iterable[Finding]:
        self.steps.append(step)
        assert reader.newest_step() == step
        return (self._do(reader, step) if self._do is not None else None) or ()


class Acts(Looks):
    """Asks for something."""

    def __init__(self, do: Callable[[TensorReader, int], Iterable[Finding]], act: Callable[[Finding], None]) -> None:
        super().__init__(do)
        self._act = act

    def act(self, run: Run, finding: Finding) -> None:
        assert run.path.is_dir()
        self._act(finding)


class Bench:
    """An `Observing` over a real run, with a clock of its own."""

    def __init__(self, path: Path, *observers: Observer) -> None:
        self.run = Run.create(path)
        self.book, self.clock = Book(), Clock()
        self.observing = Observing(observers, Collections(), self.run, WHO, self.book, clock=self.clock)
        self.next = 0

    def steps(self, count: int, *, mean_abs: float = 1.0, **about: Any) -> None:
        """Take steps in, as the writer does after writing them."""
        for _ in range(count):
            record = StepRecord(self.next, ModeKeys.TRAIN, self.next, 1e9 + self.next, **about)
            columns = {name: np.full(2, 1.0) for name in STATISTIC_COLUMNS} | {
                "l1": np.full(2, mean_abs),
                "nonfinite": np.zeros(2),
            }
            self.observing.take(record, [Part(self.next, NAMES, columns)])
            self.next += 1

    def look(self, *, after: float = 0.0, settled: bool = False) -> None:
        self.clock.now += after
        self.observing.look(settled=settled)


@pytest.fixture
def bench(tmp_path: Path) -> Callable[..., Bench]:
    return lambda *observers: Bench(tmp_path / "run", *observers)


def found(step: int, code: str = "seen") -> Finding:
    return Finding(code, "warning", f"Seen at {step}.", where={"step": step}, id=f"{code} {step}")


class TestWhatTheyAreShown:
    def test_a_step_is_shown_when_the_next_one_has_come(self, bench: Callable[..., Bench]) -> None:
        looks = Looks()
        here = bench(looks)
        here.look()
        assert looks.steps == []
        here.steps(3)
        here.look()
        assert looks.steps == [1]

    def test_the_last_step_is_shown_when_the_loop_is_done_with_it(self, bench: Callable[..., Bench]) -> None:
        looks = Looks()
        here = bench(looks)
        here.steps(1)
        here.look()
        assert looks.steps == []
        here.look(after=0.25)
        assert looks.steps == [0]
        here.look(after=10)
        assert looks.steps == [0]

    def test_they_are_left_alone_for_a_while_and_miss_nothing(self, bench: Callable[..., Bench]) -> None:
        windows: list[list[int]] = []
        looks = Looks(lambda reader, _: windows.append(reader.step_window(0, 10**9)["step"].tolist()))
        here = bench(looks)
        for _ in range(10):
            here.steps(10)
            here.look(after=0.0625)
        assert looks.steps == [8, 48, 88]
        assert windows[-1] == list(range(89))

    def test_whoever_flushes_lets_them_see_the_rest_at_once(self, bench: Callable[..., Bench]) -> None:
        looks = Looks()
        here = bench(looks)
        here.steps(5)
        here.look()
        here.steps(5)
        here.look(settled=True)
        here.look(settled=True)
        assert looks.steps == [3, 9]

    def test_steps_that_come_fast_are_not_let_go_of_unseen(self, bench: Callable[..., Bench]) -> None:
        seen: list[int] = []

        def note(reader: TensorReader, step: int) -> None:
            seen.extend(reader.step_window(seen[-1] + 1 if seen else 0, step + 1)["step"].tolist())

        here = bench(Looks(note))
        for _ in range(40):
            here.steps(100)
            here.look(after=0.001)
        here.look(settled=True)
        assert seen == list(range(4000))

    def test_many_tensors_are_held_for_fewer_steps(self, bench: Callable[..., Bench]) -> None:
        held: list[int] = []
        here = bench(Looks(lambda reader, _: held.append(len(reader.step_window(0, 10**9)["step"]))))
        names = pa.array([f"Net_{i}.weight" for i in range(10_000)])
        columns = {name: np.ones(10_000) for name in STATISTIC_COLUMNS}
        for step in range(2 * MOST_STEPS):
            here.observing.take(StepRecord(step, ModeKeys.TRAIN, step, 0.0), [Part(step, names, columns)])
            here.look(after=0.1)
        assert max(held) < 100

    def test_what_is_added_to_a_step_later_is_part_of_it(self, bench: Callable[..., Bench]) -> None:
        def at(reader: TensorReader, name: str) -> list[list[float]]:
            window = reader.scalar_window(name, 0, 10)
            return [window["step"].tolist(), window["value"].tolist()]

        seen: list[Any] = []
        here = bench(Looks(lambda reader, _: seen.append((at(reader, "loss"), at(reader, "accuracy"), names(reader)))))

        def names(reader: TensorReader) -> Sequence[str]:
            return reader.tensor_names(collection="losses")

        here.steps(1)
        here.look()
        columns = {name: np.ones(1) for name in STATISTIC_COLUMNS}
        late = StepRecord(0, ModeKeys.TRAIN, 0, 1e9, scalars=[("loss", 2.0)], listed=False)
        here.observing.take(late, [Part(0, pa.array(["my_loss_output_0"]), columns)])
        here.observing.take_scalar("accuracy", 0.5, 0, "TRAIN")
        here.observing.take_scalar("accuracy", 0.6, 1, "TRAIN")
        here.steps(1)
        here.look()
        here.look(settled=True)
        loss, early, whole = [[0], [2.0]], [[0], [0.5]], [[0, 1], [0.5, 0.6]]
        assert seen == [(loss, early, ["my_loss_output_0"]), (loss, whole, ["my_loss_output_0"])]

    def test_they_see_what_a_trial_would_show(self, bench: Callable[..., Bench]) -> None:
        seen: list[dict[str, Any]] = []

        def note(reader: TensorReader, step: int) -> None:
            window = reader.step_window(step, step + 1)
            seen.append({name: column.tolist() for name, column in window.items()})
            assert reader.mode(step) is ModeKeys.TRAIN
            assert reader.samples(step) == ["training/7", None]
            assert reader.steps() == []
            assert reader.statistics_blocks(["Net_weight"], step, step + 1)[0]["l2"].tolist() == [[1.0]]

        here = bench(Looks(note))
        here.steps(1, epoch=2, seconds={"forward": 0.5}, samples=["training/7", None])
        here.look(settled=True)
        (row,) = seen
        assert (row["step"], row["mode"], row["epoch"], row["time"], row["forward"]) == (
            [0],
            ["TRAIN"],
            [2],
            [1e9],
            [0.5],
        )


class TestWhatTheyFind:
    def test_it_is_stamped_and_recorded(self, bench: Callable[..., Bench]) -> None:
        here = bench(Looks(lambda _, step: [found(step)]))
        here.steps(1)
        here.look(settled=True)
        (one,) = here.book.found
        assert one.source == "hook"
        assert one.where == {"step": 0, "attempt": 3}
        assert one.id != "seen 0"

    def test_it_is_the_same_whoever_evaluates_the_rule(self, bench: Callable[..., Bench]) -> None:
        from cutaway.run.findings import stamped
        from cutaway.testing.rules import ScriptedRun

        here, script = bench(VanishingGradient()), ScriptedRun()
        for step in range(60):
            here.steps(1, mean_abs=1.0 if step < 20 else 1e-9)
            script.step(tensors={"gradient/Net_weight": np.full(1, 1.0 if step < 20 else 1e-9)})
            here.look(after=0.03)
        here.look(settled=True)
        expected = [stamped(one, here.run.id, 3, "watch").id for one in VanishingGradient().look(script, 60)]
        assert [one.id for one in here.book.found] == expected
        assert [one.where["step"] for one in here.book.found] == [20]

    def test_what_was_found_before_an_error_counts(self, bench: Callable[..., Bench]) -> None:
        def finds_and_breaks(_: TensorReader, step: int) -> Iterator[Finding]:
            yield found(step)
            raise ValueError("later")

        here = bench(Looks(finds_and_breaks))
        here.steps(1)
        here.look(settled=True)
        assert sorted(one.code for one in here.book.found) == ["rule-broken", "seen"]

    def test_an_observer_that_acts_is_asked_to_once_it_is_recorded(self, bench: Callable[..., Bench]) -> None:
        acted: list[Finding] = []

        def act(finding: Finding) -> None:
            assert finding in here.book.found
            acted.append(finding)

        here = bench(Acts(lambda _, step: [found(step, "a"), found(step, "b")], act))
        here.steps(1)
        here.look(settled=True)
        assert [one.code for one in acted] == ["a", "b"]
        assert {one.where["attempt"] for one in acted} == {3}

    def test_an_action_that_fails_is_logged_and_the_rest_goes_on(
        self, bench: Callable[..., Bench], caplog: pytest.LogCaptureFixture
    ) -> None:
        acted: list[str] = []

        def act(finding: Finding) -> None:
            acted.append(finding.code)
            raise OSError("no mail today")

        here = bench(Acts(lambda _, step: [found(step, "a"), found(step, "b")], act))
        for _ in range(2):
            here.steps(1)
            here.look(settled=True)
        assert acted == ["a", "b", "a", "b"]
        assert "What Acts asks for failed: OSError: no mail today" in caplog.text


class TestThoseThatMisbehave:
    @pytest.mark.parametrize("error", [ValueError("why"), KeyError("x"), SystemExit(3), ConfigurationError("no run")])
    def test_one_that_raises_is_ended_and_the_others_go_on(
        self, bench: Callable[..., Bench], error: BaseException
    ) -> None:
        def breaks(_: TensorReader, __: int) -> None:
            raise error

        broken, healthy = Looks(breaks), Looks(lambda _, step: [found(step)])
        here = bench(broken, healthy)
        for _ in range(3):
            here.steps(1)
            here.look(settled=True)
        assert broken.steps == [0]
        assert healthy.steps == [0, 1, 2]
        one, *others = here.book.found
        assert (one.code, one.severity, one.source) == ("rule-broken", "warning", "hook")
        assert one.where == {"step": 0, "rule": "Looks", "attempt": 3}
        assert one.evidence["error"] == type(error).__name__
        assert str(error) in one.message
        assert Path(one.evidence["place"].rpartition(":")[0]).name == "test_observing.py"
        assert {other.code for other in others} == {"seen"}

    def test_its_place_is_outside_of_numpy(self, bench: Callable[..., Bench]) -> None:
        def singular(_: TensorReader, __: int) -> None:
            np.linalg.inv(np.zeros((2, 2)))

        here = bench(Looks(singular))
        here.steps(1)
        here.look(settled=True)
        file, _, line = here.book.found[0].evidence["place"].rpartition(":")
        assert "np.linalg.inv" in Path(file).read_text(encoding="utf-8").splitlines()[int(line) - 1]

    def test_one_that_returns_something_else_is_broken(self, bench: Callable[..., Bench]) -> None:
        here = bench(Looks(lambda _, __: ["a text"]))  # type: ignore[list-item]
        here.steps(1)
        here.look(settled=True)
        assert "must return findings, but got 'a text'" in here.book.found[0].message

    def test_one_that_lacks_something_is_said_once_and_kept(self, bench: Callable[..., Bench]) -> None:
        def lacks(reader: TensorReader, step: int) -> list[Finding]:
            if not reader.scalar_names():
                raise InsufficientInformationForRuleInvocation("needs a scalar.")
            return [found(step)]

        looks = Looks(lacks)
        here = bench(looks)
        for _ in range(3):
            here.steps(1)
            here.look(settled=True)
        ((code, message, where),) = here.book.said
        assert code == "rule-skipped"
        assert message.startswith("Rule Looks is skipped: it needs a scalar. ")
        assert where == {"step": 0, "rule": "Looks"}
        here.steps(1, scalars=[("loss", 1.0)])
        here.look(settled=True)
        assert [one.where["step"] for one in here.book.found] == [3]

    def test_what_comes_with_the_first_steps_is_waited_for(self, bench: Callable[..., Bench]) -> None:
        def lacks(_: TensorReader, __: int) -> None:
            raise InsufficientInformationForRuleInvocation("needs more.")

        here = bench(Looks(lacks))
        here.steps(50)
        here.look(after=1)
        assert here.book.said == []
        here.steps(100)
        here.look(after=1)
        assert [code for code, _, _ in here.book.said] == ["rule-skipped"]

    def test_a_slow_one_is_asked_less_often_and_says_so_once(self, bench: Callable[..., Bench]) -> None:
        def takes(_: TensorReader, __: int) -> None:
            here.clock.now += 0.3

        slow, quick = Looks(takes), Looks()
        here = bench(slow, quick)
        for _ in range(200):
            here.steps(1)
            here.look(after=0.05)
        assert len(quick.steps) > 1.5 * len(slow.steps)
        ((code, message, where),) = here.book.said
        assert code == "rule-slow"
        assert "Rule Looks took 0.3 s for" in message
        assert where["rule"] == "Looks"

    def test_one_that_was_slow_for_a_moment_is_asked_as_often_as_before(self, bench: Callable[..., Bench]) -> None:
        seconds = iter([0.0, 0.5, 0.0, 0.5, 0.5, 0.5])

        def takes(_: TensorReader, __: int) -> None:
            here.clock.now += next(seconds, 0.0)

        looks = Looks(takes)
        here = bench(looks)
        for _ in range(3):
            here.steps(1)
            here.look(after=0.25)
        assert here.book.said == []
        for _ in range(100):
            here.steps(1)
            here.look(after=0.25)
        assert [code for code, _, _ in here.book.said] == ["rule-slow"]
        assert looks.steps[-5:] == [98, 99, 100, 101, 102]

    def test_one_that_is_slower_than_everything_still_leaves_pauses(self, bench: Callable[..., Bench]) -> None:
        def takes(_: TensorReader, __: int) -> None:
            here.clock.now += 60

        slow = Looks(takes)
        here = bench(slow)
        asked = []
        for _ in range(60):
            here.steps(1)
            here.look(after=1)
            asked.append(len(slow.steps))
        assert asked[-1] - asked[-51] == 10

    def test_the_writer_is_let_in_between_two_that_take_long(self, bench: Callable[..., Bench]) -> None:
        def takes(_: TensorReader, __: int) -> None:
            here.clock.now += 0.03

        several = [Looks(takes) for _ in range(4)]
        here = bench(*several)
        here.steps(2)
        asked = []
        for _ in range(5):
            here.look()
            asked.append([len(one.steps) for one in several])
        assert asked == [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1], [1, 1, 1, 1]]


class TestWhatMayBeGiven:
    def test_names_in_any_case_and_objects(self) -> None:
        mine, rule = Looks(), VanishingGradient(threshold=1e-3)
        first, second, third = observers_of(["vanishinggradient", mine, rule])
        assert isinstance(first, VanishingGradient)
        assert (second, third) == (mine, rule)

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ("VanishingGradient", r"takes a list of rules: write \['VanishingGradient'\]"),
            (["VanishingGradients"], "There is no rule 'VanishingGradients'. Did you mean 'VanishingGradient'"),
            ([VanishingGradient], r"got the class VanishingGradient: write VanishingGradient\(\)"),
            ([7], r"objects with `observe\(reader, step\)`, but got 7"),
            ([None], "but got None"),
            (7, "takes a list of rules, but got 7"),
            (None, "takes a list of rules, but got None"),
        ],
    )
    def test_anything_else_is_refused_with_a_hint(self, given: Any, message: str) -> None:
        with pytest.raises(ConfigurationError, match=message):
            observers_of(given)

    def test_a_rule_that_cannot_be_made_from_its_name_says_how(self, monkeypatch: pytest.MonkeyPatch) -> None:
        class Demanding(Looks):
            def __init__(self, threshold: float) -> None:
                super().__init__()
                self.threshold = threshold

        monkeypatch.setattr("cutaway.registry.load", lambda _, __: Demanding)
        with pytest.raises(ConfigurationError, match=r"needs arguments: .*threshold.*rules=\[Demanding\(\.\.\.\)\]"):
            observers_of(["Demanding"])


class SeesNaN:
    """An observer of a dozen lines."""

    def observe(self, reader: TensorReader, step: int) -> Iterator[Finding]:
        for name in reader.tensor_names():
            if reader.statistics_window(name, step, step + 1)["nonfinite"].any():
                yield Finding("nan", "error", f"{name} has a NaN at step {step}.", where={"tensor": name})


def test_an_observer_reads_a_step_and_says_what_it_found() -> None:
    reader, observer = RecentSteps(most=10), SeesNaN()
    for step, nonfinite in enumerate([0, 1]):
        reader.add(
            HeldStep(step, statistics=[TensorRows(("w",), {name: np.array([nonfinite]) for name in STATISTIC_COLUMNS})])
        )
    assert isinstance(reader, TensorReader)
    assert isinstance(observer, Observer)
    assert list(observer.observe(reader, 0)) == []
    assert [finding.where for finding in observer.observe(reader, 1)] == [{"tensor": "w"}]


def test_a_protocol_stays_small() -> None:
    def methods(protocol: type[Any]) -> list[str]:
        return [name for name, value in vars(protocol).items() if callable(value) and not name.startswith("_")]

    assert len(methods(TensorReader)) == 12
    assert methods(Observer) == ["observe"]


class TestHowRulesStand:
    """What health is judged by: which observers looked, up to where, and what became of them."""

    def test_each_is_written_down_as_a_watcher_beside_the_training_would(self, bench: Callable[..., Bench]) -> None:
        def lacks(_: TensorReader, __: int) -> None:
            raise InsufficientInformationForRuleInvocation("needs more.")

        def breaks(_: TensorReader, __: int) -> None:
            raise ValueError("no")

        class JudgesNothing(Looks):
            has_judged = False

        here = bench(Looks(), Looks(lambda _, step: [found(step)]), Looks(lacks), Looks(breaks), JudgesNothing())
        here.steps(4)
        here.look(settled=True)
        [document] = read_watches(here.run.storage)
        assert [(rule["status"], rule["step"], rule["findings"]) for rule in document["rules"]] == [
            ("SILENT", 3, 0),
            ("FIRED", 3, 1),
            ("SKIPPED", -1, 0),
            ("BROKEN", -1, 0),
            ("SKIPPED", -1, 0),
        ]
        assert document["rules"][2]["message"] == "needs more."

    def test_it_is_written_every_few_seconds_and_where_the_training_ends(self, bench: Callable[..., Bench]) -> None:
        here = bench(Looks())
        told = []
        for after in (1.0, 1.0, 5.0):
            here.steps(2)
            here.look(after=after)
            told.append(read_watches(here.run.storage)[0]["step"])
        here.steps(2)
        here.look(settled=True)
        told.append(read_watches(here.run.storage)[0]["step"])
        assert told == [1, 1, 5, 7]

    def test_a_folder_that_cannot_be_written_ends_no_observer(self, bench: Callable[..., Bench]) -> None:
        looks = Looks()
        here = bench(looks)
        (here.run.path / "watch").write_text("in the way", encoding="utf-8")
        for _ in range(2):
            here.steps(1)
            here.look(settled=True)
        assert looks.steps == [0, 1]
