"""Cases 31 to 34: a name that is not ours, a page that is not ours, a WebSocket, another origin's reading."""

import httpx
import pytest

from cutaway.studio.serving.server import Served
from tests.security.every_route import CHANGING, READING, ROUTES, Route
from tests.security.raw import ask

PAGES = [Route("GET", path, (), ()) for path in ("/", "/runs/x", "/assets/index-abc.js", "/nowhere.js", "/api/nowhere")]
JSON = {"Content-Type": "application/json"}


def test_every_router_is_in_the_schema_that_these_tests_go_through() -> None:
    import importlib
    import pkgutil

    from cutaway.studio import routes

    paths = {(route.method, route.path) for route in ROUTES}
    for module in pkgutil.iter_modules(routes.__path__):
        router = getattr(importlib.import_module(f"{routes.__name__}.{module.name}"), "router", None)
        for route in router.routes if router is not None else []:
            assert {(method, f"/api{route.path}") for method in route.methods} <= paths


@pytest.mark.parametrize("route", [*ROUTES, *PAGES], ids=str)
def test_a_foreign_host_is_refused_on_every_route(client: httpx.Client, run: str, route: Route) -> None:
    for host in ("evil.example", "localhost.evil:8600", "[::ffff:127.0.0.1]", "127.0.0.1.evil", "0"):
        answer = client.request(route.method, route.address(run), headers={"Host": host, **JSON})
        assert (answer.status_code, answer.json()["code"]) == (403, "wrong-host"), host
        assert "--allow-host" in answer.json()["hint"]


@pytest.mark.parametrize("route", READING, ids=str)
def test_our_own_names_are_answered_on_every_route(client: httpx.Client, run: str, route: Route) -> None:
    for host in ("LOCALHOST:1", "localhost.", "[::1]:8600", "127.0.0.1"):
        assert client.get(route.address(run), headers={"Host": host}).status_code != 403, host


def test_no_host_two_hosts_and_a_host_in_the_target_are_refused(served: Served) -> None:
    assert ask(served, "/api/about", []).status in (400, 403)
    good = ("Host", f"localhost:{served.port}")
    assert ask(served, "/api/about", [good]).status == 200
    assert ask(served, "/api/about", [good, good]).status in (400, 403)
    assert ask(served, "/api/about", [good, ("Host", "evil.example")]).status in (400, 403)
    assert ask(served, "http://evil.example/api/about", [good]).status == 404
    assert ask(served, "/api/about", [("X-Forwarded-Host", "localhost"), ("Host", "evil.example")]).status == 403


@pytest.mark.parametrize("route", [*ROUTES, *PAGES], ids=str)
def test_a_foreign_origin_is_refused_on_every_route(client: httpx.Client, run: str, route: Route) -> None:
    for origin in ("null", "http://evil.example", "http://localhost:1", "https://127.0.0.1"):
        answer = client.request(route.method, route.address(run), headers={"Origin": origin, **JSON})
        assert (answer.status_code, answer.json()["code"]) == (403, "foreign-origin"), origin


FOREIGN = (
    {"Content-Type": "text/plain"},
    {"Content-Type": "application/x-www-form-urlencoded"},
    {"Content-Type": "multipart/form-data; boundary=x"},
    {},
    {**JSON, "Sec-Fetch-Site": "cross-site"},
    {**JSON, "Sec-Fetch-Site": "same-site"},
    {**JSON, "Origin": "null"},
)


@pytest.mark.parametrize("route", CHANGING, ids=str)
def test_what_another_site_can_make_a_browser_send_changes_nothing(
    client: httpx.Client, run: str, route: Route
) -> None:
    body = b'{"tags": ["attack"], "action": "stop"}'
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        for headers in FOREIGN:
            answer = client.request(method, route.address(run), headers=headers, content=body)
            assert answer.status_code in (403, 415), (method, headers)
    assert "attack" not in client.get(f"/api/runs/{run}").text


@pytest.mark.parametrize("route", [*ROUTES, *PAGES], ids=str)
def test_another_site_may_read_nothing_on_any_route(client: httpx.Client, run: str, route: Route) -> None:
    wanted = {"Origin": "http://evil.example", "Access-Control-Request-Method": route.method}
    for method, headers in (("OPTIONS", wanted), ("OPTIONS", {}), (route.method, JSON)):
        if route.path == "/api/live" and method == "GET":
            continue
        answer = client.request(method, route.address(run), headers=headers)
        assert not [name for name in answer.headers if name.startswith("access-control")]
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.parametrize("route", [*ROUTES, *PAGES], ids=str)
@pytest.mark.parametrize("own", [True, False])
def test_no_route_opens_a_websocket(served: Served, run: str, route: Route, own: bool) -> None:
    headers = [
        ("Host", f"localhost:{served.port}"),
        ("Connection", "Upgrade"),
        ("Upgrade", "websocket"),
        ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ]
    if own:
        headers.append(("Origin", f"http://localhost:{served.port}"))
    assert ask(served, route.address(run), headers).status == 403


@pytest.mark.parametrize(
    "headers", [{"Origin": "null"}, {"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}]
)
def test_the_stream_is_not_for_other_sites(client: httpx.Client, headers: dict[str, str]) -> None:
    assert client.get("/api/live?topic=runs", headers=headers).status_code == 403


def test_our_own_page_can_do_what_it_is_there_for(client: httpx.Client, served: Served, run: str) -> None:
    own = {"Origin": f"http://127.0.0.1:{served.port}", "Sec-Fetch-Site": "same-origin"}
    before = client.get(f"/api/runs/{run}").json()["data"]["row"]["note"]
    answer = client.patch(f"/api/runs/{run}/annotations", json={"note": before}, headers=own)
    assert answer.status_code == 200
