"""The arms of the distillation study: what a student learns from before reinforcement learning.

Every student begins with the same warm-up, which gives it the form of the answers. Each arm is a chain of stages, and each
stage goes on from the model of the stage before. Arms with a common beginning share it.
"""
import dataclasses

from cells import BASE

# Every run of `rl` here. The evaluator judges, since no reward depends on time.
REINFORCE = {**BASE, "judge.policy": "strict"}

STAGES = {
    "more": "`sft` goes on with the curriculum's examples, of which half are wrong",
    "answers": "`sft` with as many steps on the teacher's accepted answers (`tasks distil`, `tasks curate`)",
    "on-policy": "the teacher grades each token of the student's own samples (`[teacher]` of `rl`)",
    "rl": "reinforcement learning by the gym's verdicts",
}
# Each arm ends with reinforcement learning. The first has no distillation; the second is the control of `answers`.
ARMS = {
    "none": ("rl",),
    "more": ("more", "rl"),
    "answers": ("answers", "rl"),
    "on-policy": ("on-policy", "rl"),
    "both": ("answers", "on-policy", "rl"),
}
# Each question names the chain without a method and the chain with it.
QUESTIONS = [
    ("the teacher's answers, before RL", ("more",), ("answers",)),
    ("as many steps of on-policy distillation or of RL", ("rl",), ("on-policy",)),
    ("the teacher's answers, after RL", ("rl",), ("answers", "rl")),
    ("the same, beside longer `sft`", ("more", "rl"), ("answers", "rl")),
    ("on-policy distillation, after RL", ("rl",), ("on-policy", "rl")),
    ("both, after RL", ("rl",), ("answers", "on-policy", "rl")),
    ("both, beside answers alone, after RL", ("answers", "rl"), ("answers", "on-policy", "rl")),
]


def model_settings(width, layers):
    """Returns settings of `model make` with the quickstart's proportions."""
    return (f"hidden_size={width}", f"intermediate_size={3 * width}", f"num_hidden_layers={layers}",
            f"num_attention_heads={width // 32}", f"num_key_value_heads={max(1, width // 64)}")


@dataclasses.dataclass(frozen=True)
class Scale:
    """The sizes of the study."""
    train: int = 6000
    heldout: int = 120
    samples: int = 8  # sampled completions of each held-out task, beside a greedy one
    teacher_width: int = 256
    teacher_layers: int = 6
    student_width: int = 64
    student_layers: int = 4
    vocabulary: int = 1024
    step_tokens: int = 4096
    teacher_sft_steps: int = 1500
    teacher_rl_steps: int = 60
    asked: int = 3000  # training tasks that the teacher answers
    answers: int = 2  # its answers to each
    warm_up_steps: int = 600
    more_steps: int = 400  # of the stages `more` and `answers`
    on_policy_steps: int = 40
    rl_steps: int = 40
    prompts: int = 16
    group: int = 8
    new_tokens: int = 256
    trials: int = 3


FULL = Scale()
# Its teacher learns its few tasks by heart, so that it has right answers to teach.
TINY = Scale(train=24, heldout=3, samples=2, teacher_width=96, teacher_layers=2, student_width=32, student_layers=1,
             vocabulary=400, step_tokens=1024, teacher_sft_steps=300, teacher_rl_steps=2, asked=24, answers=2,
             warm_up_steps=4, more_steps=2, on_policy_steps=2, rl_steps=2, prompts=2, group=2, new_tokens=256)
