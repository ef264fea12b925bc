"""TRL: a reward function and an environment for `GRPOTrainer`.

    trainer = GRPOTrainer(model, reward_funcs=tritonsmith.trl.kernel_reward(), train_dataset=dataset, args=config)
    trainer = GRPOTrainer(model, environment_factory=tritonsmith.trl.kernel_environment(), ...)

Each row of the data set has a column `task` (a label, see tritonsmith/task.py). A completion without a verdict has the
reward None, which TRL leaves out of the mean of its group and out of the gradient. TRL releases before 1.6 count None as
0, and so there the reward function raises instead.
"""

from __future__ import annotations

import asyncio
import functools
import logging
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Awaitable, Callable, Optional, Sequence, Union

from tritonsmith.errors import NoVerdict
from tritonsmith.scorer import Scorer, label_of
from tritonsmith.task import Label
from tritonsmith.verdict import Reward

__all__ = ["KernelEnvironment", "kernel_environment", "kernel_reward"]

_NONE_IS_NO_RESULT_FROM = (1, 6)
_LOG = logging.getLogger("tritonsmith.trl")


def kernel_reward(*, task_column: str = "task", **options: Any) -> Callable[..., Awaitable[list[Optional[float]]]]:
    """Returns an asynchronous reward function: what each completion's kernel is worth, or None without a verdict.

    `options` are those of `tritonsmith.scorer.Scorer`.
    """
    scorer = Scorer(options)

    async def tritonsmith_kernel(completions: Sequence[Any], **columns: Any) -> list[Optional[float]]:
        labels: Sequence[Label] = columns[task_column]
        if len(labels) != len(completions):
            raise ValueError(f"{len(completions)} completions, and {len(labels)} in the column {task_column!r}")
        scoring = (scorer.reward(label, completion) for label, completion in zip(labels, completions))
        rewards = await asyncio.gather(*scoring, return_exceptions=True)
        return [_reward_or_none(reward) for reward in rewards]

    return tritonsmith_kernel


def _reward_or_none(reward: Union[Reward, BaseException]) -> Optional[float]:
    if isinstance(reward, NoVerdict):
        if not _none_is_no_result():
            raise reward
        _LOG.warning("a completion has no verdict and is left out: %s", reward)
        return None
    if isinstance(reward, BaseException):
        raise reward
    return reward.total


@functools.lru_cache(maxsize=None)
def _none_is_no_result() -> bool:
    try:
        numbers = version("trl").split(".")[:2]
    except PackageNotFoundError:
        return True
    return tuple(int(number) for number in numbers) >= _NONE_IS_NO_RESULT_FROM


def kernel_environment(*, task_column: str = "task", **options: Any) -> Callable[[], "KernelEnvironment"]:
    """Returns an `environment_factory`: environments in which a model submits kernels and reads what the judge says."""
    return functools.partial(KernelEnvironment, task_column=task_column, **options)


class KernelEnvironment:
    """One task, and a tool that judges kernels for it. The reward is that of the best kernel that was submitted."""

    def __init__(self, *, task_column: str = "task", **options: Any) -> None:
        self._task_column = task_column
        self._scorer = Scorer(options)
        self._label: Label = ""
        self._best = 0.0
        self._fault: Optional[Exception] = None

    def reset(self, **row: Any) -> Optional[str]:
        self._label, self._best, self._fault = label_of(row, self._task_column), 0.0, None
        return None

    async def submit_kernel(self, code: str) -> str:
        """
        Compiles a Triton kernel, compares it with the PyTorch module of the task, and times it where there is a GPU.

        Args:
            code: A whole Python file that defines the class ModelNew and the Triton kernels that it launches.

        Returns:
            What the judge found: whether the kernel is right, and else which line is wrong and why.
        """
        try:
            reward = await self._scorer.reward_kernel(self._label, code)
        except NoVerdict as fault:
            self._fault = fault
            return "The judge could not be reached. Submit the kernel again."
        except Exception as mistake:
            # TRL tells the model of an exception and goes on. `get_reward` raises it again, so that training stops.
            self._fault = mistake
            raise
        self._fault = None
        self._best = max(self._best, reward.total)
        return reward.verdict.feedback

    def get_reward(self) -> Optional[float]:
        """The reward is None if the infrastructure failed on the last kernel. Any other exception of that call is raised."""
        if self._fault is None:
            return self._best
        if not isinstance(self._fault, NoVerdict) or not _none_is_no_result():
            raise self._fault
        _LOG.warning("a rollout has no verdict and is left out: %s", self._fault)
        return None
