"""verl: a score function and an interaction of several turns.

    reward.custom_reward_function.path=pkg://tritonsmith.verl
    reward.custom_reward_function.name=compute_score

`ground_truth` is the label (tritonsmith/task.py): the task's source, as in `hkust-nlp/drkernel-rl-data`, or JSON. Where the
infrastructure fails, both raise `NoVerdict`, verl's way to say that a sample has no result.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence

from tritonsmith.scorer import Scorer, fields_of
from tritonsmith.task import Label

if TYPE_CHECKING:

    class BaseInteraction:
        def __init__(self, config: dict[str, Any]) -> None: ...

else:
    try:
        from verl.interactions.base import BaseInteraction
    except ImportError:

        class BaseInteraction:
            """In place of verl's own class, where there is no verl."""

            def __init__(self, config: dict[str, Any]) -> None:
                self.config = config
                self.name = config.get("name", "interaction_agent")


__all__ = ["KernelInteraction", "compute_score"]


async def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: Label,
    extra_info: Optional[Mapping[str, Any]] = None,
    **options: Any,
) -> dict[str, float]:
    """Returns {"score": ..., "accepted": ..., ...} for one completion. `reward_kwargs` are the options of `Scorer`."""
    known = {name: value for name, value in options.items() if name not in _OF_VERL}
    reward = await Scorer(known).reward(ground_truth, solution_str)
    return {"score": reward.total, **fields_of(reward)}


# What some versions of verl pass besides; nothing of it says how to judge.
_OF_VERL = ("reward_router_address", "reward_model_tokenizer", "reward_model_name", "num_turns", "rollout_reward_scores")


class KernelInteraction(BaseInteraction):
    """The judge as the user of a conversation: each answer gets a verdict as feedback, until one is accepted.

    verl has interactions up to its version 0.7. The interaction's `config` holds the options of `Scorer`, and `max_turns`. The row's `interaction_kwargs` hold the
    `ground_truth`.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__(dict(config))
        own = ("name", "max_turns")
        self._max_turns = int(config.get("max_turns", 5))
        self._scorer = Scorer({name: value for name, value in config.items() if name not in own})
        self._running: dict[str, dict[str, Any]] = {}

    async def start_interaction(self, instance_id: Optional[str] = None, ground_truth: Optional[Label] = None, **_: Any) -> str:
        if not ground_truth:
            raise ValueError("interaction_kwargs has no ground_truth: the task's source, or a label as JSON")
        name = instance_id or str(uuid.uuid4())
        self._running[name] = {"label": ground_truth, "turns": 0, "best": 0.0}
        return name

    async def generate_response(
        self, instance_id: str, messages: Sequence[Mapping[str, Any]], **_: Any
    ) -> tuple[bool, str, float, dict[str, Any]]:
        """Returns whether the conversation is over, the judge's answer, the reward of this turn, and figures."""
        state = self._running[instance_id]
        reward = await self._scorer.reward(state["label"], messages)
        state["turns"] += 1
        state["best"] = max(state["best"], reward.total)
        done = reward.verdict.accepted or state["turns"] >= self._max_turns
        return done, reward.verdict.feedback, reward.total, fields_of(reward)

    async def calculate_score(self, instance_id: str, **_: Any) -> float:
        """The best reward of the conversation."""
        return float(self._running[instance_id]["best"])

    async def finalize_interaction(self, instance_id: str, **_: Any) -> None:
        self._running.pop(instance_id, None)
