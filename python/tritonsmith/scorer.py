"""Scorer: what every adapter needs: one judge for the process, and rewards for completions.

Adapters differ in signatures and in how they say that there is no result. Each takes the same options: those of
`tritonsmith.Judge` (`url`, `token`, `tasks`, `patience`, `retries`, `program`, `directory`, `settings`), members of a job
(`policy`, `trials`, ...), `timeout` in seconds for each job, and `weights` of the reward.
"""

from __future__ import annotations

import json
import os
import threading
from typing import Any, Mapping, Optional, Sequence

from tritonsmith.judge import AsyncJudge
from tritonsmith.task import Label, completion_text
from tritonsmith.verdict import Reward

__all__ = ["Scorer"]

_JUDGE_OPTIONS = ("url", "token", "tasks", "patience", "retries", "program", "directory", "settings")


class Scorer:
    """Cheap to make and to copy into other processes: the judge is made when it is first asked, once for equal options."""

    _judges: dict[str, AsyncJudge] = {}
    _lock = threading.Lock()

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._judge_options = {name: options[name] for name in _JUDGE_OPTIONS if options.get(name) is not None}
        self._job_options = {name: value for name, value in options.items() if name not in _JUDGE_OPTIONS and value is not None}

    @property
    def judge(self) -> AsyncJudge:
        given = [os.environ.get(name, "") for name in ("TRITONSMITH_GYM_URL", "TRITONSMITH_GYM_TOKEN")]
        key = json.dumps([self._judge_options, given], sort_keys=True, default=str)
        with self._lock:
            judge = self._judges.get(key)
            if judge is None or judge.closed:
                judge = self._judges[key] = AsyncJudge(**self._judge_options)
            return judge

    async def reward(self, label: Label, completion: Any) -> Reward:
        """Returns what a completion, a text or chat messages, is worth. Raises `NoVerdict` where there is no result."""
        return await self.judge.reward(label, completion_text(completion), **self._job_options)

    async def reward_kernel(self, label: Label, kernel: str) -> Reward:
        """The same for a bare kernel."""
        return await self.judge.reward_kernel(label, kernel, **self._job_options)

    async def prompt(self, label: Label, **options: Any) -> Sequence[Mapping[str, str]]:
        return await self.judge.prompt(label, **options)


def fields_of(reward: Reward) -> dict[str, float]:
    """Figures for logs, the same names for every completion, as verl needs them.

    It averages them over all completions. So the speed-up is not among them: a kernel that was not timed has none, and 0
    would count as one.
    """
    verdict = reward.verdict
    return {"accepted": float(verdict.accepted), "correct": float(verdict.correct), "compiled": float(verdict.compiled)}


def timed_fields_of(reward: Reward) -> dict[str, float]:
    """The same, and the speed-up of a kernel that a GPU timed, for frameworks in which a figure may be absent."""
    speedup = reward.verdict.speedup
    return fields_of(reward) | ({} if speedup is None else {"speedup": speedup})


def label_of(row: Mapping[str, Any], column: Optional[str] = None) -> Label:
    """The label in a row of a data set: the column named, else `task`, else what verl's and SkyRL's rows have."""
    found: Any = row[column] if column is not None else row.get("task")
    for name in ("reward_model", "reward_spec"):
        spec = row.get(name)
        if not found and isinstance(spec, Mapping):
            found = spec.get("ground_truth")
    if isinstance(found, (str, Mapping)) and found:
        return found
    raise ValueError(f"a row has no label: no {column or 'task'}, reward_model.ground_truth or reward_spec.ground_truth in {sorted(row)}")
