"""Pages of other sites get nothing, and change nothing."""

import pytest

from cutaway.studio.guards.origins import OwnOrigin, is_same_origin
from tests.unit.studio.asking import Inside, ask, scope_of

JSON = ("Content-Type", "application/json")
OWN = ("Origin", "http://localhost:8600")


def status_of(method: str, *headers: tuple[str, str], path: str = "/api/runs") -> int:
    return ask(OwnOrigin(Inside()), scope_of(method, path, [("Host", "localhost:8600"), *headers])).status


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("http://localhost:8600", "localhost:8600"),
        ("http://LOCALHOST:8600", "localhost:8600"),
        ("http://localhost", "localhost"),
        ("http://localhost:80", "localhost"),
        ("https://ml.example.org", "ml.example.org"),
        ("https://ml.example.org", "ml.example.org:443"),
        ("https://ml.example.org:8443", "ml.example.org:8443"),
        ("http://[::1]:8600", "[::1]:8600"),
        ("http://[::1]", "[::1]"),
    ],
)
def test_the_same_name_and_port_are_the_same_origin(origin: str, host: str) -> None:
    assert is_same_origin(origin, host)


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("null", "localhost:8600"),
        ("", "localhost:8600"),
        ("http://evil.example", "localhost:8600"),
        ("http://localhost:3000", "localhost:8600"),
        ("http://localhost", "localhost:8600"),
        ("http://127.0.0.1:8600", "localhost:8600"),
        ("http://localhost.evil:8600", "localhost:8600"),
        ("http://localhost:8600.evil.example", "localhost:8600"),
        ("http://localhost:8600@evil.example", "localhost:8600"),
        ("http://evil@localhost:8600", "localhost:8600"),
        ("http://localhost:8600/", "localhost:8600"),
        ("file://localhost:8600", "localhost:8600"),
        ("chrome-extension://localhost:8600", "localhost:8600"),
        ("http://localhost:x", "localhost:8600"),
        ("http://[::1", "[::1]:8600"),
        ("https://ml.example.org", "ml.example.org:80"),
        ("http://", ""),
    ],
)
def test_everything_else_is_another_origin(origin: str, host: str) -> None:
    assert not is_same_origin(origin, host)


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "POST", "PATCH", "PUT", "DELETE"])
@pytest.mark.parametrize("origin", ["null", "http://evil.example", "http://localhost:3000"])
@pytest.mark.parametrize("path", ["/api/runs", "/", "/assets/x.js"])
def test_another_origin_is_refused_on_every_method_and_path(method: str, origin: str, path: str) -> None:
    assert status_of(method, ("Origin", origin), JSON, path=path) == 403


def test_two_origins_are_refused_when_one_of_them_is_foreign() -> None:
    assert status_of("GET", OWN, ("Origin", "http://evil.example")) == 403


@pytest.mark.parametrize("method", ["POST", "PATCH", "PUT", "DELETE"])
@pytest.mark.parametrize("site", ["cross-site", "same-site", "none", "odd"])
def test_a_change_from_another_site_is_refused_also_without_an_origin(method: str, site: str) -> None:
    assert status_of(method, ("Sec-Fetch-Site", site), JSON) == 403


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/json", ""]
)
def test_a_change_that_a_form_could_send_is_refused(kind: str) -> None:
    assert status_of("POST", ("Content-Type", kind), ("Content-Length", "5")) == 415
    assert status_of("POST", OWN, ("Content-Type", kind), ("Content-Length", "5")) == 415
    assert status_of("POST", OWN, ("Content-Type", kind), ("Transfer-Encoding", "chunked")) == 415


def test_a_change_without_body_or_proof_is_refused() -> None:
    assert status_of("POST") == 415
    assert status_of("DELETE") == 415


@pytest.mark.parametrize(
    "headers",
    [
        [OWN, JSON],
        [OWN],
        [("Sec-Fetch-Site", "same-origin")],
        [("Sec-Fetch-Site", "same-origin"), JSON],
        [("Authorization", "Bearer abc")],
        [JSON],
        [("Content-Type", "application/json; charset=utf-8"), ("Content-Length", "5")],
    ],
)
def test_our_own_page_and_programs_may_change_things(headers: list[tuple[str, str]]) -> None:
    assert status_of("POST", *headers) == 204


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_site_may_link_to_the_page_but_not_read_the_api(site: str) -> None:
    assert status_of("GET", ("Sec-Fetch-Site", site), path="/runs/x") == 204
    assert status_of("GET", ("Sec-Fetch-Site", site), path="/api/live") == 403


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_our_own_page_and_a_typed_address_read_the_api(site: str) -> None:
    assert status_of("GET", ("Sec-Fetch-Site", site)) == 204
    assert status_of("GET") == 204


def test_headers_of_proxies_prove_nothing() -> None:
    forwarded = [
        ("X-Forwarded-Host", "evil.example"),
        ("X-Forwarded-Proto", "http"),
        ("Forwarded", "host=evil.example"),
    ]
    assert status_of("GET", ("Origin", "http://evil.example"), *forwarded) == 403


def test_no_websocket_is_opened_by_any_way() -> None:
    upgrade = [("Connection", "Upgrade"), ("Upgrade", "WebSocket"), OWN]
    assert status_of("GET", *upgrade) == 403
    inside = Inside()
    scope = scope_of(headers=[("Host", "localhost:8600"), OWN], type="websocket")
    answer = ask(OwnOrigin(inside), scope, [{"type": "websocket.connect"}])
    assert [message["type"] for message in answer.messages] == ["websocket.close"]
    assert not inside.scopes


def test_a_refusal_says_how_to_ask_rightly() -> None:
    scope = scope_of("POST", headers=[("Host", "localhost:8600"), ("Content-Type", "text/plain")])
    answer = ask(OwnOrigin(Inside()), scope)
    assert answer.error["hint"] == "Send it with `Content-Type: application/json`."
