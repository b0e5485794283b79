"""Every answer says how a browser is to treat it."""

from starlette.types import Receive, Scope, Send

from cutaway.studio.guards.headers import CONTENT_SECURITY_POLICY, SafeHeaders
from tests.unit.studio.asking import Inside, ask, scope_of


def test_the_policy_is_exactly_this() -> None:
    assert CONTENT_SECURITY_POLICY == (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
        "media-src 'self' blob:; connect-src 'self'; font-src 'self'; base-uri 'self'; "
        "form-action 'self'; frame-ancestors 'none'"
    )


def test_every_answer_has_the_headers_and_an_id_of_its_own() -> None:
    first, second = (ask(SafeHeaders(Inside()), scope_of()).headers for _ in range(2))
    assert first["content-security-policy"] == CONTENT_SECURITY_POLICY
    assert first["x-content-type-options"] == "nosniff"
    assert first["x-frame-options"] == "DENY"
    assert first["referrer-policy"] == "no-referrer"
    assert first["cross-origin-opener-policy"] == "same-origin"
    assert first["cross-origin-resource-policy"] == "same-origin"
    assert first["x-request-id"] != second["x-request-id"]
    assert not any(name.startswith("access-control") for name in first)


def test_the_api_is_never_kept_by_a_browser_whatever_a_route_says() -> None:
    async def keeps(scope: Scope, receive: Receive, send: Send) -> None:
        kept = [(b"cache-control", b"public, max-age=9"), (b"x-frame-options", b"ALLOW")]
        await send({"type": "http.response.start", "status": 200, "headers": kept})
        await send({"type": "http.response.body", "body": b""})

    assert ask(SafeHeaders(keeps), scope_of(path="/api/runs")).headers["cache-control"] == "no-store"
    answer = ask(SafeHeaders(keeps), scope_of(path="/assets/x.js"))
    assert answer.headers["cache-control"] == "public, max-age=9"
    assert answer.headers["x-frame-options"] == "DENY"


def test_the_policy_of_a_route_comes_to_ours_and_does_not_replace_it() -> None:
    async def picture(scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"content-security-policy", b"sandbox")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    answer = ask(SafeHeaders(picture), scope_of())
    assert answer.headers["content-security-policy"] == f"{CONTENT_SECURITY_POLICY}, sandbox"


def test_the_request_knows_its_id() -> None:
    inside = Inside()
    answer = ask(SafeHeaders(inside), scope_of())
    assert inside.scopes[0]["state"]["request_id"] == answer.headers["x-request-id"]
