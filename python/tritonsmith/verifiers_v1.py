"""verifiers 0.4 (v1): a taskset of kernels, and the environment that plays it.

    eval tritonsmith-kernels --env.taskset.tasks tasks.jsonl --env.turns 3 --env.agent.harness.id null

A reward comes from the judge's verdict on the last answer. Where the infrastructure fails, the hook raises. verifiers then
records a `TaskError` on the trace, whose reward `kernel` is None and which is not `ok`. If the judge fails between two turns,
verifiers records an `EnvError` on the episode. `--env.retries.max_retries` plays either again.
"""

from __future__ import annotations

from typing import Any, Iterator

import verifiers.v1 as vf

from tritonsmith.scorer import Scorer, timed_fields_of
from tritonsmith.task import load_tasks
from tritonsmith.waiting import wait_for

__all__ = ["KernelEnv", "KernelEnvConfig", "KernelTask", "KernelTaskConfig", "KernelTaskData", "KernelTaskset", "KernelTasksetConfig"]


class KernelTaskConfig(vf.TaskConfig):
    """Where and how kernels are judged. The service's token comes from TRITONSMITH_GYM_TOKEN."""

    url: str = ""
    """The gym's URL; empty: TRITONSMITH_GYM_URL, else a judge of this machine."""
    policy: str = "strict"
    comparison: str = ""
    """Empty: the service's own default."""
    backend: str = "auto"
    trials: int = 3
    baselines: list[str] = []
    priority: str = "normal"
    timeout: float | None = None
    """Seconds for each verdict."""
    weights: dict[str, float] = {}
    """Settings of `[reward]` in docs/settings.md."""
    patience: float = 600.0
    """Seconds that the service may be away or without room."""
    retries: int = 2
    """How often a job that ended in a fault of the judge is submitted again."""
    program: str = ""
    """The program of a judge of this machine; empty: the installed one."""
    directory: str = ""
    """Where a judge of this machine keeps its verdicts; empty: nowhere."""
    settings: dict[str, Any] = {}
    """Settings of `tritonsmith gym serve` for a judge of this machine."""

    def scorer(self) -> Scorer:
        given = {name: getattr(self, name) for name in KernelTaskConfig.__annotations__}
        return Scorer({name: value for name, value in given.items() if value not in ("", None, [], {})})


class KernelTaskData(vf.TaskData):
    source: str
    """The task's own Python."""


class KernelTask(vf.Task[KernelTaskData, vf.State, KernelTaskConfig]):
    @property
    def label(self) -> dict[str, Any]:
        return {"id": self.data.id or "task", "task": self.data.source}

    @vf.reward  # type: ignore[untyped-decorator]
    async def kernel(self, trace: Any) -> float:
        reward = await self.config.scorer().reward(self.label, trace.last_reply)
        trace.record_metrics(timed_fields_of(reward))
        return float(reward.total)


class KernelTasksetConfig(vf.TasksetConfig):
    tasks: str = ""
    """A suite: a file that `tritonsmith tasks make` or `import` wrote, or a folder of Python files."""
    style: str = "full"
    """Of prompts: full or compact."""
    task: KernelTaskConfig = KernelTaskConfig()


class KernelTaskset(vf.Taskset[KernelTask, KernelTasksetConfig]):
    def load(self) -> Iterator[KernelTask]:
        if not self.config.tasks:
            raise ValueError("--env.taskset.tasks names no file of tasks; `tritonsmith tasks make --out FILE` writes one")
        scorer = self.config.task.scorer()
        for name, task in load_tasks(self.config.tasks).items():
            messages = wait_for(scorer.prompt({"id": name, **task}, style=self.config.style))
            data = KernelTaskData(id=name, name=name, prompt=messages[-1]["content"], source=task["source"])
            yield KernelTask(data, self.config.task)


class KernelEnvConfig(vf.EnvConfig):
    agent: vf.AgentConfig = vf.AgentConfig()
    turns: int = 1
    """Answers in one conversation at most; each but the last gets the judge's feedback."""


class KernelEnv(vf.Env[KernelEnvConfig]):
    """Plays a task: the model answers, and the judge answers as the user, until a kernel is accepted."""

    async def run(self, task: Any, agents: Any) -> None:
        if self.config.turns <= 1:
            await agents.agent.run(task)
            return
        scorer = task.config.scorer()
        async with agents.agent.interaction(task) as interaction:
            segment = await interaction.turn()
            for _ in range(self.config.turns - 1):
                if segment.terminated:
                    break
                verdict = (await scorer.reward(task.label, segment.last_reply)).verdict
                if verdict.accepted:
                    break
                segment = await interaction.turn(verdict.feedback)
