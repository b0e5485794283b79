"""Words must be right and say what is near; upstream's JSON is read as far as it goes and never raises."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.errors import ConfigurationError
from cutaway.rules import Checkpoint, Command, Dump, Email, Notify, ReduceLearningRate, StopTraining, Webhook
from cutaway.rules.actions import parse_action_str, parse_action_words, parse_actions
from cutaway.rules.actions.action import Action

SMTP = {"CUTAWAY_SMTP_HOST": "mail.example.org", "CUTAWAY_SMTP_FROM": "cutaway@example.org"}
MAIL = Notify(Email("a@b.c", "cutaway@example.org", "mail.example.org"))

WORDS: list[tuple[str, list[Action]]] = [
    ("stop", [StopTraining()]),
    ("Checkpoint", [Checkpoint()]),
    ("dump", [Dump()]),
    ("reduce-lr", [ReduceLearningRate(0.1)]),
    ("reduce-lr=0.5", [ReduceLearningRate(0.5)]),
    ("checkpoint, stop", [Checkpoint(), StopTraining()]),
    ("notify=https://example.org/hook", [Notify(Webhook("https://example.org/hook"))]),
    ("stop,notify=http://h:8/x?a=b&c=d", [StopTraining(), Notify(Webhook("http://h:8/x?a=b&c=d"))]),
    ("notify=command:page --to 'Ada L'", [Notify(Command(["page", "--to", "Ada L"]))]),
    ("notify=command:./page.sh", [Notify(Command(["./page.sh"]))]),
    ("notify=mailto:a@b.c", [MAIL]),
    ("notify=env:MY_WEBHOOK", [Notify(Webhook("env:MY_WEBHOOK"))]),
]


@pytest.fixture
def smtp(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SMTP.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("MY_WEBHOOK", "https://example.org/t0ken")


@pytest.mark.usefixtures("smtp")
@pytest.mark.parametrize(("text", "actions"), WORDS, ids=[text for text, _ in WORDS])
def test_words_are_actions(text: str, actions: list[Action]) -> None:
    assert parse_action_words(text) == actions
    assert parse_actions(text) == actions


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("stpo", "No action 'stpo'. Did you mean 'stop'?"),
        ("stop,chekpoint", "Did you mean 'checkpoint'?"),
        ("reduce_lr", "Did you mean 'reduce-lr'?"),
        ("reduce-lr=much", "reduce-lr=0.5, but got 'much'"),
        ("reduce-lr=2", "`0 < factor < 1` must hold"),
        ("reduce-lr=", "but got ''"),
        ("stop=now", "'stop' takes no value"),
        ("notify", "notify=https://"),
        ("notify=", "notify=https://"),
        ("notify=htps://example.org", "Did you mean 'https'"),
        ("notify=example.org", "takes https://..., mailto:ADDRESS"),
        ("notify=ftp://example.org", "takes https://"),
        ("notify=command:", "list of words"),
        ("notify=command:'open", "cannot be read: No closing quotation"),
        ("notify=mailto:a@b.c", "set CUTAWAY_SMTP_HOST and CUTAWAY_SMTP_FROM"),
        ("notify=env:MY_WEBHOOK", "export MY_WEBHOOK="),
        ("notify=https://example.org/?a=1,2", "%2C"),
        ("", "An action is missing. There are stop, checkpoint, reduce-lr, dump, notify."),
        (" , ", "An action is missing"),
        ("xyzzy", "There are stop, checkpoint"),
    ],
)
def test_wrong_words_are_refused_and_say_what_is_near(text: str, words: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_action_words(text)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "text", ["notify=htps://h/t0ken", "notfy=https://h/t0ken", "notify=https:///t0ken", "notify=t0ken"]
)
def test_a_refusal_shows_no_token(text: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_action_words(text)
    assert "t0ken" not in str(caught.value)


@pytest.mark.usefixtures("smtp")
@pytest.mark.parametrize(
    ("value", "actions"),
    [
        ({"name": "stoptraining", "training_job_prefix": "mnist"}, [StopTraining("mnist")]),
        ({"name": "StopTraining", "training_job_prefix": "mnist"}, [StopTraining("mnist")]),
        ({"name": "email", "endpoint": "a@b.c"}, [MAIL]),
        (
            [{"name": "EMAIL", "endpoint": "a@b.c"}, {"name": "stoptraining", "training_job_prefix": "m"}],
            [MAIL, StopTraining("m")],
        ),
        ([], []),
    ],
)
def test_what_upstream_writes_is_read(value: object, actions: list[Action]) -> None:
    assert parse_action_str(json.dumps(value)) == actions
    assert parse_actions(f"  {json.dumps(value)}") == actions
    assert parse_actions(value) == actions  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{not json", "it is no JSON"),
        ('{"name": "stoptraining"}', "'stoptraining' lacks 'training_job_prefix'"),
        ('{"name": "stoptraining", "training_job_prefix": 3}', "'stoptraining' lacks 'training_job_prefix'"),
        ('{"name": "email"}', "'email' lacks 'endpoint'"),
        ('{"name": "email", "endpoint": "a@b.c"}', "set CUTAWAY_SMTP_HOST and CUTAWAY_SMTP_FROM"),
        ('{"name": "sms", "endpoint": "+49"}', "no text messages are sent from here; use notify=https://"),
        ('{"name": "emial", "endpoint": "a@b.c"}', "Did you mean 'email'?"),
        ('{"endpoint": "a@b.c"}', "no dictionary with a name"),
        ('{"name": 3}', "no dictionary with a name"),
        ("[3]", "no dictionary with a name"),
        ("[]x", "it is no JSON"),
    ],
)
def test_what_is_wrong_in_it_is_logged_and_passed_over(text: str, words: str, caplog: pytest.LogCaptureFixture) -> None:
    assert parse_action_str(text) == []
    assert words in caplog.text


def test_the_rest_of_a_list_is_done(caplog: pytest.LogCaptureFixture) -> None:
    text = '[{"name": "sms", "endpoint": "1"}, {"name": "stoptraining", "training_job_prefix": "m"}]'
    assert parse_action_str(text) == [StopTraining("m")]
    assert len(caplog.records) == 1


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_no_json_raises(value: object) -> None:
    assert parse_action_str(json.dumps(value)) == []


@given(st.text())
def test_no_text_raises_in_upstreams_form(text: str) -> None:
    assert parse_action_str(text) == []


@given(st.text())
def test_words_are_actions_or_refused(text: str) -> None:
    with contextlib.suppress(ConfigurationError):
        assert parse_action_words(text)


def test_lists_hold_actions_words_and_dictionaries() -> None:
    upstream = {"name": "stoptraining", "training_job_prefix": "m"}
    mixed = [Dump(), "notify=https://example.org/?a=1,2", upstream]
    assert parse_actions(mixed) == [Dump(), Notify(Webhook("https://example.org/?a=1,2")), StopTraining("m")]
    assert parse_actions(None) == []


@pytest.mark.parametrize("value", [[3], [StopTraining], [None]])
def test_what_is_no_action_is_refused(value: list[object]) -> None:
    with pytest.raises(ConfigurationError, match="An action is a word"):
        parse_actions(value)


def test_messages_to_the_same_place_are_one_action() -> None:
    here = "https://example.org/t0ken"
    assert len({Notify(here), Notify(Webhook(here)), Notify("command:true")}) == 2
    assert "t0ken" not in repr(Notify(here))
