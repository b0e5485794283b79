"""Real endpoints on this machine that keep what they were sent: one for HTTP, one for mail."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

__all__ = ["Endpoint", "MailServer", "Post", "http_endpoint", "mail_server", "unused_port"]


@dataclass(frozen=True)
class Post:
    """One request as it came."""

    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Endpoint:
    """Answers `statuses` one after the other, then 200; a cleared `open` lets every request wait."""

    statuses: list[int] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    posts: list[Post] = field(default_factory=list)
    gets: list[str] = field(default_factory=list)
    open: threading.Event = field(default_factory=threading.Event)
    arrived: threading.Event = field(default_factory=threading.Event)
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hooks/t0ken-in-the-path?q=1"


@contextmanager
def http_endpoint() -> Iterator[Endpoint]:
    endpoint = Endpoint()
    endpoint.open.set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            endpoint.posts.append(Post(self.path, dict(self.headers), body))
            endpoint.arrived.set()
            endpoint.open.wait(20)
            self.send_response(endpoint.statuses.pop(0) if endpoint.statuses else 200)
            for name, value in endpoint.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def do_GET(self) -> None:
            endpoint.gets.append(self.path)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Stay silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    endpoint.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        endpoint.open.set()
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass
class MailServer:
    """Speaks as much SMTP as a client needs; `answers` replaces what it says to a verb."""

    port: int = 0
    answers: dict[str, str] = field(default_factory=dict)
    extensions: tuple[str, ...] = ("AUTH PLAIN LOGIN",)
    said: list[str] = field(default_factory=list)
    mails: list[str] = field(default_factory=list)
    encryption: ssl.SSLContext | None = None
    from_the_first_byte: bool = False

    def talk(self, connection: socket.socket) -> None:
        if self.encryption and self.from_the_first_byte:
            connection = self.encryption.wrap_socket(connection, server_side=True)
        if self._converse(connection, "220 here") == "STARTTLS" and self.encryption:
            self._converse(self.encryption.wrap_socket(connection, server_side=True))
        connection.close()

    def _converse(self, connection: socket.socket, greeting: str = "") -> str:
        """Talk until the client leaves, or wants to go on in secret."""
        with connection.makefile("rwb") as stream:

            def say(text: str) -> None:
                stream.write(text.encode() + b"\r\n")
                stream.flush()

            if greeting:
                say(greeting)
            while line := stream.readline():
                words = line.decode().rstrip("\r\n")
                self.said.append(words)
                verb = words.split(" ")[0].upper()
                if verb in self.answers:
                    say(self.answers[verb])
                elif verb == "EHLO":
                    lines = ["me", *self.extensions]
                    say("\r\n".join(f"250{' ' if one is lines[-1] else '-'}{one}" for one in lines))
                elif verb == "STARTTLS" and self.encryption:
                    say("220 go on")
                    return verb
                elif verb == "AUTH":
                    say("235 welcome")
                elif verb == "DATA":
                    say("354 go on")
                    self.mails.append(self._mail(stream))
                    say(self.answers.get("END", "250 taken"))
                elif verb == "QUIT":
                    say("221 bye")
                    break
                else:
                    say("250 fine")
        return ""

    @staticmethod
    def _mail(stream: object) -> str:
        lines = []
        while (line := stream.readline().decode().rstrip("\r\n")) != ".":  # type: ignore[attr-defined]
            lines.append(line)
        return "\n".join(lines)


@contextmanager
def mail_server() -> Iterator[MailServer]:
    server = MailServer()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.05)
        server.port = listener.getsockname()[1]
        over = threading.Event()

        def serve() -> None:
            while not over.is_set():
                try:
                    connection, _ = listener.accept()
                except TimeoutError:
                    continue
                connection.settimeout(10)
                # A client that does not trust the certificate, or leaves early, is no reason to end.
                with contextlib.suppress(OSError):
                    server.talk(connection)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield server
        over.set()
        thread.join()


def unused_port() -> int:
    """A port on which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])
