"""verifiers 0.1 (v0): `verifiers.load_environment("tritonsmith-kernels", tasks="tasks.jsonl", max_turns=3)`.

Each answer is judged within the rollout, since verifiers v0 counts an exception of a reward function as 0. Where the
infrastructure fails, the rollout ends with `vf.InfraError`: verifiers plays it again where retries are set. A rollout whose
error stays has no reward, which is NaN here, since verifiers v0 cannot drop a rollout from its group. `KernelRubric` keeps it
out of the mean of the group and gives it no advantage.
"""

from __future__ import annotations

import math
from typing import Any, Mapping, Optional

import verifiers as vf
from datasets import Dataset

from tritonsmith.errors import NoVerdict
from tritonsmith.scorer import Scorer
from tritonsmith.task import Tasks, load_tasks
from tritonsmith.waiting import wait_for

__all__ = ["KernelEnvironment", "KernelRubric", "load_environment"]


def load_environment(tasks: Tasks, max_turns: int = 1, style: str = "full", limit: Optional[int] = None, **options: Any) -> vf.Environment:
    """Returns an environment over a suite. `options` are those of `tritonsmith.scorer.Scorer`."""
    suite = dict(tasks) if isinstance(tasks, Mapping) else load_tasks(tasks)
    scorer = Scorer(options)
    rows = []
    for name, task in list(suite.items())[:limit]:
        label = {"id": name, "task": task["source"]}
        rows.append({"prompt": [dict(m) for m in wait_for(scorer.prompt({"id": name, **task}, style=style))], "info": {"label": label}})
    return KernelEnvironment(scorer, max_turns=max_turns, dataset=Dataset.from_list(rows), rubric=KernelRubric([kernel_reward]))


async def kernel_reward(state: Any) -> float:
    """The best reward of a rollout's answers; not a number where one of them has no verdict."""
    return max(state["kernel_rewards"]) if _has_reward(state) else math.nan


def _has_reward(state: Any) -> bool:
    return state.get("error") is None and bool(state.get("kernel_rewards"))


class KernelRubric(vf.Rubric):  # type: ignore[misc]
    """Compares the rollouts of a group that have a verdict. The others keep NaN as their reward, and 0 as their advantage."""

    async def score_group(self, states: Any) -> None:
        scored = [state for state in states if _has_reward(state)]
        if scored:
            await super().score_group(scored)
        for state in states:
            if not _has_reward(state):
                await self.score_rollout(state)
                state["advantage"] = 0.0
                for step in state["trajectory"]:
                    step["advantage"] = 0.0
                    if step["reward"] is None:
                        step["reward"] = math.nan


class KernelEnvironment(vf.MultiTurnEnv):  # type: ignore[misc]
    """The judge as the user of a conversation, until a kernel is accepted."""

    def __init__(self, scorer: Scorer, **options: Any) -> None:
        super().__init__(**options)
        self._scorer = scorer

    async def add_trajectory_step(self, state: Any, trajectory_step: Any) -> None:
        await super().add_trajectory_step(state, trajectory_step)
        try:
            reward = await self._scorer.reward(state["info"]["label"], trajectory_step["completion"])
        except NoVerdict as fault:
            raise vf.InfraError(f"the judge gave no verdict: {fault}") from fault
        trajectory_step["reward"] = reward.total
        state.setdefault("kernel_rewards", []).append(reward.total)
        state["kernel_feedback"] = reward.verdict.feedback
        state["kernel_accepted"] = reward.verdict.accepted

    @vf.stop  # type: ignore[untyped-decorator]
    async def has_accepted_kernel(self, state: Any) -> bool:
        return bool(state.get("kernel_accepted", False))

    async def env_response(self, messages: Any, state: Any, **_: Any) -> Any:
        return [{"role": "user", "content": state["kernel_feedback"]}]
