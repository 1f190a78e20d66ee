"""Who may see the cockpit in a browser: whoever has the address with its token, from this machine's own name alone.

Any page on the web may send a browser to 127.0.0.1, and may point a name of its own there (DNS rebinding). So the
token stands in the path, the Host must be a loopback name, and a page that asks must be the cockpit's own.
"""

from __future__ import annotations

import hmac
import secrets

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

LOOPBACK = ("127.0.0.1", "localhost")
REFUSED = "403: not the address that `nmem tui --serve` printed\n"


def new_token() -> str:
    """A secret for one run of the server; nothing of it is kept."""
    return secrets.token_urlsafe(24)


def allowed(request: web.Request, token: str) -> bool:
    """Whether this request has the token, names this machine as itself, and comes from no other page."""
    given = request.path.split("/")[1]
    if not hmac.compare_digest(given.encode("utf-8", "replace"), token.encode()):
        return False
    host = request.headers.get("Host", "")
    name, _, port = host.partition(":")
    if name not in LOOPBACK or not (port.isdecimal() and port.isascii()):
        return False
    origin = request.headers.get("Origin")
    if origin is None:  # a page that is opened has none; a websocket always has, when a browser opens it
        return "Upgrade" not in request.headers
    return origin == f"http://{host}"


def guard(token: str) -> Middleware:
    """The check before every request, those for paths that do not exist included."""

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        if not allowed(request, token):
            return web.Response(status=403, text=REFUSED)
        return await handler(request)

    return check


async def seal(request: web.Request, response: web.StreamResponse) -> None:
    """What the browser is told with every answer: nothing from outside, in no other page's frame, kept nowhere."""
    own = f"'self' ws://{request.headers.get('Host', '')}" if response.status != 403 else "'self'"
    response.headers.update(
        {
            "Content-Security-Policy": "default-src 'none'; script-src 'self'; font-src 'self'; img-src 'self' data:; "
            f"style-src 'self' 'unsafe-inline'; connect-src {own}; "
            "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cache-Control": "no-store",
        }
    )
