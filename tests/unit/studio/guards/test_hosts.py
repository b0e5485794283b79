"""Only names that are ours are answered to, however they are written."""

import pytest

from cutaway.studio.guards.hosts import KnownHosts, host_name, is_everywhere, is_loopback
from tests.unit.studio.asking import Inside, ask, scope_of


def status_of(*hosts: str, bound: str = "127.0.0.1", allowed: tuple[str, ...] = ()) -> int:
    layer = KnownHosts(Inside(), host=bound, allowed=allowed)
    return ask(layer, scope_of(headers=[("Host", host) for host in hosts])).status


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "localhost:8600",
        "localhost:9999",
        "LOCALHOST:8600",
        "localhost.",
        "localhost.:8600",
        "127.0.0.1",
        "127.0.0.1:8600",
        "[::1]",
        "[::1]:8600",
        "[0:0:0:0:0:0:0:1]:8600",
        "localhost:",
    ],
)
def test_this_machine_is_answered_to_under_any_port(host: str) -> None:
    assert status_of(host) == 204


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8600",
        "localhost.evil",
        "localhost.evil:8600",
        "evil.localhost",
        "localhost..",
        "xlocalhost",
        "localhost evil",
        "localhost@evil.example",
        "evil.example@localhost",
        "localhost/evil",
        "localhost:8600:8600",
        "localhost:port",
        "127.0.0.2",
        "127.1",
        "2130706433",
        "0.0.0.0",
        "[::ffff:127.0.0.1]",
        "[::1",
        "::1",
        "",
        " ",
        "l\N{CYRILLIC SMALL LETTER O}calhost".encode().decode("latin-1"),
        "localhost,evil.example",
    ],
)
def test_other_names_are_refused(host: str) -> None:
    assert status_of(host) == 403


def test_a_request_without_a_host_or_with_two_is_refused() -> None:
    assert status_of() == 403
    assert status_of("localhost", "localhost") == 403
    assert status_of("localhost", "evil.example") == 403


def test_the_bound_name_and_allowed_names_are_answered_to() -> None:
    assert status_of("gpu-box:8600", bound="gpu-box") == 204
    assert status_of("GPU-Box", bound="192.0.2.1", allowed=("gpu-box",)) == 204
    assert status_of("192.0.2.1:1", bound="192.0.2.1") == 204
    assert status_of("gpu-box.evil", bound="gpu-box") == 403


def test_bound_to_every_address_answers_to_none_of_them_by_itself() -> None:
    assert status_of("0.0.0.0:8600", bound="0.0.0.0") == 403
    assert status_of("[::]:8600", bound="::") == 403
    assert status_of("localhost", bound="0.0.0.0") == 204


def test_the_refusal_says_which_option_lets_the_name_in() -> None:
    layer = KnownHosts(Inside(), host="127.0.0.1", allowed=())
    answer = ask(layer, scope_of(headers=[("Host", "gpu-box:8600")]))
    assert answer.error["code"] == "wrong-host"
    assert "`cutaway studio --allow-host gpu-box`" in answer.error["hint"]


def test_a_websocket_for_another_name_is_closed() -> None:
    inside = Inside()
    layer = KnownHosts(inside, host="127.0.0.1", allowed=())
    answer = ask(layer, scope_of(headers=[("Host", "evil.example")], type="websocket"), [{"type": "websocket.connect"}])
    assert [message["type"] for message in answer.messages] == ["websocket.close"]
    assert not inside.scopes


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("localhost", True),
        ("::1", True),
        ("0.0.0.0", False),
        ("::", False),
        ("", False),
        ("gpu-box", False),
        ("192.168.1.2", False),
    ],
)
def test_what_only_this_machine_reaches(host: str, local: bool) -> None:
    assert is_loopback(host) is local


def test_every_address_is_the_name_of_none() -> None:
    assert [is_everywhere(host) for host in ("0.0.0.0", "::", "[::]", "", "127.0.0.1")] == [True] * 4 + [False]


def test_a_name_stands_without_its_port() -> None:
    assert host_name("[fe80::1]:80") == "fe80::1"
    assert host_name("a\nb") is None
