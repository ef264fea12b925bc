"""The cells that the study compares. Each cell is one reinforcement learning run from the same warmed-up model.

A cell differs from the base only in the settings named here. The base's policy is `open`, which accepts lazy solutions.
Otherwise profiling rewards would have nothing to improve. Only cells with rewards for time are judged on the GPU while they
train. For the others the evaluator decides right and wrong in the same way, on all cores at once.
"""
import dataclasses

BASE = {
    "prompt.style": "compact",
    "reward.format": 0.1, "reward.compiled": 0.2, "reward.correct": 1.0,
    "algorithm.advantage": "grpo",
    "optimizer.learning_rate": 2e-4, "optimizer.schedule": "linear", "optimizer.final_ratio": 0.05,
    "optimizer.warmup_updates": 3, "optimizer.weight_decay": 0.0,
    "judge.policy": "open", "judge.backend": "evaluate",
    "engine.slots": 128,  # a whole step is decoded together
    "checkpoint.every": 10, "checkpoint.keep_last": 1,
}
TIMED = {"judge.backend": "replay"}
# A conversation ends with the first accepted turn, because the data has no answers to "accepted, but slow".
TURNS = {"turns.limit": 3, "turns.end_when": "accepted"}


@dataclasses.dataclass(frozen=True)
class Cell:
    what: str
    settings: dict
    needs_timing: bool = False  # the cell needs speed-ups or coverage, which only a GPU measures

    @property
    def turns(self):
        return self.settings.get("turns.limit", 1)

    @property
    def policy(self):
        return self.settings.get("judge.policy", BASE["judge.policy"])

    @property
    def start(self):
        """Returns the evaluation of the initial model with as many turns and the same policy."""
        turns = f"-{self.turns}turns" if self.turns > 1 else ""
        return "sft" + turns + (f"-{self.policy}" if self.policy != BASE["judge.policy"] else "")


# The cells run in this order.
CELLS = {
    "grpo": Cell("GRPO, one turn, executed reward: the base", {}),
    "strict": Cell("GRPO under the default policy: lazy answers are refused", {"judge.policy": "strict"}),
    "profiling": Cell("PR and PRS of Dr. Kernel", {"reward.coverage": 0.5, "algorithm.prs": True}, needs_timing=True),
    "checks-off": Cell("whatever agrees with the reference is paid", {"reward.earning": "correct"}),
    "trloo": Cell("TRLOO, one turn", {"algorithm.advantage": "trloo"}),
    "grpo-turns": Cell("GRPO, three turns", TURNS),
    "trloo-turns": Cell("TRLOO, three turns", {"algorithm.advantage": "trloo", **TURNS}),
    "speed": Cell("speed-up is paid, plan and code are credited alike",
                  {"reward.speed": 0.5, "algorithm.advantage": "mean_only"}, needs_timing=True),
    "speed-hierarchical": Cell("the same, plans credited by speed, code by correctness (TritonRL)",
                               {"reward.speed": 0.5, "algorithm.advantage": "mean_only",
                                "algorithm.credit": "hierarchical"}, needs_timing=True),
    "similarity": Cell("likeness to a known solution is paid, nothing executed (kernel-coder)",
                       {"reward.similarity": 1.0, "reward.correct": 0.0, "reward.compiled": 0.0}),
}
FIRST = ["grpo", "strict", "profiling", "checks-off", "trloo"]

# Each question names the cell without a method and the cell with it. `sft` is the initial model of all cells.
QUESTIONS = [
    ("SFT, then GRPO", "sft", "grpo"),
    ("SFT, then GRPO, policy strict", "sft-strict", "strict"),
    ("SFT, then GRPO with PR and PRS", "sft", "profiling"),
    ("SFT, then GRPO, three turns", "sft-3turns", "grpo-turns"),
    ("GRPO or TRLOO, one turn", "grpo", "trloo"),
    ("one turn or three, GRPO", "grpo", "grpo-turns"),
    ("one turn or three, TRLOO", "trloo", "trloo-turns"),
    ("GRPO or TRLOO, three turns", "grpo-turns", "trloo-turns"),
    ("checks on or off", "grpo", "checks-off"),
    ("PR and PRS off or on", "grpo", "profiling"),
    ("uniform or hierarchical credit", "speed", "speed-hierarchical"),
    ("executed reward or similarity", "grpo", "similarity"),
]


@dataclasses.dataclass(frozen=True)
class Scale:
    """The sizes of the study. All cells share one seed for data and warm-up."""
    train: int = 6000
    heldout: int = 60
    samples: int = 8
    sft_steps: int = 1500
    sft_tokens: int = 4096
    steps: int = 60
    prompts: int = 16
    group: int = 8
    new_tokens: int = 192  # answers have up to 131
    rejudged: int = 300  # different kernels per cell, evenly spread over training; 0: all
    rejudge_seconds: int = 40  # rejudging cannot resume, so it begins only with at least this time left
    trials: int = 3
    model: tuple = ()  # settings of `model make`
    # The shares of the supervised data. The rest is honest. Many examples are lazy, because the model solves fewer held-out
    # tasks in this way: with a quarter of lazy examples, only an eighth of a warmed-up model's accepted kernels were lazy.
    shares: tuple = (("mistakes", 0.25), ("lazy", 0.4), ("decoys", 0.1), ("repairs", 0.25))


FULL = Scale()
TINY = Scale(train=12, heldout=2, samples=2, sft_steps=4, sft_tokens=512, steps=2, prompts=2, group=2, new_tokens=24,
             rejudged=4, rejudge_seconds=5, model=("vocabulary=400", "hidden_size=32", "intermediate_size=64", "num_hidden_layers=1",
                                "num_attention_heads=2", "num_key_value_heads=1", "head_dim=8"))
