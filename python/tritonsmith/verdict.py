"""What comes back from the gym: verdicts, rewards and extracted kernels, as immutable values.

`docs/verdict.md` explains each field of a verdict. `Verdict.data` holds the JSON object as the service sent it.
"""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from typing import Any, Mapping, Optional, Sequence

__all__ = ["Clocks", "Finding", "Kernel", "Reward", "RewardTerm", "Verdict", "VerdictError"]


@dataclass(frozen=True)
class Finding:
    """One remark of a check about a candidate. `severity` is note, warn or reject; `line` is 0 where no line is meant."""

    rule: str
    severity: str
    line: int
    message: str

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Finding":
        return cls(str(data.get("rule", "")), str(data.get("severity", "note")), int(data.get("line", 0)), str(data.get("message", "")))


@dataclass(frozen=True)
class VerdictError:
    """Why a candidate went no further."""

    error_class: str
    message: str
    line: int
    excerpt: str


@dataclass(frozen=True)
class Clocks:
    """The median clocks of a GPU while the timed rounds ran, in megahertz."""

    sm_mhz: int
    memory_mhz: int


@dataclass(frozen=True)
class Verdict:
    """Everything that the gym found out about one candidate kernel."""

    data: Mapping[str, Any]
    feedback: str = ""
    """The verdict as a text for the model that wrote the kernel."""

    @property
    def task(self) -> str:
        return str(self.data.get("task", ""))

    @property
    def accepted(self) -> bool:
        """Correct, and no finding rejects the kernel."""
        return bool(self.data.get("accepted", False))

    @property
    def correct(self) -> bool:
        return bool(self.data.get("correct", False))

    @property
    def compiled(self) -> bool:
        return bool(self.data.get("compiled", False))

    @property
    def stage(self) -> str:
        """How far the candidate came: none, extracted, parsed, inspected, captured, compiled, ran, correct or timed."""
        return str(self.data.get("stage", "none"))

    @property
    def policy(self) -> str:
        return str(self.data.get("policy", ""))

    @property
    def backend(self) -> str:
        """`evaluate` (on the CPU, without timings) or `replay` (on a GPU)."""
        return str(self.data.get("backend", ""))

    @property
    def fault(self) -> str:
        return str(self.data.get("fault", "none"))

    @property
    def speedup(self) -> Optional[float]:
        """The reference's median time divided by the candidate's; None where no GPU measured it."""
        return _number(self.data.get("speedup"))

    @property
    def coverage(self) -> Optional[float]:
        """The share of device time in the candidate's own kernels; None where no GPU measured it."""
        return _number(self.data.get("coverage"))

    @property
    def time_ms(self) -> Optional[float]:
        """The candidate's median time in milliseconds."""
        return _number(_object(self.data.get("time_ms")).get("median"))

    @property
    def reference_ms(self) -> Optional[float]:
        """The reference's median time in milliseconds."""
        return _number(_object(self.data.get("reference_ms")).get("median"))

    @property
    def device(self) -> str:
        """The GPU that measured, or the chip that the kernels were compiled for: `sm_90 (compiled, not run)`."""
        return str(_object(self.data.get("environment")).get("gpu", ""))

    @property
    def clocks(self) -> Optional[Clocks]:
        """The GPU's clocks while it measured; None where no GPU measured, or its driver tells no clocks."""
        clocks = _object(_object(self.data.get("environment")).get("clocks"))
        return Clocks(int(clocks.get("sm_mhz", 0)), int(clocks.get("memory_mhz", 0))) if clocks else None

    @property
    def findings(self) -> Sequence[Finding]:
        return tuple(Finding.from_json(item) for item in self.data.get("findings") or ())

    @property
    def error(self) -> Optional[VerdictError]:
        error = self.data.get("error")
        if not isinstance(error, Mapping):
            return None
        return VerdictError(
            str(error.get("class", "")), str(error.get("message", "")), int(error.get("line", 0)), str(error.get("excerpt", ""))
        )

    @property
    def from_store(self) -> bool:
        """True where the service answered without judging again."""
        return bool(self.data.get("from_store", False))

    def __str__(self) -> str:
        text = f"{self.task}: {self._headline()} (stage {self.stage}, policy {self.policy}, backend {self.backend})"
        if self.error is not None:
            text += f"\n  {self.error.error_class}: {self.error.message}"
        return text

    def _headline(self) -> str:
        if self.accepted:
            return "accepted"
        if self.correct:
            return "correct, but refused"
        return "wrong" if self.compiled and self.fault == "candidate" else "not accepted"

    def _rows(self) -> list[tuple[str, str]]:
        rows = [("verdict", self._headline()), ("stage", self.stage), ("policy", self.policy), ("backend", self.backend)]
        if self.speedup is not None and self.time_ms is not None and self.reference_ms is not None:
            rows.append(("speed-up", f"{self.speedup:.2f} ({self.time_ms:.4g} ms, the reference {self.reference_ms:.4g} ms)"))
        if self.coverage is not None:
            rows.append(("time in own kernels", f"{100 * self.coverage:.1f} %"))
        if self.error is not None:
            where = f" (line {self.error.line}: {self.error.excerpt})" if self.error.line else ""
            rows.append((self.error.error_class, self.error.message + where))
        for finding in self.findings:
            where = f" (line {finding.line})" if finding.line else ""
            rows.append((f"{finding.severity}: {finding.rule}", finding.message + where))
        for kernel in self.data.get("kernels") or ():
            rows.append((f"kernel {kernel.get('name', '')}", _costs(kernel)))
        if self.device:
            clocks = f", {self.clocks.sm_mhz} MHz, memory {self.clocks.memory_mhz} MHz" if self.clocks else ""
            rows.append(("device", self.device + clocks))
        return rows

    def _repr_html_(self) -> str:
        """A table for notebooks. All text is escaped, since a candidate chooses some of it."""
        colour = "#1a7f37" if self.accepted else "#b35900" if self.correct else "#b3261e"
        cells = "".join(
            f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
            f"<td style='text-align:left;white-space:pre-wrap'>{html.escape(value)}</td></tr>"
            for name, value in self._rows()
        )
        return f"<table style='border-left:4px solid {colour}'><caption>{html.escape(self.task)}</caption>{cells}</table>"


@dataclass(frozen=True)
class Kernel:
    """The kernel that a completion offers. `source` is empty where it offers none; `verdict` then says why."""

    source: str
    findings: Sequence[Finding] = ()
    verdict: Optional[Verdict] = None


@dataclass(frozen=True)
class RewardTerm:
    name: str
    value: float
    weight: float


@dataclass(frozen=True)
class Reward:
    """What a completion is worth: the sum of value times weight over its terms, as the service computed it."""

    total: float
    terms: Sequence[RewardTerm]
    verdict: Verdict
    kernel: Kernel = field(default_factory=lambda: Kernel(""))

    def __float__(self) -> float:
        return self.total


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _number(value: Any) -> Optional[float]:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _costs(kernel: Mapping[str, Any]) -> str:
    text = f"{kernel.get('launches', 0)} launches, {kernel.get('registers', 0)} registers, {kernel.get('spills', 0)} spills, "
    text += f"{kernel.get('shared_bytes', 0)} bytes of shared memory"
    time = _number(kernel.get("device_us"))
    return f"{text}, {time:.1f} us" if time else text
