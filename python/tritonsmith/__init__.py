"""Tritonsmith's gym from Python: a judge for Triton kernels, and what the trainers of others plug it in by.

    import tritonsmith

    with tritonsmith.Judge() as judge:
        verdict = judge(task_source, kernel_source, policy="strict")
    verdict.accepted, verdict.speedup, verdict.feedback

The package needs nothing but the standard library. docs/python.md explains it; `tritonsmith.trl`, `.verl`, `.skyrl` and
`.slime`, and the module `tritonsmith_kernels` for verifiers, are imported where those frameworks are.
"""

from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as _version

from tritonsmith.errors import (
    AccessDenied,
    BadRequest,
    DeadlinePassed,
    GymUnavailable,
    InfrastructureFault,
    JudgeError,
    NoVerdict,
)
from tritonsmith.judge import AsyncJudge, Judge
from tritonsmith.task import load_tasks
from tritonsmith.verdict import Clocks, Finding, Kernel, Reward, RewardTerm, Verdict, VerdictError

__all__ = [
    "AccessDenied",
    "AsyncJudge",
    "BadRequest",
    "Clocks",
    "DeadlinePassed",
    "Finding",
    "GymUnavailable",
    "InfrastructureFault",
    "Judge",
    "JudgeError",
    "Kernel",
    "NoVerdict",
    "Reward",
    "RewardTerm",
    "Verdict",
    "VerdictError",
    "load_tasks",
]

try:
    __version__ = _version("tritonsmith")
except PackageNotFoundError:  # Imported from a checkout.
    __version__ = "0+checkout"
