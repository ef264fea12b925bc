"""Session: one client of one gym service. All of it runs in one event loop.

Jobs that wait are sent in batches, and one stream brings the verdicts of all of them. After the service was away, every
job without a verdict is sent again. That changes nothing for jobs that the service knows, since a job's name follows from
its content. If the service is away, or has no room for our jobs (429) and sends no verdict, for longer than `patience`
seconds, every waiting job fails with `GymUnavailable`.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from dataclasses import dataclass
from typing import Any, Mapping, Optional, Sequence
from urllib.parse import quote

from tritonsmith.calls import Calls, Patience, SessionOptions, encoded, end_tasks, exception_of, is_final
from tritonsmith.errors import DeadlinePassed, GymUnavailable, InfrastructureFault, JudgeError
from tritonsmith.verdict import Finding, Kernel, Reward, RewardTerm, Verdict
from tritonsmith.wire import Reply, ServerEvent, WireError, events, request

__all__ = ["Session", "SessionOptions"]

_JOBS_AT_ONCE = 64
_BYTES_AT_ONCE = 8 * 1024 * 1024
_SILENCE = 30.0  # The service gives a sign of life on a stream every 5 s.


@dataclass(eq=False)
class _Entry:
    job: Mapping[str, Any]
    verdict: "asyncio.Future[Mapping[str, Any]]"
    name: str = ""  # What the service calls the job; empty until its reply says so.


class Session:
    """Created and used in one event loop. `close` withdraws whatever has no verdict yet."""

    def __init__(self, options: SessionOptions) -> None:
        self.options = options
        self._calls = Calls(options)
        self._client = _fresh_client()
        self._unsent: list[_Entry] = []
        self._waiting: dict[str, list[_Entry]] = {}
        self._early: dict[str, Mapping[str, Any]] = {}  # Verdicts of jobs whose name we are about to learn.
        self._posted: list[_Entry] = []  # What the request under way carries.
        self._work, self._awaited = asyncio.Event(), asyncio.Event()
        self._sender: Optional[asyncio.Task[None]] = None
        self._listener: Optional[asyncio.Task[None]] = None
        self._withdrawals: set[asyncio.Task[None]] = set()
        self._heard = Patience(options)

    # ----- what callers use

    async def judge(self, job: Mapping[str, Any]) -> Verdict:
        """Returns the verdict of one job. Raises `NoVerdict` where the infrastructure failed."""
        for attempt in range(self.options.retries + 1):
            verdict = Verdict(await self._verdict_of(job))
            if verdict.fault != "infrastructure":
                break
            error = verdict.error
            message = f"{error.error_class}: {error.message}" if error else "the judge failed without a reason"
            if error is not None and error.error_class == "deadline":
                raise DeadlinePassed(message, verdict)
            if attempt == self.options.retries:
                raise InfrastructureFault(message, verdict)
            await Patience(self.options, attempt=attempt).rest()
        return await self._with_feedback(verdict.data)

    async def extract(self, completion: str) -> Kernel:
        """Returns the kernel that a completion offers."""
        item = await self._calls.ask("/v1/extract", "completions", "kernels", completion)
        findings = tuple(Finding.from_json(finding) for finding in item.get("findings") or ())
        if item.get("source"):
            return Kernel(str(item["source"]), findings)
        return Kernel("", findings, await self._with_feedback(item["verdict"]))

    async def reward(self, job: Mapping[str, Any], completion: Optional[str], weights: Mapping[str, Any]) -> Reward:
        """Judges the kernel of a completion, or else `job["kernel"]`, and returns what it is worth."""
        kernel = Kernel(str(job.get("kernel", ""))) if completion is None else await self.extract(completion)
        if kernel.verdict is None:
            verdict = await self.judge({**job, "kernel": kernel.source})
        else:
            own = {"task": str(job["task"].get("id", "task")), "policy": job.get("policy", "strict")}
            verdict = Verdict({**kernel.verdict.data, **own}, kernel.verdict.feedback)
        answer: dict[str, Any] = {"verdict": verdict.data, "weights": dict(weights)}
        if completion is not None:
            answer["completion"] = completion
        item = await self._calls.ask("/v1/rewards", "answers", "rewards", answer)
        if item is None:
            raise InfrastructureFault("the service gives no reward for this verdict", verdict)
        terms = tuple(RewardTerm(str(term["name"]), float(term["value"]), float(term["weight"])) for term in item["terms"])
        return Reward(float(item["total"]), terms, verdict, kernel)

    async def prompt(self, task: Mapping[str, Any], **options: Any) -> Sequence[Mapping[str, str]]:
        """Returns the messages that ask a model for the kernel of a task."""
        messages = await self._calls.ask("/v1/prompts", "tasks", "prompts", task, **options)
        return [dict(message) for message in messages]

    async def status(self) -> Mapping[str, Any]:
        return await self._calls.exchange("GET", "/v1/status")

    async def close(self) -> None:
        unfinished = bool(self._unsent or self._waiting or self._posted)
        await end_tasks([task for task in (self._sender, self._listener, *self._withdrawals) if task is not None])
        self._sender = self._listener = None
        self._fail_all(JudgeError("the judge is closed"))
        await self._calls.close()
        if unfinished:
            await self._delete(f"/v1/clients/{self._client}", silence=2.0)

    async def _with_feedback(self, data: Mapping[str, Any]) -> Verdict:
        return Verdict(data, str(await self._calls.ask("/v1/feedback", "verdicts", "feedback", data)))

    async def _delete(self, target: str, silence: float) -> None:
        """Where this fails, jobs are judged in vain, which harms nobody."""
        try:
            await request(self._calls.address, "DELETE", target, self._calls.headers, silence=silence)
        except WireError:
            pass

    # ----- jobs

    async def _verdict_of(self, job: Mapping[str, Any]) -> Mapping[str, Any]:
        if self._sender is None:
            self._sender = self._started(self._send())
            self._listener = self._started(self._listen())
        if not self._unsent and not self._waiting and not self._posted:
            self._heard.renew()
        entry = _Entry(job, asyncio.get_running_loop().create_future())
        self._unsent.append(entry)
        self._work.set()
        try:
            return await entry.verdict
        finally:
            self._forget(entry)

    def _started(self, coroutine: Any) -> "asyncio.Task[None]":
        """A task whose death, which would be a mistake of ours, ends what waits for it instead of leaving it waiting."""
        task: asyncio.Task[None] = asyncio.ensure_future(coroutine)

        def ended(done: "asyncio.Task[None]") -> None:
            if not done.cancelled() and done.exception() is not None:
                self._fail_all(JudgeError(f"the client failed: {done.exception()!r}"))

        task.add_done_callback(ended)
        return task

    def _forget(self, entry: _Entry) -> None:
        """Withdraws an entry whose caller has gone."""
        if entry in self._unsent:
            self._unsent.remove(entry)
        others = self._waiting.get(entry.name, [])
        if entry not in others:
            return
        others.remove(entry)
        if not others:
            del self._waiting[entry.name]
            self._withdraw_later(entry.name)

    def _withdraw_later(self, name: str) -> None:
        task = self._started(self._withdraw(name))
        self._withdrawals.add(task)
        task.add_done_callback(self._withdrawals.discard)

    async def _withdraw(self, name: str) -> None:
        await self._delete(f"/v1/jobs/{quote(name)}?client={self._client}", silence=10.0)
        # Somebody here may have asked for the same job meanwhile, and our withdrawal may have taken that back, too.
        self._unsent += self._waiting.pop(name, [])
        self._work.set()

    async def _send(self) -> None:
        at_once = _JOBS_AT_ONCE
        while True:
            await self._work.wait()
            batch = self._next_batch(at_once)
            if not batch:
                self._work.clear()
                continue
            reply: Optional[Reply] = None
            self._posted = batch
            try:
                body = encoded({"client": self._client, "jobs": [entry.job for entry in batch]})
                reply = await request(self._calls.address, "POST", "/v1/jobs", self._calls.headers, body)
                if reply.status == 202:
                    self._take_states(batch, _states(reply, len(batch)))
                    at_once = min(_JOBS_AT_ONCE, 2 * at_once)
                    self._posted = []
                    continue
            except WireError:
                reply = None
            self._posted = []
            self._unsent = [entry for entry in batch if not entry.verdict.done()] + self._unsent
            if reply is not None and is_final(reply.status):
                self._refuse(batch, reply)
                at_once = 1  # Only one job of a batch may be at fault.
                continue
            if reply is not None and reply.status == 429:
                at_once = max(1, at_once // 2)  # A batch is refused whole; a smaller one may find room.
            await self._rest_or_give_up(reply)

    def _next_batch(self, at_once: int) -> list[_Entry]:
        batch: list[_Entry] = []
        size = 0
        while self._unsent and len(batch) < at_once and (not batch or size < _BYTES_AT_ONCE):
            entry = self._unsent.pop(0)
            if not entry.verdict.done():
                batch.append(entry)
                size += len(encoded(entry.job))
        return batch

    def _take_states(self, batch: Sequence[_Entry], states: Sequence[Mapping[str, Any]]) -> None:
        self._heard.renew()
        gone = []
        for entry, state in zip(batch, states):
            entry.name = str(state["id"])
            verdict = state.get("verdict") or self._early.get(entry.name)
            if entry.verdict.done():
                gone.append(entry.name)
            elif isinstance(verdict, Mapping):
                entry.verdict.set_result(verdict)
            else:
                self._waiting.setdefault(entry.name, []).append(entry)
        for name in gone:  # Their callers have gone meanwhile.
            if name not in self._waiting:
                self._withdraw_later(name)
        self._early.clear()
        if self._waiting:
            self._awaited.set()

    def _refuse(self, batch: Sequence[_Entry], reply: Reply) -> None:
        """Fails what the service will never take. What is at fault in a batch shows when each job is sent alone."""
        if reply.status == 409:
            self._client = _fresh_client()
        elif reply.status in (401, 403):
            self._fail_all(exception_of(reply, self.options.url))
        elif len(batch) == 1:
            self._unsent = [entry for entry in self._unsent if entry is not batch[0]]
            _fail(batch, exception_of(reply, self.options.url))

    async def _rest_or_give_up(self, reply: Optional[Reply] = None) -> None:
        """Rests. Fails all waiting jobs first if the service has been away, or without room, for longer than the patience."""
        seconds = self._heard.silence()
        if seconds > self.options.patience and (self._unsent or self._waiting):
            full = reply is not None and reply.status == 429
            state = "had no room for our jobs" if full else "been away"
            self._fail_all(GymUnavailable(f"the gym at {self.options.url} has {state} for {seconds:.0f} s"))
        await self._heard.rest(reply)

    def _fail_all(self, error: JudgeError) -> None:
        entries = [*self._unsent, *self._posted, *(entry for entries in self._waiting.values() for entry in entries)]
        self._unsent, self._waiting = [], {}
        _fail(entries, error)

    # ----- verdicts

    async def _listen(self) -> None:
        """Streams verdicts while any is awaited. A stream that ends early leaves jobs waiting, which are sent again."""
        last_event = ""
        while True:
            self._awaited.clear()
            if not self._waiting:
                await self._awaited.wait()
            refused: Optional[Reply] = None
            headers = {**self._calls.headers, "Last-Event-ID": last_event} if last_event else self._calls.headers
            target = f"/v1/verdicts?client={self._client}&until=idle"
            try:
                async for event in events(self._calls.address, target, headers, silence=_SILENCE):
                    if isinstance(event, Reply):
                        refused = event if event.status != 200 else None
                        continue
                    self._heard.renew()
                    last_event = event.id or last_event
                    if event.type == "verdict":
                        self._take_verdict(event)
            except WireError:
                pass
            if refused is not None and refused.status in (401, 403):
                self._fail_all(exception_of(refused, self.options.url))
            if self._waiting:
                await self._rest_or_give_up(refused)
                self._send_again()

    def _send_again(self) -> None:
        for entries in self._waiting.values():
            self._unsent += entries
        self._waiting.clear()
        self._work.set()

    def _take_verdict(self, event: ServerEvent) -> None:
        try:
            data = json.loads(event.data)
            name, verdict = str(data["id"]), data["verdict"]
        except (ValueError, KeyError, TypeError) as error:
            raise WireError("the service sent an event that is no verdict") from error
        if not isinstance(verdict, dict):
            raise WireError("the service sent a verdict that is none")
        if self._posted:
            self._early[name] = verdict
        for entry in self._waiting.pop(name, []):
            if not entry.verdict.done():
                entry.verdict.set_result(verdict)


def _fresh_client() -> str:
    return f"python-{secrets.token_hex(8)}"


def _states(reply: Reply, count: int) -> Sequence[Mapping[str, Any]]:
    data = reply.json()
    states = data.get("jobs") if isinstance(data, dict) else None
    if not isinstance(states, list) or len(states) != count or not all(isinstance(s, dict) and "id" in s for s in states):
        raise WireError("the service's reply does not fit the jobs that were sent")
    return states


def _fail(entries: Sequence[_Entry], error: JudgeError) -> None:
    for entry in entries:
        if not entry.verdict.done():
            entry.verdict.set_exception(error)
