"""The Python reference: a trusted process without a jail that runs tasks as they are written. It never sees a candidate.

A request to time a task:
request = {"source": text, "how": "eager" | "torch_compile", "device": "cuda:0"}
The answer is {"time_ms": {"median", "mean", "p10", "p90", "n"}} or {"error": text}.
A request with "ask" asks for the outputs of a forward that cannot be captured (reference_forward.py).

"eager" is timed as KernelBench does it. A few calls warm up. Then up to a hundred calls follow one after the other, each
between two events, and nothing is flushed between them. "torch_compile" does the same with torch.compile's module.
"""

import contextlib
import importlib
import socket
import statistics
import sys
import time

from tritonsmith_guest import bytecode, frames

CONNECTION_FD = 3
TASK_FILE = "task.py"  # the name of the task's source in tracebacks
WARM_UPS = 3
TRIALS = 100
MOST_SECONDS = 20  # the limit for one task's trials; at least five are made


def load(source):
    from tritonsmith_guest import source_module
    return source_module.load_module(source, TASK_FILE, "reference_task")


def made_on(device, make):
    """Makes a task's tensors on the device. If the task's code fails there, this makes them on the CPU and moves them."""
    import torch
    from torch.utils._pytree import tree_map
    try:
        with torch.device(device):
            made = make()
    except RuntimeError:
        made = make()
    if isinstance(made, torch.nn.Module):
        return made.to(device)
    return tree_map(lambda leaf: leaf.to(device) if isinstance(leaf, torch.Tensor) else leaf, made)


def constructed(module):
    arguments = list(module.get_init_inputs()) if hasattr(module, "get_init_inputs") else []
    if len(arguments) == 2 and isinstance(arguments[0], (list, tuple)) and isinstance(arguments[1], dict):
        return module.Model(*arguments[0], **arguments[1])
    return module.Model(*arguments)


def milliseconds_of(call, device):
    """Returns the time of one call in ms, by the device's own clock if it has one."""
    import torch
    if torch.device(device).type != "cuda":
        start = time.perf_counter()
        call()
        return 1e3 * (time.perf_counter() - start)
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    call()
    end.record()
    torch.cuda.synchronize(device)
    return begin.elapsed_time(end)


def at_share(ordered, share):
    position = share * (len(ordered) - 1)
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])


def measure(request):
    import torch
    device, how = request["device"], request["how"]
    if how not in ("eager", "torch_compile"):
        raise ValueError(f"{how!r} is no way to run a task")
    module = load(request["source"])
    torch.manual_seed(0)
    with torch.no_grad():
        model = made_on(device, lambda: constructed(module))
        inputs = made_on(device, lambda: list(module.get_inputs()))
        if how == "torch_compile":
            torch._dynamo.reset()
            model = torch.compile(model)
        for _ in range(WARM_UPS):
            milliseconds_of(lambda: model(*inputs), device)
        samples, start = [], time.monotonic()
        while len(samples) < TRIALS and (len(samples) < 5 or time.monotonic() - start < MOST_SECONDS):
            samples.append(milliseconds_of(lambda: model(*inputs), device))
    ordered = sorted(samples)
    return {"median": at_share(ordered, 0.5), "mean": statistics.fmean(samples), "p10": at_share(ordered, 0.1),
            "p90": at_share(ordered, 0.9), "n": len(samples)}


def answer(request):
    """Returns the answer to a request to time a task. It never raises."""
    try:
        return {"time_ms": measure(request)}
    except Exception as error:
        text = str(error).strip().split("\n")[0]
        return {"error": f"{type(error).__name__}: {text}"[:1000]}
    finally:
        if "torch" in sys.modules:
            sys.modules["torch"].cuda.empty_cache()  # the referee needs the memory next


def main():
    connection = socket.socket(fileno=CONNECTION_FD)
    with bytecode.kept_in(sys.argv[2], "torch"), contextlib.suppress(Exception):  # each answer reports a failed import
        importlib.import_module("torch")
    while True:
        try:
            request = frames.read(connection)
        except EOFError:
            return
        if "ask" in request:
            from tritonsmith_guest import reference_forward
            reference_forward.serve(connection, request)
        else:
            frames.write(connection, answer(request))
