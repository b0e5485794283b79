"""The token: what whoever asks must know where a studio is reached from other machines.

Programs send it as a Bearer header. The page gives it once and gets a cookie in its place, which holds the time it ends
and a keyed digest of that time, never the token. It is compared in constant time, and never part of an address.
"""

from __future__ import annotations

import hashlib
import hmac
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from urllib.parse import parse_qsl

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Scope

from cutaway.errors import ConfigurationError
from cutaway.studio.answers.errors import Refusal
from cutaway.studio.guards.refusing import Refusing
from cutaway.studio.guards.routes import is_api, route_of

__all__ = ["COOKIE_SECONDS", "SHORTEST_TOKEN", "Gate", "TokenAsked"]

SHORTEST_TOKEN = 16
LONGEST_TOKEN = 1024
COOKIE_SECONDS = 30 * 24 * 3600
# What needs no token: giving one. The page's own files hold nothing of anybody.
_OPEN = ("/api/login",)
_SECRET_NAMES = frozenset(("token", "access_token", "api_key", "apikey", "auth", "password", "cutaway_token"))

# So many wrong tokens from one address at once, then one each REFILL_SECONDS. Of so many addresses.
MOST_MISSES = 10
REFILL_SECONDS = 6.0
MOST_ADDRESSES = 1024


class Gate:
    """Knows a token, and the cookies given in exchange for it. Slows down whoever guesses, in bounded memory."""

    def __init__(self, token: str, *, clock: Callable[[], float] = time.time) -> None:
        if not SHORTEST_TOKEN <= len(token) <= LONGEST_TOKEN or not token.isascii() or not token.isprintable():
            message = (
                f"A token has {SHORTEST_TOKEN} to {LONGEST_TOKEN:,} plain characters, but this one has "
                f"{len(token)}{'' if token.isascii() and token.isprintable() else ', not all of them plain'}."
            )
            raise ConfigurationError(
                message, hint="Make one with: python -c 'import secrets; print(secrets.token_urlsafe(32))'"
            )
        self._token = token.encode()
        self._clock = clock
        self._lock = threading.Lock()
        self._misses: OrderedDict[str, tuple[float, float]] = OrderedDict()
        # Cookies do not know ports: two studios on one machine must not take each other's for theirs.
        self.cookie_name = f"cutaway-{self._digest('name')[:8]}"

    def __repr__(self) -> str:
        return "Gate(...)"

    def knows(self, token: str) -> bool:
        """Whether this is the token; takes as long for a wrong one."""
        return hmac.compare_digest(hashlib.sha256(token.encode()).digest(), hashlib.sha256(self._token).digest())

    def take(self, token: str, address: str) -> None:
        """Accept a token from an address, or raise `Refusal`: 401 where it is wrong, 429 after too many wrong ones."""
        with self._lock:
            now = self._clock()
            count, since = self._misses.get(address, (0.0, now))
            count = max(0.0, count - max(0.0, now - since) / REFILL_SECONDS)
            # Not even the right one: else guessing would go on at full speed behind the refusals.
            if count > MOST_MISSES - 1:
                raise Refusal(429, "too-many-tries", "Too many wrong tokens came from here.", "Wait a minute.")
            if self.knows(token):
                return
            self._misses[address] = (count + 1, now)
            self._misses.move_to_end(address)
            if len(self._misses) > MOST_ADDRESSES:
                self._misses.popitem(last=False)
        raise _token_needed("This is not the token of this studio.")

    def new_cookie(self) -> str:
        """Return the value of a cookie that opens this gate for `COOKIE_SECONDS`."""
        expiry = str(int(self._clock()) + COOKIE_SECONDS)
        return f"{expiry}.{self._digest(expiry)}"

    def admits(self, cookie: str) -> bool:
        """Whether a cookie is one of ours and has not ended."""
        expiry, _, digest = cookie.partition(".")
        if not hmac.compare_digest(digest.encode(), self._digest(expiry).encode()):
            return False
        return self._clock() < int(expiry)

    def _digest(self, text: str) -> str:
        return hmac.new(self._token, f"cutaway studio {text}".encode(), hashlib.sha256).hexdigest()


class TokenAsked(Refusing):
    """Refuses what comes without the token, where there is a gate; and a token in an address everywhere."""

    def __init__(self, app: ASGIApp, gate: Gate | None) -> None:
        super().__init__(app)
        self._gate = gate

    def _refusal(self, scope: Scope) -> Refusal | None:
        if scope["type"] == "http":
            try:
                self._check(scope)
            except Refusal as refusal:
                return refusal
        return None

    def _check(self, scope: Scope) -> None:
        self._refuse_secrets_in_address(scope)
        gate = self._gate
        if gate is None or not is_api(scope) or route_of(scope) in _OPEN:
            return
        headers = Headers(scope=scope)
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            gate.take(token.strip(), str((scope.get("client") or ("",))[0]))
        elif not gate.admits(_cookie(headers, gate.cookie_name)):
            raise _token_needed("This studio asks for its token.")

    def _refuse_secrets_in_address(self, scope: Scope) -> None:
        # Addresses are kept in histories, logs and other sites' logs: a token that was in one is no secret any more.
        query = scope.get("query_string", b"").decode("latin-1")
        if len(query) > 65_536:
            raise Refusal(400, "address-too-long", "The query of this address is too long.", "Ask for less at once.")
        for name, value in parse_qsl(query, keep_blank_values=True, encoding="latin-1"):
            if name.lower() in _SECRET_NAMES or (self._gate is not None and self._gate.knows(value)):
                hint = (
                    "Send `Authorization: Bearer ...`, or give it on the page; then make a new one: this one was shown."
                )
                raise Refusal(400, "token-in-address", "A token does not belong in an address.", hint)


def _cookie(headers: Headers, name: str) -> str:
    # By hand: the parser of the standard library stops at a strange cookie that some other server has set here.
    pairs = (part.strip().partition("=") for part in headers.get("cookie", "").split(";"))
    return next((value for key, _, value in pairs if key == name), "")


def _token_needed(error: str) -> Refusal:
    hint = "Give it on the page, or send it as `Authorization: Bearer ...`."
    return Refusal(401, "token-needed", error, hint)
