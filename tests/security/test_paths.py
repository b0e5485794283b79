"""Cases 37 and 38: nothing outside the store is ever read, and nothing elsewhere is ever asked."""

import httpx
import pytest

from cutaway.studio.serving.server import Served
from tests.security.conftest import OUTSIDE
from tests.security.every_route import ROUTES, Route, schema
from tests.security.raw import ask

WAYS_OUT = (
    "../outside.txt",
    "..%2foutside.txt",
    "%2e%2e%2foutside.txt",
    "%2e%2e/outside.txt",
    "..%5coutside.txt",
    "%252e%252e%252foutside.txt",
    "..%c0%afoutside.txt",
    "....//outside.txt",
    "/etc/passwd",
    "%2fetc%2fpasswd",
    "//etc/passwd",
    "C:%5cwindows%5cwin.ini",
    "file:%2f%2f%2fetc%2fpasswd",
    "outside.txt%00.png",
    "%00",
    "link",
    "link/outside.txt",
    "link%2foutside.txt",
    ".",
    "..",
    "~root",
    "x?../../outside.txt",
    "x#../../outside.txt",
)
WITH_RUN = [route for route in ROUTES if "run" in route.parameters]


def is_a_leak(body: bytes) -> bool:
    return OUTSIDE.encode() in body or b"root:x:" in body or b"/usr/sbin/nologin" in body


@pytest.mark.parametrize("route", WITH_RUN, ids=str)
def test_no_way_out_of_the_store_through_the_id_of_a_run(served: Served, run: str, route: Route) -> None:
    json = [("Host", f"localhost:{served.port}"), ("Content-Type", "application/json")]
    for way in WAYS_OUT:
        target = route.address("RUN").replace("RUN", way, 1)
        answer = ask(served, target, json, route.method, b"{}" if route.method != "GET" else b"")
        assert 400 <= answer.status < 500, target
        assert answer.error["ok"] is False
        assert not is_a_leak(answer.body)


@pytest.mark.parametrize("route", [route for route in WITH_RUN if len(route.parameters) > 1 or route.query], ids=str)
def test_no_way_out_through_any_other_parameter(served: Served, run: str, route: Route) -> None:
    headers = [("Host", f"localhost:{served.port}")]
    for way in WAYS_OUT:
        target = route.address(run).replace("finding", "FINDING")
        target = route.path.replace("{run}", run).replace("{finding}", way)
        target += "?" + "&".join(f"{name}={way}" for name in route.query) if route.query else ""
        answer = ask(served, target.split("#")[0], headers)
        assert answer.status < 500, target
        assert not is_a_leak(answer.body)
        if answer.status == 200:
            # `..` after an id may only have led to another route of the same run.
            assert answer.headers["content-type"] != "text/html"


@pytest.mark.parametrize("before", ["/", "/assets/", "/runs/", "/api/", "/api/runs/", "", "/./", "//"])
def test_no_way_out_through_the_files_of_the_page(served: Served, before: str) -> None:
    for way in WAYS_OUT:
        answer = ask(served, (before + way) or "/")
        assert answer.status in (200, 400, 404), (before, way)
        assert not is_a_leak(answer.body)
        # What is no file of the bundle is the page itself, or nothing.
        assert answer.status != 200 or b"<base href=" in answer.body


def test_a_link_in_the_store_is_not_followed_to_other_folders(client: httpx.Client) -> None:
    listed = client.get("/api/runs").json()
    assert listed["total"] == 1
    assert "link" not in str([row["folder"] for row in listed["data"]])


def test_no_route_takes_a_url_so_nothing_can_be_asked_elsewhere() -> None:
    words = ("url", "uri", "href", "webhook", "endpoint", "remote", "host", "callback", "path", "file")
    whole = schema()
    names = {
        one["name"] for path in whole["paths"].values() for way in path.values() for one in way.get("parameters", [])
    }
    for body in (
        way["requestBody"] for path in whole["paths"].values() for way in path.values() if "requestBody" in way
    ):
        kind = body["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
        names |= set(whole["components"]["schemas"][kind]["properties"])
    assert names >= {"run", "token", "action", "note"}
    assert not {name for name in names if any(word in name.lower() for word in words)}


def test_bodies_are_json_alone_so_no_route_takes_a_file() -> None:
    for path in schema()["paths"].values():
        for way in path.values():
            assert set(way.get("requestBody", {}).get("content", {})) <= {"application/json"}
