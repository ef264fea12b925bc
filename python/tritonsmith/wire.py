"""HTTP/1.1 over asyncio streams, as far as the gym needs it: one request a connection, and server-sent events.

The standard library has no asynchronous HTTP client. Whatever goes wrong between the two ends is a `WireError`, which
the caller may try again.
"""

from __future__ import annotations

import asyncio
import json
import ssl
from dataclasses import dataclass
from typing import Any, AsyncIterator, Awaitable, Mapping, Optional, TypeVar
from urllib.parse import urlsplit

__all__ = ["Address", "Reply", "ServerEvent", "WireError", "events", "request"]

T = TypeVar("T")
_MOST_HEADER_BYTES = 64 * 1024
_MOST_BODY_BYTES = 256 * 1024 * 1024
_CONNECT_SECONDS = 5.0


class WireError(Exception):
    """The connection failed, fell silent, or carried something that is no HTTP."""


@dataclass(frozen=True)
class Address:
    """Where a service listens, and how to address it."""

    host: str
    port: int
    secure: bool
    prefix: str

    @classmethod
    def parse(cls, url: str) -> "Address":
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"'{url}' is no URL of a gym, as in http://127.0.0.1:8800")
        secure = parts.scheme == "https"
        return cls(parts.hostname, parts.port or (443 if secure else 80), secure, parts.path.rstrip("/"))

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.secure else 80) else f"{host}:{self.port}"


@dataclass(frozen=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    body: bytes = b""

    def json(self) -> Any:
        try:
            return json.loads(self.body)
        except ValueError as error:
            raise WireError(f"the reply is no JSON: {error}") from error

    @property
    def retry_after(self) -> Optional[float]:
        try:
            return max(0.0, float(self.headers["retry-after"]))
        except (KeyError, ValueError):
            return None


@dataclass(frozen=True)
class ServerEvent:
    """One event of a stream. A comment of the server, its sign of life, is an event of type 'comment'."""

    type: str
    data: str
    id: str


class _Connection:
    """One connection for one request. A context manager, so that the socket is closed on every way out."""

    def __init__(self, address: Address, silence: float) -> None:
        self._address = address
        self._silence = silence
        self._writer: Optional[asyncio.StreamWriter] = None
        self._expired = False

    async def __aenter__(self) -> "_Connection":
        tls = ssl.create_default_context() if self._address.secure else None
        opening = asyncio.open_connection(self._address.host, self._address.port, ssl=tls, limit=_MOST_HEADER_BYTES)
        self._reader, self._writer = await asyncio.wait_for(opening, min(_CONNECT_SECONDS, self._silence))
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._writer is not None:
            self._writer.close()

    async def send(self, method: str, target: str, headers: Mapping[str, str], body: Optional[bytes]) -> Reply:
        """Sends a request and returns the head of its reply."""
        lines = [f"{method} {self._address.prefix}{target} HTTP/1.1", f"Host: {self._address.authority}", "Connection: close"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        if body is not None:
            lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
        assert self._writer is not None
        self._writer.write("\r\n".join([*lines, "", ""]).encode("latin-1") + (body or b""))
        await self._patiently(self._writer.drain())
        while True:
            head = await self._read_head()
            if head.status >= 200:  # An interim reply, 100 Continue say, comes before the real one.
                return head

    async def _read_head(self) -> Reply:
        lines = (await self._patiently(self._reader.readuntil(b"\r\n\r\n"))).decode("latin-1").split("\r\n")
        version, _, rest = lines[0].partition(" ")
        if not version.startswith("HTTP/1.") or not rest[:3].isdigit():
            raise WireError("the reply is no HTTP/1.1")
        headers = {}
        for line in lines[1:]:
            name, colon, value = line.partition(":")
            if colon:
                headers[name.strip().lower()] = value.strip()
        return Reply(int(rest[:3]), headers)

    async def pieces(self, head: Reply) -> AsyncIterator[bytes]:
        """The body as it comes. A body that ends too early raises."""
        if head.headers.get("transfer-encoding", "").lower() == "chunked":
            while size := int((await self._patiently(self._reader.readline())).split(b";")[0] or b"x", 16):
                yield await self._patiently(self._reader.readexactly(size))
                await self._patiently(self._reader.readexactly(2))
            return
        length = head.headers.get("content-length")
        if length is not None:
            left = int(length)
            while left > 0:
                piece = await self._patiently(self._reader.read(min(left, 1 << 16)))
                if not piece:
                    raise WireError("the reply was cut off")
                left -= len(piece)
                yield piece
            return
        while piece := await self._patiently(self._reader.read(1 << 16)):
            yield piece

    async def _patiently(self, waiting: Awaitable[T]) -> T:
        """Waits for at most `silence` seconds. Python's own wait_for may lose a cancellation (before 3.12)."""
        expiry = asyncio.get_running_loop().call_later(self._silence, self._expire)
        try:
            return await waiting
        finally:
            expiry.cancel()
            if self._expired:
                raise WireError(f"{self._address.authority}: nothing came for {self._silence:g} s")

    def _expire(self) -> None:
        self._expired = True
        assert self._writer is not None
        self._writer.transport.abort()


# What the standard library raises for a broken connection or a broken reply.
_BROKEN = (OSError, EOFError, asyncio.TimeoutError, asyncio.LimitOverrunError, ValueError)


def _as_wire_error(error: Exception, address: Address) -> WireError:
    if isinstance(error, WireError):
        return error
    what = "the connection takes too long" if isinstance(error, asyncio.TimeoutError) else str(error) or type(error).__name__
    return WireError(f"{address.authority}: {what}")


async def request(
    address: Address, method: str, target: str, headers: Mapping[str, str], body: Optional[bytes] = None, *, silence: float = 60.0
) -> Reply:
    """Sends one request and returns its whole reply. `silence` is how long the other end may send nothing, in seconds."""
    try:
        async with _Connection(address, silence) as connection:
            head = await connection.send(method, target, headers, body)
            whole = bytearray()
            async for piece in connection.pieces(head):
                whole += piece
                if len(whole) > _MOST_BODY_BYTES:
                    raise WireError("the reply is too large")
            return Reply(head.status, head.headers, bytes(whole))
    except (*_BROKEN, WireError) as error:
        raise _as_wire_error(error, address) from error


async def events(address: Address, target: str, headers: Mapping[str, str], *, silence: float) -> AsyncIterator[ServerEvent | Reply]:
    """Yields the head of the reply, and then each server-sent event until the stream ends."""
    try:
        async with _Connection(address, silence) as connection:
            head = await connection.send("GET", target, {**headers, "Accept": "text/event-stream"}, None)
            yield head
            if head.status != 200:
                return
            pending, kind, data, event_id = b"", "message", "", ""
            async for piece in connection.pieces(head):
                *lines, pending = (pending + piece).split(b"\n")
                if len(pending) > _MOST_BODY_BYTES:
                    raise WireError("an event is too large")
                for line in lines:
                    text = line.rstrip(b"\r").decode("utf-8", "replace")
                    name, _, value = text.partition(":")
                    value = value[1:] if value.startswith(" ") else value
                    if not text:
                        if data:
                            yield ServerEvent(kind, data, event_id)
                        kind, data = "message", ""
                    elif not name:
                        yield ServerEvent("comment", value, event_id)
                    elif name == "event":
                        kind = value
                    elif name == "data":
                        data = f"{data}\n{value}" if data else value
                    elif name == "id":
                        event_id = value
    except (*_BROKEN, WireError) as error:
        raise _as_wire_error(error, address) from error
