"""SkyRL: a text environment in which each answer gets a verdict as feedback.

    skyrl_gym.register(id="tritonsmith", entry_point="tritonsmith.skyrl:KernelEnv")

A row's `reward_spec.ground_truth` is the label (tritonsmith/task.py), and its `max_turns` how many answers there may be.
`env_config` holds the options of `tritonsmith.scorer.Scorer`. Where the infrastructure fails, `step` raises `NoVerdict`.
"""

from __future__ import annotations

from typing import Any, Mapping, Optional

from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput

from tritonsmith.scorer import Scorer, timed_fields_of, label_of
from tritonsmith.waiting import wait_for

__all__ = ["KernelEnv", "register"]

_OWN_OPTIONS = ("max_turns",)


class KernelEnv(BaseTextEnv):  # type: ignore[misc]
    """A conversation ends with an accepted kernel, or after `max_turns` answers. Each answer has its own reward."""

    def __init__(self, env_config: Optional[Mapping[str, Any]] = None, extras: Optional[Mapping[str, Any]] = None) -> None:
        super().__init__()
        config, row = dict(env_config or {}), dict(extras or {})
        self.max_turns = int(row.get("max_turns", config.get("max_turns", 1)))
        self._label = label_of(row)
        self._scorer = Scorer({name: value for name, value in config.items() if name not in _OWN_OPTIONS})

    def step(self, action: str) -> BaseTextEnvStepOutput:
        reward = wait_for(self._scorer.reward(self._label, action))
        self.turns += 1
        done = reward.verdict.accepted or self.turns >= self.max_turns
        observations = [] if done else [{"role": "user", "content": reward.verdict.feedback}]
        return BaseTextEnvStepOutput(
            observations=observations, reward=reward.total, done=done, metadata={"stage": reward.verdict.stage, **timed_fields_of(reward)}
        )


def register(name: str = "tritonsmith") -> None:
    """Makes the environment known to `skyrl_gym.make`."""
    import skyrl_gym

    skyrl_gym.register(id=name, entry_point="tritonsmith.skyrl:KernelEnv")
