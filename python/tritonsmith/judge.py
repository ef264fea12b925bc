"""Judge and AsyncJudge: kernels in, verdicts out.

    with tritonsmith.Judge() as judge:
        verdict = judge(task_source, kernel_source, policy="strict")

Without a URL (argument `url`, else the environment's TRITONSMITH_GYM_URL) a judge of this machine is started when it is
first asked, and ends with the `with` block, or with the process. Both classes may be used from several threads and event
loops at a time: one thread of this process does all that waits for the network.
"""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import os
import secrets
import threading
import weakref
from typing import Any, Coroutine, Iterable, Mapping, Optional, Sequence, TypeVar

from tritonsmith.errors import DeadlinePassed, JudgeError
from tritonsmith.local import LocalService
from tritonsmith.session import Session, SessionOptions
from tritonsmith.task import Label, Tasks, job_from, load_tasks
from tritonsmith.verdict import Kernel, Reward, Verdict

__all__ = ["AsyncJudge", "Judge"]

T = TypeVar("T")
_OPTIONS = frozenset(
    ("policy", "comparison", "strides", "backend", "trials", "baselines", "priority", "device", "tolerance", "fresh", "deadline_seconds",
     "weights")
)
_GRACE_SECONDS = 5.0  # How much longer than the service itself we wait for a job with a deadline.


class _Loop:
    """The event loop of this process, in a thread of its own. A forked child starts another."""

    _lock = threading.Lock()
    _current: Optional["_Loop"] = None

    def __init__(self) -> None:
        self.process = os.getpid()
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, name="tritonsmith", daemon=True).start()

    @classmethod
    def submit(cls, coroutine: Coroutine[Any, Any, T]) -> "concurrent.futures.Future[T]":
        with cls._lock:
            if cls._current is None or cls._current.process != os.getpid():
                cls._current = cls()
            return asyncio.run_coroutine_threadsafe(coroutine, cls._current.loop)


os.register_at_fork(after_in_child=lambda: setattr(_Loop, "_lock", threading.Lock()))


