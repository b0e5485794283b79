"""Messages by HTTP POST, signed with a secret that both sides know."""

from __future__ import annotations

import hashlib
import hmac
import os
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import SplitResult, urlsplit
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
)

from cutaway.errors import ConfigurationError
from cutaway.rules.actions.channel import SENT, DeliveryOutcome, Message

__all__ = ["SECRET_ENV", "Webhook"]

SECRET_ENV = "CUTAWAY_WEBHOOK_SECRET"  # the name of the variable, not a secret
_FROM_ENVIRONMENT = "env:"
# Of the answers that blame the sender, those that pass: too slow, too early, too many.
_PASSING = (408, 425, 429)


@dataclass(frozen=True)
class Webhook:
    """Posts findings as JSON to a URL; `env:NAME` takes the URL from an environment variable when it is sent.

    The body is signed with the secret in the variable `secret_env`: the header `X-Cutaway-Signature` is `sha256=` and
    the HMAC of the body. `Idempotency-Key` is the same each time that a message is sent again.

    >>> Webhook("https://example.org/hooks/t0ken").label
    'https://example.org'
    """

    url: str = field(repr=False)  # its path may be a token
    secret_env: str = SECRET_ENV
    timeout: float = 10.0

    def __post_init__(self) -> None:
        if not self.url.startswith(_FROM_ENVIRONMENT):
            _checked_url(self.url)
        elif not self.url.removeprefix(_FROM_ENVIRONMENT):
            raise ConfigurationError("`env:` needs the name of the variable that has the URL: notify=env:MY_WEBHOOK.")
        timeout = self.timeout
        if not timeout > 0:
            raise ConfigurationError(f"`timeout > 0` must hold for a webhook, but got timeout={timeout}.")

    @property
    def label(self) -> str:
        """Scheme and host, or the name of the variable."""
        if self.url.startswith(_FROM_ENVIRONMENT):
            return self.url
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.hostname}"

    @property
    def caution(self) -> str:
        """Say that nothing proves to the receiver who sent it."""
        return "" if self._secret else f"Messages to {self.label} are not signed: {self.secret_env} is not set"

    def to_dict(self) -> dict[str, Any]:
        """Return what is needed to send again, but no secret."""
        return {"by": "webhook", "url": self.url, "secret_env": self.secret_env, "timeout": self.timeout}

    def send(self, message: Message) -> DeliveryOutcome:
        """Post it once."""
        try:
            url = self._resolved()
        except ConfigurationError as error:
            return DeliveryOutcome("failed", str(error))
        body = message.to_json()
        headers = {"Content-Type": "application/json", "Idempotency-Key": message.key, "User-Agent": "cutaway"}
        if self._secret:
            headers["X-Cutaway-Signature"] = signature(self._secret, body)
        try:
            with _opener().open(Request(url, body, headers), timeout=self.timeout):
                return SENT
        except HTTPError as error:
            error.close()
            return _verdict(self.label, error.code)
        except URLError as error:
            return DeliveryOutcome("failed", f"{self.label} cannot be reached: {error.reason}")
        except TimeoutError:
            return DeliveryOutcome("failed", f"{self.label} did not answer within {self.timeout:g} s")
        except (OSError, HTTPException, ValueError) as error:
            # The words of these errors may quote the URL.
            return DeliveryOutcome("failed", f"{self.label} cannot be reached: {type(error).__name__}")

    @property
    def _secret(self) -> str:
        return os.environ.get(self.secret_env, "")

    def _resolved(self) -> str:
        if not self.url.startswith(_FROM_ENVIRONMENT):
            return self.url
        name = self.url.removeprefix(_FROM_ENVIRONMENT)
        if not os.environ.get(name):
            raise ConfigurationError(
                f"The variable {name} that has the URL of the webhook is not set.", hint=f"Run: export {name}=..."
            )
        return _checked_url(os.environ[name])


def signature(secret: str, body: bytes) -> str:
    """Return what proves that a body was sent by somebody who knows the secret."""
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def _opener() -> OpenerDirector:
    """Return what speaks HTTP and follows no redirection: urllib would make of it a GET without the message."""
    opener = OpenerDirector()
    for handler in (ProxyHandler(), HTTPHandler(), HTTPSHandler(), HTTPDefaultErrorHandler(), HTTPErrorProcessor()):
        opener.add_handler(handler)
    return opener


def _verdict(label: str, code: int) -> DeliveryOutcome:
    if 300 <= code < 400:
        return DeliveryOutcome(
            "refused", f"{label} answered {code} and leads elsewhere; give the address that it leads to"
        )
    if 400 <= code < 500 and code not in _PASSING:
        return DeliveryOutcome("refused", f"{label} answered {code}")
    return DeliveryOutcome("failed", f"{label} answered {code}")


def _checked_url(url: str) -> str:
    """Return a URL that can be posted to, or raise; what the message shows of it holds no token."""
    try:
        parts = urlsplit(url)
        port_is_there = parts.port is None or parts.port > 0
    except ValueError:
        parts, port_is_there = SplitResult("", "", "", "", ""), False
    if parts.scheme not in ("http", "https"):
        shown = f"{parts.scheme}:..." if parts.scheme else "one without a scheme"
        raise ConfigurationError(f"A webhook needs an http:// or https:// URL, but got {shown}.")
    if not parts.hostname or not port_is_there or not url.isascii() or any(c <= " " or c == "\x7f" for c in url):
        raise ConfigurationError(
            f"The {parts.scheme} URL of a webhook has no host, a bad port, or characters to escape."
        )
    if "@" in parts.netloc:
        message = f"The URL of a webhook on {parts.hostname!r} holds a user name; sign with {SECRET_ENV} instead."
        raise ConfigurationError(message)
    return url
