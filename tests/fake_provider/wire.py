"""As much of HTTP/1.1 as clients of a language model use: keep-alive, lengths, chunks."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl, unquote

HEAD_LIMIT = 1 << 20
_STATUS_LINES = {
    status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n" for status in HTTPStatus
}


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One request; names of headers are in lower case."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes

    @property
    def keeps_alive(self) -> bool:
        """Whether the client goes on with this connection."""
        return self.headers.get("connection", "").lower() != "close"


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """One answer: a JSON value, or bytes as they are."""

    status: int
    payload: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None

    def render(self) -> bytes:
        """Write the answer as it goes over the wire."""
        if self.raw is None:
            # ASCII only, so that a lone surrogate can be sent the way servers send it: escaped.
            body, kind = json.dumps(self.payload).encode("ascii"), "application/json"
        else:
            body, kind = self.raw, "application/octet-stream"
        more = "".join(f"{name}: {value}\r\n" for name, value in self.headers.items())
        head = (
            f"{_STATUS_LINES[self.status]}content-type: {kind}\r\n"
            f"content-length: {len(body)}\r\n{more}\r\n"
        )
        return head.encode("latin-1") + body


DROP = HttpAnswer(0)
"""Stands for no answer: the connection is closed."""


async def read_request(reader: asyncio.StreamReader) -> HttpRequest | None:
    """Read the next request of a connection, or None where it has ended."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ", 2)
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if colon:
            headers[name.lower()] = value.strip()
    if "chunked" in headers.get("transfer-encoding", ""):
        body = await _read_chunks(reader)
    else:
        body = await reader.readexactly(int(headers.get("content-length", "0")))
    path, _, query = target.partition("?")
    return HttpRequest(method, unquote(path), dict(parse_qsl(query)), headers, body)


async def _read_chunks(reader: asyncio.StreamReader) -> bytes:
    chunks = []
    while size := int((await reader.readuntil(b"\r\n")).partition(b";")[0], 16):
        chunks.append(await reader.readexactly(size))
        await reader.readexactly(2)
    while await reader.readuntil(b"\r\n") != b"\r\n":
        pass
    return b"".join(chunks)


def read_form(request: HttpRequest) -> dict[str, tuple[str, bytes]]:
    """Take a multipart form apart: the file name (or nothing) and the bytes of each field."""
    kind = request.headers.get("content-type", "")
    boundary = kind.partition("boundary=")[2].partition(";")[0].strip('"')
    if not boundary:
        return {}
    found: dict[str, tuple[str, bytes]] = {}
    for part in (b"\r\n" + request.body).split(b"\r\n--" + boundary.encode("latin-1"))[1:]:
        head, blank, content = part.partition(b"\r\n\r\n")
        if not blank:
            continue
        options = dict(
            option.strip().split("=", 1)
            for option in head.decode("utf-8").replace("\r\n", ";").split(";")
            if "=" in option
        )
        name = options.get("name", "").strip('"')
        found[name] = (options.get("filename", "").strip('"'), content)
    return found
