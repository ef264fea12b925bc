"""From what a data set says about a task to a job of the gym.

A label is one of: a task's source; the id of a task in a suite that is at hand; a mapping, or the same as JSON text, with
`task` and any member of a job (`policy`, `comparison`, `strides`, `backend`, `trials`, `baselines`, `priority`, `device`, `tolerance`)
and `weights` of the reward.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Mapping, Optional, Sequence, Union

from tritonsmith.errors import BadRequest

__all__ = ["Label", "Tasks", "completion_text", "job_from", "load_tasks"]

Label = Union[str, Mapping[str, Any]]
Tasks = Union[str, "os.PathLike[str]", Mapping[str, Any]]

_JOB_MEMBERS = ("policy", "comparison", "strides", "backend", "trials", "baselines", "priority", "device", "deadline_seconds", "fresh")
# Other names that published data sets have for a task's source.
_SOURCE_MEMBERS = ("task", "source", "reference_code", "reference", "pytorch_code", "python_code", "ground_truth")


def load_tasks(path: Union[str, "os.PathLike[str]"]) -> dict[str, Mapping[str, Any]]:
    """Reads a suite: JSON lines as `tritonsmith tasks make` writes them, or a folder of Python files. Keys are task ids."""
    location = Path(path)
    if location.is_dir():
        files = sorted(location.rglob("*.py"))
        return {file.relative_to(location).with_suffix("").as_posix(): {"source": file.read_text("utf-8")} for file in files}
    tasks: dict[str, Mapping[str, Any]] = {}
    for number, line in enumerate(location.read_text("utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            task = json.loads(line)
            tasks[str(task["id"])] = {**task, "source": str(task["source"])}
        except (ValueError, KeyError, TypeError) as error:
            raise BadRequest(f"{location}:{number}: no task with id and source: {error}") from error
    return tasks


def job_from(label: Label, tasks: Optional[Mapping[str, Any]] = None, **defaults: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns a job without its kernel, and the weights of its reward. What the label says goes before `defaults`."""
    said = _mapping_of(label)
    job: dict[str, Any] = {}
    for name in _JOB_MEMBERS:
        value = said.get(name, defaults.get(name))
        if value is not None:
            job[name] = list(value) if name == "baselines" else value
    source = next((said[name] for name in _SOURCE_MEMBERS if said.get(name)), None)
    if source is None:
        raise BadRequest(f"a label names no task; it has {', '.join(map(repr, said)) or 'no members'}, and 'task' is needed")
    task = _task_of(source, tasks)
    for name in ("id", "instruction"):
        if said.get(name):
            task[name] = str(said[name])
    if said.get("tolerance", defaults.get("tolerance")) is not None:
        task["tolerance"] = float(said.get("tolerance", defaults.get("tolerance")))
    job["task"] = task
    weights = {**(defaults.get("weights") or {}), **(said.get("weights") or {})}
    return job, weights


def _mapping_of(label: Label) -> Mapping[str, Any]:
    if isinstance(label, Mapping):
        return label
    if label.lstrip().startswith("{"):
        try:
            said = json.loads(label)
        except ValueError:
            said = None
        if isinstance(said, dict):
            return said
    return {"task": label}


def _task_of(source: Any, tasks: Optional[Mapping[str, Any]]) -> dict[str, Any]:
    if isinstance(source, str) and tasks is not None and source in tasks:
        known = tasks[source]
        return {"id": source, **(dict(known) if isinstance(known, Mapping) else {"source": str(known)})}
    if isinstance(source, Mapping) and source.get("source"):
        return dict(source)
    if isinstance(source, str) and ("\n" in source or "class " in source):
        return {"id": "task", "source": source}
    raise BadRequest(f"there is no task {source!r}: a label holds a task's source, or an id in the suite given as tasks=")


def completion_text(completion: Any) -> str:
    """The text of a completion: a string, or the last message of the assistant in a list of chat messages."""
    if isinstance(completion, str):
        return completion
    if isinstance(completion, Mapping):
        completion = [completion]
    for message in reversed(list(completion or ())):
        role, content = _member(message, "role"), _member(message, "content")
        if role == "assistant":
            return _content_text(content)
    return ""


def _member(message: Any, name: str) -> Any:
    return message.get(name) if isinstance(message, Mapping) else getattr(message, name, None)


def _content_text(content: Any) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    parts: Sequence[Any] = list(content)
    return "".join(part if isinstance(part, str) else str(_member(part, "text") or "") for part in parts)