class _Client:
    """What Judge and AsyncJudge have in common. Each method returns a coroutine that runs in the loop of `_Loop`."""

    def __init__(
        self,
        url: Optional[str] = None,
        *,
        token: Optional[str] = None,
        tasks: Optional[Tasks] = None,
        patience: float = 600.0,
        retries: int = 2,
        program: Optional[str] = None,
        directory: Optional[str] = None,
        settings: Optional[Mapping[str, Any]] = None,
    ) -> None:
        """
        `url` and `token` name a service; they default to TRITONSMITH_GYM_URL and TRITONSMITH_GYM_TOKEN.
        `tasks` is a suite (a file, a folder or a mapping from ids to sources) whose ids stand for tasks.
        `patience` is how many seconds the service may be away or without room. `retries` is how often a job that ended in a
        fault of the judge is submitted again. `program`, `directory` and `settings` are those of a local judge: the program,
        the folder that keeps its verdicts, and settings of `tritonsmith gym serve`.
        """
        self._url = url or os.environ.get("TRITONSMITH_GYM_URL", "")
        self._token = os.environ.get("TRITONSMITH_GYM_TOKEN", "") if token is None else token
        self._patience, self._retries = patience, retries
        self._program, self._directory, self._settings = program, directory, dict(settings or {})
        self._tasks = tasks if tasks is None or isinstance(tasks, Mapping) else load_tasks(tasks)
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._session: Optional[Session] = None
        self._local: Optional[LocalService] = None
        self._closed = False
        _open_clients.add(self)

    @property
    def url(self) -> str:
        """The service's URL. Starts the local judge if none was given."""
        self._opened()
        return self._url

    @property
    def closed(self) -> bool:
        return self._closed

    def _opened(self) -> Session:
        with self._lock:
            if self._closed:
                raise JudgeError("the judge is closed")
            if self._process != os.getpid():
                # A forked child must not speak on its parent's connections. The parent's judge serves it, too.
                self._process, self._session, self._local = os.getpid(), None, None
            if not self._url:
                self._local = LocalService(program=self._program, directory=self._directory, settings=self._settings)
                self._url, self._token = self._local.url, self._local.token
            if self._session is None:
                options = SessionOptions(self._url, self._token, self._patience, self._retries)
                self._session = _Loop.submit(_made(options)).result()
            return self._session

    def _job(self, task: Label, kernel: str, timeout: Optional[float], options: Mapping[str, Any]) -> dict[str, Any]:
        return self._reward_job(task, kernel, timeout, options)[0]

    async def _judge(self, session: Session, job: Mapping[str, Any]) -> Verdict:
        return await _within(session.judge(job), job)

    async def _judge_many(self, session: Session, jobs: Sequence[Mapping[str, Any]]) -> list[Verdict]:
        return list(await asyncio.gather(*(self._judge(session, job) for job in jobs)))

    async def _reward(
        self, session: Session, job: Mapping[str, Any], completion: Optional[str], weights: Mapping[str, Any]
    ) -> Reward:
        return await _within(session.reward(job, completion, weights), job)

    def _reward_job(
        self, label: Label, kernel: str, timeout: Optional[float], options: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        unknown = set(options) - _OPTIONS
        if unknown:
            raise TypeError(f"a job has no option {', '.join(sorted(unknown))}; there are {', '.join(sorted(_OPTIONS))}")
        job, weights = job_from(label, self._tasks, **options)
        if job.get("fresh") is True:
            job["fresh"] = secrets.token_hex(8)
        if timeout is not None:
            job["deadline_seconds"] = timeout
        return {**job, "kernel": kernel}, weights

    def _close(self) -> None:
        with self._lock:
            if self._closed:
                return
            self._closed = True
            session, self._session = self._session, None
            local, self._local = self._local, None
        if self._process != os.getpid():
            return
        if session is not None:
            try:
                _Loop.submit(session.close()).result(10)
            except (concurrent.futures.TimeoutError, RuntimeError):
                pass
        if local is not None:
            local.close()


class Judge(_Client):
    """The judge for programs without an event loop. Every method blocks until its answer is there."""

    def __enter__(self) -> "Judge":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Withdraws what has no verdict yet, and ends a local judge."""
        self._close()

    def __call__(self, task: Label, kernel: str, *, timeout: Optional[float] = None, **options: Any) -> Verdict:
        """Returns the verdict on `kernel`, Python that defines ModelNew, for `task`.

        Options are members of a job: `policy`, `comparison`, `strides`, `backend`, `trials`, `baselines`, `priority`, `tolerance`,
        `fresh`. Raises `NoVerdict` where the infrastructure failed, also when `timeout` seconds have passed.
        """
        job = self._job(task, kernel, timeout, options)
        return _wait(_Loop.submit(self._judge(self._opened(), job)))

    def many(self, task: Label, kernels: Iterable[str], *, timeout: Optional[float] = None, **options: Any) -> list[Verdict]:
        """Returns the verdicts on several kernels for one task, judged side by side, in their order."""
        jobs = [self._job(task, kernel, timeout, options) for kernel in kernels]
        return _wait(_Loop.submit(self._judge_many(self._opened(), jobs)))

    def reward(self, label: Label, completion: str, *, timeout: Optional[float] = None, **options: Any) -> Reward:
        """Judges the kernel that a completion offers and returns what the completion is worth.

        Options are members of a job and `weights`, a mapping of `[reward]` settings (docs/settings.md).
        """
        job, weights = self._reward_job(label, "", timeout, options)
        return _wait(_Loop.submit(self._reward(self._opened(), job, completion, weights)))

    def reward_kernel(self, label: Label, kernel: str, *, timeout: Optional[float] = None, **options: Any) -> Reward:
        """The same for a bare kernel, where no completion is at hand: its form earns nothing."""
        job, weights = self._reward_job(label, kernel, timeout, options)
        return _wait(_Loop.submit(self._reward(self._opened(), job, None, weights)))

    def extract(self, completion: str) -> Kernel:
        """Returns the kernel that a completion offers."""
        return _wait(_Loop.submit(self._opened().extract(completion)))

    def prompt(self, task: Label, **options: Any) -> Sequence[Mapping[str, str]]:
        """Returns the chat messages that ask a model for a task's kernel (`style`, `kind`, `system`: docs/settings.md)."""
        job, _ = job_from(task, self._tasks)
        return _wait(_Loop.submit(self._opened().prompt(job["task"], **options)))

    def status(self) -> Mapping[str, Any]:
        """Returns how long the service's queue is, and whether it works."""
        return _wait(_Loop.submit(self._opened().status()))


class AsyncJudge(_Client):
    """The judge for programs with an event loop of their own; any number of calls may be awaited at a time."""

    async def __aenter__(self) -> "AsyncJudge":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Withdraws what has no verdict yet, and ends a local judge."""
        await asyncio.get_running_loop().run_in_executor(None, self._close)

    async def __call__(self, task: Label, kernel: str, *, timeout: Optional[float] = None, **options: Any) -> Verdict:
        """Returns the verdict on `kernel` for `task`, as `Judge` does. Cancelling the call withdraws the job."""
        job = self._job(task, kernel, timeout, options)
        return await self._run(self._judge(await self._open(), job))

    async def many(self, task: Label, kernels: Iterable[str], *, timeout: Optional[float] = None, **options: Any) -> list[Verdict]:
        """Returns the verdicts on several kernels for one task, judged side by side, in their order."""
        jobs = [self._job(task, kernel, timeout, options) for kernel in kernels]
        return await self._run(self._judge_many(await self._open(), jobs))

    async def reward(self, label: Label, completion: str, *, timeout: Optional[float] = None, **options: Any) -> Reward:
        """Judges the kernel that a completion offers and returns what the completion is worth."""
        job, weights = self._reward_job(label, "", timeout, options)
        return await self._run(self._reward(await self._open(), job, completion, weights))

    async def reward_kernel(self, label: Label, kernel: str, *, timeout: Optional[float] = None, **options: Any) -> Reward:
        """The same for a bare kernel, where no completion is at hand: its form earns nothing."""
        job, weights = self._reward_job(label, kernel, timeout, options)
        return await self._run(self._reward(await self._open(), job, None, weights))

    async def extract(self, completion: str) -> Kernel:
        """Returns the kernel that a completion offers."""
        return await self._run((await self._open()).extract(completion))

    async def prompt(self, task: Label, **options: Any) -> Sequence[Mapping[str, str]]:
        """Returns the chat messages that ask a model for a task's kernel."""
        job, _ = job_from(task, self._tasks)
        return await self._run((await self._open()).prompt(job["task"], **options))

    async def status(self) -> Mapping[str, Any]:
        """Returns how long the service's queue is, and whether it works."""
        return await self._run((await self._open()).status())

    async def _open(self) -> Session:
        if self._session is not None and self._process == os.getpid() and not self._closed:
            return self._session
        return await asyncio.get_running_loop().run_in_executor(None, self._opened)

    @staticmethod
    async def _run(coroutine: Coroutine[Any, Any, T]) -> T:
        return await asyncio.wrap_future(_Loop.submit(coroutine))


async def _made(options: SessionOptions) -> Session:
    return Session(options)


async def _within(coroutine: Coroutine[Any, Any, T], job: Mapping[str, Any]) -> T:
    """The service ends a job at its deadline; we give up a little later, in case the service is away."""
    deadline = job.get("deadline_seconds")
    if deadline is None:
        return await coroutine
    try:
        return await asyncio.wait_for(coroutine, float(deadline) + _GRACE_SECONDS)
    except asyncio.TimeoutError:
        raise DeadlinePassed(f"the service gave no verdict within {deadline} s") from None


def _wait(future: "concurrent.futures.Future[T]") -> T:
    try:
        return future.result()
    except BaseException:
        future.cancel()  # Ctrl-C: the job is withdrawn.
        raise


_open_clients: "weakref.WeakSet[_Client]" = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for client in list(_open_clients):
        client._close()


