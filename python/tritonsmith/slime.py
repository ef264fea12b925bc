"""slime: `--custom-rm-path tritonsmith.slime.rm`.

A sample's label is a label of tritonsmith/task.py. The options of `tritonsmith.scorer.Scorer` come from the environment:
TRITONSMITH_GYM_URL, TRITONSMITH_GYM_TOKEN, and TRITONSMITH_REWARD, a JSON object of the others. Where the infrastructure
fails, `rm` raises `NoVerdict`.
"""

from __future__ import annotations

import asyncio
import json
import os
from typing import Any, Sequence, Union

from tritonsmith.scorer import Scorer, timed_fields_of

__all__ = ["rm"]


async def rm(args: Any, sample: Any, **_: Any) -> Union[float, dict[str, float], Sequence[Any]]:
    """Returns what a sample is worth, or a list for a list of samples; with `--reward-key` an object that has this key."""
    if isinstance(sample, (list, tuple)):
        return list(await asyncio.gather(*(rm(args, one) for one in sample)))
    options = json.loads(os.environ.get("TRITONSMITH_REWARD") or "{}")
    reward = await Scorer(options).reward(sample.label, sample.response)
    key = getattr(args, "reward_key", None)
    return {key: reward.total, **timed_fields_of(reward)} if key else reward.total
