"""The page's files, and nothing else of the machine, whatever address is asked for."""

import gzip
from pathlib import Path

import pytest

from cutaway.studio.serving.page import BUILD_HINT, Bundle, ThePage
from tests.unit.studio.asking import Answer, Inside, ask, scope_of

INDEX = '<!doctype html><html><head><base href="/" /><title>x</title></head><body></body></html>'
SCRIPT = "const words = 1;\n" * 200


@pytest.fixture
def built(tmp_path: Path) -> Path:
    folder = tmp_path / "static"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text(INDEX)
    (folder / "assets" / "index-abc123.js").write_text(SCRIPT)
    (folder / "assets" / "style-abc123.css").write_text("a{}")
    (folder / "favicon.svg").write_text("<svg/>")
    (tmp_path / "secret.txt").write_text("secret")
    (folder / "assets" / "link.js").symlink_to(tmp_path / "secret.txt")
    return folder


def asked(folder: Path, path: str, method: str = "GET", root: str = "", **headers: str) -> Answer:
    layer = ThePage(Inside(), Bundle.load(folder), root)
    scope = scope_of(method, root + path, [(key.replace("_", "-"), value) for key, value in headers.items()])
    return ask(layer, {**scope, "root_path": root})


@pytest.mark.parametrize("path", ["/", "/runs/mnist-89fceb32", "/runs/a.b-c/tensors", "/compare", "/runs/"])
def test_an_address_of_the_page_gets_the_page(built: Path, path: str) -> None:
    answer = asked(built, path)
    assert (answer.status, answer.body.decode()) == (200, INDEX)
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-cache"


def test_files_come_with_their_kind_and_hashed_ones_are_kept_for_good(built: Path) -> None:
    script = asked(built, "/assets/index-abc123.js")
    assert script.body.decode() == SCRIPT
    assert script.headers["content-type"].startswith("text/javascript")
    assert script.headers["cache-control"] == "public, max-age=31536000, immutable"
    icon = asked(built, "/favicon.svg")
    assert (icon.headers["content-type"], icon.headers["cache-control"]) == ("image/svg+xml", "no-cache")


def test_who_takes_gzip_gets_it_and_the_others_do_not(built: Path) -> None:
    answer = asked(built, "/assets/index-abc123.js", Accept_Encoding="br, gzip;q=0.8")
    assert answer.headers["content-encoding"] == "gzip"
    assert gzip.decompress(answer.body).decode() == SCRIPT
    assert answer.headers["vary"] == "Accept-Encoding"
    assert "content-encoding" not in asked(built, "/assets/index-abc123.js", Accept_Encoding="br").headers
    # What does not become smaller is not packed.
    assert "content-encoding" not in asked(built, "/assets/style-abc123.css", Accept_Encoding="gzip").headers


def test_a_twin_that_the_build_packed_is_served(built: Path) -> None:
    twin = gzip.compress(SCRIPT.encode(), 9)
    (built / "assets" / "index-abc123.js.gz").write_bytes(twin)
    assert asked(built, "/assets/index-abc123.js", Accept_Encoding="gzip").body == twin
    assert asked(built, "/assets/index-abc123.js.gz").status == 404


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt",
        "/assets/../../secret.txt",
        "/assets/..",
        "/..",
        "/.",
        "/.env",
        "/runs/../secret.txt",
        "/..\\secret.txt",
        "/%2e%2e/secret.txt",
        "/%2e%2e%2fsecret.txt",
        "//etc/passwd",
        "/assets//etc/passwd",
        "/etc/passwd\0",
        "/assets/index-abc123.js\0.png",
        "/assets/link.js",
        "/assets/",
        "/assets/gone-abc123.js",
        "/index.html/../../secret.txt",
        "/secret.txt",
        "/C:\\secret.txt",
        "http://evil.example/x",
        "/a b",
        "/é",
        "",
    ],
)
def test_nothing_outside_the_bundle_is_ever_served(built: Path, path: str) -> None:
    answer = asked(built, path) if path else ask(ThePage(Inside(), Bundle.load(built), ""), scope_of(path="*"))
    assert answer.status == 404
    assert b"secret" not in answer.body
    assert answer.error["code"] == "not-found"


def test_a_file_that_came_after_the_start_is_not_served(built: Path) -> None:
    layer = ThePage(Inside(), Bundle.load(built), "")
    (built / "assets" / "late.js").write_text("late")
    assert ask(layer, scope_of(path="/assets/late.js")).status == 404


def test_below_a_root_path_the_page_says_where_it_is(built: Path) -> None:
    answer = asked(built, "/runs/x", root="/studio")
    assert '<base href="/studio/" />' in answer.body.decode()
    assert asked(built, "/assets/index-abc123.js", root="/studio").status == 200


def test_a_page_without_a_base_gets_one(built: Path) -> None:
    (built / "index.html").write_text("<html><head></head></html>")
    assert asked(built, "/").body == b'<html><head><base href="/" /></head></html>'


def test_a_root_path_cannot_break_out_of_its_attribute(built: Path) -> None:
    assert '"><script>' not in Bundle.load(built).page('/"><script>')


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_the_page_is_only_read(built: Path, method: str) -> None:
    assert asked(built, "/", method).status == 405


def test_the_api_is_passed_on(built: Path) -> None:
    assert asked(built, "/api/about").status == 204


def test_without_a_built_page_it_says_how_to_build_one(tmp_path: Path) -> None:
    bundle = Bundle.load(tmp_path / "nothing")
    assert not bundle.is_built
    answer = ask(ThePage(Inside(), bundle, ""), scope_of(path="/"))
    assert answer.status == 200
    assert "make ui" in answer.body.decode()
    assert "`make ui`" in BUILD_HINT
    assert b"<style" not in answer.body
    assert b"<script" not in answer.body


def test_why_there_is_no_page_is_said_before_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "missing.txt").write_text("npm was <asleep>.\n")
    bundle = Bundle.load(tmp_path)
    assert bundle.why_not_built == f"npm was <asleep>. {BUILD_HINT}"
    assert "npm was &lt;asleep&gt;." in bundle.page("")
    assert Bundle.load(tmp_path / "nothing").why_not_built == BUILD_HINT


def test_what_the_build_keeps_for_itself_is_not_served(built: Path) -> None:
    (built / "built-from.txt").write_text("a digest")
    assert "/built-from.txt" not in Bundle.load(built).files


def test_the_page_of_frozen_copies_is_not_served(built: Path) -> None:
    (built / "frozen").mkdir()
    (built / "frozen" / "page.js").write_text(SCRIPT)
    assert asked(built, "/frozen/page.js").status == 404
