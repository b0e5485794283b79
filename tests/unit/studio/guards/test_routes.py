"""Where the studio lies below its host name."""

import pytest

from cutaway.studio.guards.routes import UnderRootPath, is_api, route_of
from tests.unit.studio.asking import Inside, ask, scope_of


@pytest.mark.parametrize(
    ("path", "route"),
    [("/studio/api/runs", "/api/runs"), ("/api/runs", "/api/runs"), ("/studio", "/"), ("/studio/", "/"), ("/", "/")],
)
def test_a_proxy_may_cut_the_root_path_off_or_leave_it(path: str, route: str) -> None:
    inside = Inside()
    ask(UnderRootPath(inside, "/studio"), scope_of(path=path))
    assert route_of(inside.scopes[0]) == route


def test_a_path_that_only_begins_like_the_root_is_not_below_it() -> None:
    inside = Inside()
    ask(UnderRootPath(inside, "/studio"), scope_of(path="/studio-two/api"))
    assert route_of(inside.scopes[0]) == "/studio-two/api"


@pytest.mark.parametrize(
    ("path", "api"),
    [("/api", True), ("/api/x", True), ("/apix", False), ("/API/x", False), ("//api/x", False), ("/x/api", False)],
)
def test_what_is_of_the_api(path: str, api: bool) -> None:
    assert is_api(scope_of(path=path)) is api
