"""The token: who knows it comes in, by header or cookie; nobody else, and not by guessing."""

import hmac
import inspect
import logging

import pytest

from cutaway.errors import ConfigurationError
from cutaway.studio.answers.errors import Refusal
from cutaway.studio.guards import tokens
from cutaway.studio.guards.tokens import COOKIE_SECONDS, MOST_ADDRESSES, MOST_MISSES, REFILL_SECONDS, Gate, TokenAsked
from tests.unit.studio.asking import Answer, Inside, ask, scope_of

TOKEN = "a-token-of-24-characters"


class Clock:
    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


def asked(gate: Gate | None, path: str = "/api/runs", query: bytes = b"", **headers: str) -> Answer:
    scope = scope_of(path=path, headers=list(headers.items()), query_string=query)
    return ask(TokenAsked(Inside(), gate), scope)


def test_a_program_comes_in_with_its_bearer_header() -> None:
    gate = Gate(TOKEN)
    assert asked(gate, Authorization=f"Bearer {TOKEN}").status == 204
    assert asked(gate, Authorization=f"bearer {TOKEN}").status == 204


@pytest.mark.parametrize(
    "value",
    [
        "Bearer wrong",
        "Bearer",
        "Bearer ",
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}",
        f"Basic {TOKEN}",
        TOKEN,
        "Bearer é",
    ],
)
def test_anything_else_is_401_with_what_to_do(value: str) -> None:
    answer = asked(Gate(TOKEN), Authorization=value)
    assert answer.status == 401
    assert answer.error["code"] == "token-needed"
    assert "Authorization: Bearer" in answer.error["hint"]
    assert TOKEN not in answer.body.decode()


def test_without_a_gate_nobody_is_asked() -> None:
    assert asked(None).status == 204


@pytest.mark.parametrize("path", ["/", "/runs/x", "/assets/a.js", "/api/login"])
def test_the_page_and_the_login_are_open(path: str) -> None:
    assert asked(Gate(TOKEN), path).status == 204


@pytest.mark.parametrize("path", ["/api", "/api/", "/api/about", "/api/openapi.json", "/api/login/x", "/api/nowhere"])
def test_everything_else_of_the_api_is_closed(path: str) -> None:
    assert asked(Gate(TOKEN), path).status == 401


def test_a_cookie_opens_until_it_ends() -> None:
    clock = Clock()
    gate = Gate(TOKEN, clock=clock)
    cookie = f"theme=dark; {gate.cookie_name}={gate.new_cookie()}; other={{odd}}"
    assert asked(gate, Cookie=cookie).status == 204
    clock.now += COOKIE_SECONDS - 1
    assert asked(gate, Cookie=cookie).status == 204
    clock.now += 1
    assert asked(gate, Cookie=cookie).status == 401


def test_a_cookie_holds_no_token_and_cannot_be_made_without_it() -> None:
    gate = Gate(TOKEN)
    value = gate.new_cookie()
    assert TOKEN not in value
    expiry, _, digest = value.partition(".")
    other = Gate(f"{TOKEN}x")
    for forged in (
        f"{int(expiry) + 1}.{digest}",
        f"{expiry}.{digest[:-1]}",
        f"{expiry}.",
        expiry,
        "",
        ".",
        f"9{expiry}.{digest}",
        other.new_cookie(),
        f"é.{digest}",
    ):
        assert not gate.admits(forged), forged


def test_two_studios_on_one_machine_do_not_share_a_cookie() -> None:
    assert Gate(TOKEN).cookie_name != Gate(f"{TOKEN}x").cookie_name
    assert Gate(TOKEN).cookie_name == Gate(TOKEN).cookie_name


def test_a_strange_cookie_of_another_server_does_not_hide_ours() -> None:
    gate = Gate(TOKEN)
    cookie = f'a={{"json": [1, 2]}}; =; ;; b="\\"; {gate.cookie_name}={gate.new_cookie()}'
    assert asked(gate, Cookie=cookie).status == 204


@pytest.mark.parametrize(
    "query", [f"token={TOKEN}", "token=", "Access_Token=x", f"name={TOKEN}", "a=1&api_key=2", f"x={TOKEN[:-1]}%73"]
)
@pytest.mark.parametrize("path", ["/", "/api/about"])
def test_a_token_in_an_address_is_refused_and_not_logged(
    query: str, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        answer = asked(Gate(TOKEN), path, query.encode(), Authorization=f"Bearer {TOKEN}")
    assert answer.status == 400
    assert answer.error["code"] == "token-in-address"
    assert TOKEN not in answer.body.decode() + caplog.text


def test_an_ordinary_query_passes() -> None:
    assert asked(None, query=b"search=tokenizer&limit=5&where=config.token_count+%3E+3").status == 204


def test_a_query_beyond_all_measure_is_refused() -> None:
    assert asked(None, query=b"a=" + b"x" * 70_000).status == 400


def test_guessing_is_slowed_down_for_the_one_who_guesses() -> None:
    clock = Clock()
    gate = Gate(TOKEN, clock=clock)
    codes = []
    for _ in range(MOST_MISSES + 5):
        with pytest.raises(Refusal) as refused:
            gate.take("wrong", "192.0.2.7")
        codes.append(refused.value.status)
    assert codes == [401] * MOST_MISSES + [429] * 5
    with pytest.raises(Refusal):
        gate.take(TOKEN, "192.0.2.7")
    gate.take(TOKEN, "192.0.2.8")
    clock.now += REFILL_SECONDS
    gate.take(TOKEN, "192.0.2.7")


def test_guessing_from_many_addresses_takes_no_more_memory() -> None:
    gate = Gate(TOKEN)
    for i in range(MOST_ADDRESSES + 100):
        with pytest.raises(Refusal):
            gate.take("wrong", f"address {i}")
    assert len(gate._misses) == MOST_ADDRESSES


@pytest.mark.parametrize(
    "token", ["", "short", "x" * 15, "x" * 1025, "a token with a\nnewline", "ein-tökén-das-lang-ist"]
)
def test_a_token_that_is_no_secret_is_refused_with_the_command_for_one(token: str) -> None:
    with pytest.raises(ConfigurationError, match=r"secrets\.token_urlsafe") as error:
        Gate(token)
    assert not token or token not in str(error.value)


def test_the_token_is_in_no_printed_form_of_the_gate() -> None:
    assert TOKEN not in repr(Gate(TOKEN))


def test_secrets_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []
    real = hmac.compare_digest
    monkeypatch.setattr(tokens.hmac, "compare_digest", lambda a, b: compared.append((a, b)) or real(a, b))
    gate = Gate(TOKEN)
    assert gate.knows(TOKEN)
    assert not gate.knows("wrong")
    assert gate.admits(gate.new_cookie())
    assert len(compared) == 3
    # Both sides are digests of one length: the time tells nothing of the token's length either.
    assert all(len(a) == len(b) for a, b in compared)
    assert "==" not in inspect.getsource(Gate.knows) + inspect.getsource(Gate.admits)
