"""The exceptions of this package.

A bad kernel is never an exception: its verdict says what is wrong with it. `NoVerdict` and its subclasses mean that the
infrastructure failed, so that nothing is known about the kernel. No adapter turns one of them into a reward.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional

if TYPE_CHECKING:
    from tritonsmith.verdict import Verdict

__all__ = ["AccessDenied", "BadRequest", "DeadlinePassed", "GymUnavailable", "InfrastructureFault", "JudgeError", "NoVerdict"]


class JudgeError(Exception):
    """The base of all exceptions that this package raises."""


class BadRequest(JudgeError):
    """The service refuses a request. The message names the member at fault."""


class AccessDenied(JudgeError):
    """The service does not accept our token."""


class NoVerdict(JudgeError):
    """The infrastructure failed, and the kernel has no verdict. Ask again later; never count this as a reward."""


class GymUnavailable(NoVerdict):
    """The service did not answer, or had no room, for longer than `patience` seconds, or the local one ended."""


class InfrastructureFault(NoVerdict):
    """The judge itself failed on this job, also when the job was submitted again."""

    def __init__(self, message: str, verdict: Optional["Verdict"] = None) -> None:
        super().__init__(message)
        self.verdict = verdict


class DeadlinePassed(InfrastructureFault):
    """The job had no verdict by its deadline."""
