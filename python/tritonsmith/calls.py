"""Calls of a service that keep no state: each may be repeated until it is answered.

`Calls.ask` joins what several callers ask of one endpoint at about the same time into one request, so that a thousand
verdicts do not cost a thousand connections.
"""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass, field
from typing import Any, Iterable, Mapping, Optional

from tritonsmith.errors import AccessDenied, BadRequest, GymUnavailable, JudgeError
from tritonsmith.wire import Address, Reply, WireError, request

__all__ = ["Calls", "Patience", "SessionOptions", "encoded", "end_tasks", "exception_of", "is_final"]

_ITEMS_AT_ONCE = 64
_BYTES_AT_ONCE = 8 * 1024 * 1024
_LONGEST_REST = 5.0


@dataclass(frozen=True)
class SessionOptions:
    url: str
    token: str = ""
    patience: float = 600.0
    """How long the service may be away or without room for our jobs, in seconds."""
    retries: int = 2
    """How often a job that ended in a fault of the judge is submitted again."""
    first_rest: float = 0.1
    """The wait before the first repetition, in seconds. Each further wait is twice as long, up to five seconds."""


@dataclass
class Patience:
    """Counts the repetitions of one exchange and says how long to rest before the next."""

    options: SessionOptions
    since: float = field(default_factory=time.monotonic)
    attempt: int = 0

    def renew(self) -> None:
        self.since, self.attempt = time.monotonic(), 0

    def silence(self) -> float:
        return time.monotonic() - self.since

    async def rest(self, reply: Optional[Reply] = None) -> None:
        seconds = min(_LONGEST_REST, self.options.first_rest * 2.0 ** min(self.attempt, 10))
        if reply is not None and reply.retry_after is not None:
            seconds = min(_LONGEST_REST, max(seconds, reply.retry_after))
        self.attempt += 1
        await asyncio.sleep(seconds)


@dataclass
class _Queue:
    """What callers ask of one endpoint with the same common members."""

    path: str
    asked: str
    answered: str
    common: Mapping[str, Any]
    items: list[tuple[Any, "asyncio.Future[Any]"]] = field(default_factory=list)


class Calls:
    """Used in one event loop."""

    def __init__(self, options: SessionOptions) -> None:
        self.options = options
        self.address = Address.parse(options.url)
        self.headers = {"Authorization": f"Bearer {options.token}"} if options.token else {}
        self._queues: dict[str, _Queue] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def ask(self, path: str, asked: str, answered: str, item: Any, **common: Any) -> Any:
        """Posts {asked: [item, ...], **common} and returns the item's own part of {answered: [...]}."""
        key = json.dumps([path, common], sort_keys=True)
        queue = self._queues.get(key)
        if queue is None:
            queue = self._queues[key] = _Queue(path, asked, answered, common)
            task = asyncio.ensure_future(self._serve(key, queue))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        future = asyncio.get_running_loop().create_future()
        queue.items.append((item, future))
        return await future

    async def exchange(self, method: str, path: str, body: Optional[Mapping[str, Any]] = None) -> Mapping[str, Any]:
        """Sends a request as often as it takes. Raises `GymUnavailable` when the patience is over."""
        patience = Patience(self.options)
        sent = None if body is None else encoded(body)
        while True:
            reply: Optional[Reply] = None
            try:
                reply = await request(self.address, method, path, self.headers, sent)
                if reply.status == 200:
                    data = reply.json()
                    if isinstance(data, dict):
                        return data
                why = f"HTTP status {reply.status}"
            except WireError as error:
                reply, why = None, str(error)
            if reply is not None and is_final(reply.status):
                raise exception_of(reply, self.options.url, path)
            if patience.silence() > self.options.patience:
                raise GymUnavailable(f"the gym at {self.options.url} does not answer {path}: {why}")
            await patience.rest(reply)

    async def close(self) -> None:
        await end_tasks(self._tasks)
        for queue in self._queues.values():
            _fail(queue.items, JudgeError("the judge is closed"))
        self._queues.clear()

    async def _serve(self, key: str, queue: _Queue) -> None:
        await asyncio.sleep(0)  # Whoever asks in the same iteration of the loop comes along.
        while queue.items:
            taken, size = 0, 0
            while taken < min(len(queue.items), _ITEMS_AT_ONCE) and (taken == 0 or size < _BYTES_AT_ONCE):
                size += len(encoded(queue.items[taken][0]))
                taken += 1
            batch = queue.items[:taken]
            try:
                await self._answer(queue, batch)
            except asyncio.CancelledError:
                raise
            except BadRequest as error:
                # One item is at fault: each is asked alone, so that the others have their answers.
                await self._answer_one_by_one(queue, batch, error)
            except Exception as error:
                _fail(batch, error)
            del queue.items[:taken]
        del self._queues[key]

    async def _answer(self, queue: _Queue, batch: list[tuple[Any, "asyncio.Future[Any]"]]) -> None:
        reply = await self.exchange("POST", queue.path, {queue.asked: [item for item, _ in batch], **queue.common})
        answers = reply.get(queue.answered)
        if not isinstance(answers, list) or len(answers) != len(batch):
            raise JudgeError(f"the reply of {queue.path} has no '{queue.answered}' with {len(batch)} items")
        for (_, future), answer in zip(batch, answers):
            if not future.done():
                future.set_result(answer)

    async def _answer_one_by_one(self, queue: _Queue, batch: list[tuple[Any, "asyncio.Future[Any]"]], error: BadRequest) -> None:
        if len(batch) == 1:
            return _fail(batch, error)
        for one in batch:
            try:
                await self._answer(queue, [one])
            except asyncio.CancelledError:
                raise
            except Exception as own:
                _fail([one], own)


async def end_tasks(tasks: Iterable["asyncio.Task[None]"]) -> None:
    """Cancels tasks until they have ended: before Python 3.12 a task may lose a cancellation in asyncio.wait_for."""
    while pending := [task for task in tasks if not task.done()]:
        for task in pending:
            task.cancel()
        await asyncio.wait(pending, timeout=0.5)


def _fail(batch: list[tuple[Any, "asyncio.Future[Any]"]], error: Exception) -> None:
    for _, future in batch:
        if not future.done():
            future.set_exception(error)


def encoded(value: Any) -> bytes:
    """JSON in UTF-8. A lone surrogate, which is no Unicode and which a model may emit, becomes a question mark."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


def is_final(status: int) -> bool:
    """Whether it is useless to try again."""
    return 400 <= status < 500 and status not in (408, 429)


def exception_of(reply: Reply, url: str, path: str = "/v1/jobs") -> JudgeError:
    message = f"HTTP status {reply.status}"
    try:
        message = str(json.loads(reply.body)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        pass
    if reply.status in (401, 403):
        return AccessDenied(f"the gym at {url} does not let us in: {message}; set TRITONSMITH_GYM_TOKEN or pass token=")
    if reply.status == 404:
        return JudgeError(f"the gym at {url} does not know {path} ({message}); is it older than this package?")
    return BadRequest(f"the gym at {url} refuses the request: {message}")
