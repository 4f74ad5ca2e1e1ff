"""The review app in a browser: textual-serve, for one reviewer, with what it leaves open closed.

Whoever reaches the port reviews as the reviewer that was named: there is no login. So other web
pages that run in the same browser are kept out (their requests carry an origin of their own, or a
name that isn't this server's), and nothing is loaded from elsewhere.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from aiohttp import web
from textual_serve.server import Server

if TYPE_CHECKING:
    from textual_serve.app_service import AppService

__all__ = ["ReviewServer", "is_loopback"]

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_ANY = frozenset({"0.0.0.0", "::"})  # noqa: S104 - compared with, never bound to by itself

_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def is_loopback(host: str) -> bool:
    """Tell whether a host is reached from this machine alone."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _name(netloc: str) -> str:
    return urlsplit(f"//{netloc}").hostname or ""


class ReviewServer(Server):
    """Serves one reviewer's sitting; who opens it anew takes it over from another tab.

    Args:
        command: What runs the app, as a shell takes it.
        host: The host to bind to.
        port: The port to bind to.
        title: What the page says while the app starts.
        public_url: The address under which a proxy shows it, or None.
        told: Called once it listens, with its address.
    """

    def __init__(
        self,
        command: str,
        *,
        host: str,
        port: int,
        title: str,
        public_url: str | None,
        told: Callable[[str], None],
    ) -> None:
        shown = f"[{host}]" if ":" in host else host
        url = (public_url or f"http://{shown}:{port}").rstrip("/")
        super().__init__(command, host=host, port=port, title=title, public_url=url)
        self._told = told
        self._turn = asyncio.Lock()
        self._sitting: asyncio.Future[web.WebSocketResponse] | None = None
        self._websocket: web.WebSocketResponse | None = None

    def initialize_logging(self) -> None:
        """Tell warnings alone, and no values of names: texts from outside are among them."""
        logging.basicConfig(level=logging.WARNING, format="labeler: %(message)s")

    async def on_startup(self, app: web.Application) -> None:
        """Say nothing yet: it doesn't listen before this."""

    def serve(self, debug: bool = False) -> None:
        """Serve until interrupted.

        Raises:
            OSError: When the address can't be bound to.
        """
        self.debug = debug
        self.initialize_logging()
        web.run_app(
            self._make_app(),
            host=self.host,
            port=self.port,
            print=lambda *_: self._told(self.public_url),
            access_log=None,
            loop=asyncio.new_event_loop(),
        )

    async def on_shutdown(self, app: web.Application) -> None:  # noqa: ARG002 - the signature is given
        """Let the sitting end, so that what it holds is given back."""
        await self._end_sitting()

    async def _end_sitting(self) -> None:
        if self._sitting is not None:
            if self._websocket is not None:
                await self._websocket.close()
            await asyncio.wait({self._sitting})

    async def _make_app(self) -> web.Application:
        app = await super()._make_app()

        @web.middleware
        async def guard(request: web.Request, handler: _Handler) -> web.StreamResponse:
            return await self._guard(request, handler)

        app.middlewares.append(guard)
        return app

    async def _guard(self, request: web.Request, handler: _Handler) -> web.StreamResponse:
        """Refuse what other web pages ask, and let the page load nothing from elsewhere."""
        if not self._is_own(request):
            raise web.HTTPForbidden(text="labeler: asked under another name than this server's")
        if request.path == "/ws":
            return await handler(request)
        response = await handler(request)
        response.headers.update(self._headers)
        return response

    def _is_own(self, request: web.Request) -> bool:
        public = urlsplit(self.public_url).netloc
        names = {_name(public), self.host}
        if is_loopback(self.host):
            names |= _LOOPBACK
        # Bound to every address, the server can't know by which names it is called.
        if self.host not in _ANY and _name(request.host) not in names:
            return False
        origin = request.headers.get("Origin")
        return origin is None or urlsplit(origin).netloc in {request.host, public}

    @property
    def _headers(self) -> dict[str, str]:
        address = urlsplit(self.public_url)
        socket = f"{address.scheme.replace('http', 'ws')}://{address.netloc}"
        policy = (
            "default-src 'none'; img-src 'self' data:; font-src 'self'; "
            "style-src 'self' 'unsafe-inline'; script-src 'self' 'unsafe-inline'; "
            f"connect-src 'self' {socket}; frame-ancestors 'none'; base-uri 'none'"
        )
        return {
            "Content-Security-Policy": policy,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
        }

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """Start the app once the sitting in another tab, if any, has given back what it held."""
        async with self._turn:
            await self._end_sitting()
            self._sitting = asyncio.ensure_future(super().handle_websocket(request))
        return await self._sitting

    async def _process_messages(
        self, websocket: web.WebSocketResponse, app_service: AppService
    ) -> None:
        self._websocket = websocket
        try:
            await super()._process_messages(websocket, app_service)
        finally:
            self._websocket = None
