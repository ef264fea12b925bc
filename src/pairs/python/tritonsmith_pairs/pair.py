"""capture(request) turns a module's source into a Triton solution of it. A guest runs it (tritonsmith_guest.zygote).

request = {"role": "task", "source": text, "path": "task.py", "target": "sm_90"}
The answer is {"plan": {"code": text, "mode": "constructed" or "eval"}} or {"plan": {"reason": word, "message": text}}.
It holds no launch plan: the zygote hands on the member "plan" of any guest's answer.

For debugging:  python -m tritonsmith_pairs.pair FILE [strict]
"""

import gc
import importlib
import os
import random
import sys

LARGE_MODULES = ["torch", "torch._dynamo", "torch._inductor.compile_fx", "triton", "triton.compiler.code_generator"]
SAMPLE = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 16)
        self.norm = nn.LayerNorm(16)

    def forward(self, x):
        return torch.softmax(self.norm(torch.relu(self.fc(x))), -1)

def get_inputs():
    return [torch.rand(4, 8)]

def get_init_inputs():
    return []
"""


def preload(bytecode_folder, names=LARGE_MODULES):
    """Imports the large modules, while the process may still write bytecode."""
    from tritonsmith_guest import warm
    os.environ.setdefault("SYMPY_CACHE_SIZE", "None")  # sympy forgets all but its last 1,000 answers otherwise
    warm.preload(bytecode_folder, names)


def warm():
    import torch

    from . import inductor
    torch.set_num_threads(1)  # a zygote forks, which only one thread survives
    if "tqdm" in sys.modules:
        sys.modules["tqdm"].tqdm.monitor_interval = 0  # otherwise its progress bars start a thread
    inductor.install()
    for sample in (SAMPLE, SAMPLE.replace("relu", "tanh")):
        answer = capture({"source": sample, "path": "task.py"})["plan"]
        if "code" not in answer:
            raise RuntimeError(f"Inductor does not work here: {answer['message']}")
    gc.collect()
    gc.freeze()
    gc.disable()  # a guest handles one module, and collecting took a quarter of its time
    gc.collect = lambda *args: 0  # torch calls it


def capture(request, strict=False):
    """Returns the answer. It never raises."""
    try:
        return {"plan": pair_of(request["source"], request.get("path") or "task.py", strict)}
    except BaseException as error:  # the module is foreign and may raise anything
        return {"plan": {"reason": reason_of(error), "message": message_of(error)}}


def reason_of(error):
    from .errors import NoPair
    seen = error
    while seen is not None:
        if isinstance(seen, NoPair):
            return seen.kind
        seen = seen.__cause__ or seen.__context__
    return type(error).__name__


def message_of(error):
    from .errors import NoPair
    seen = error
    while seen is not None:
        if isinstance(seen, NoPair):
            return str(seen)
        seen = seen.__cause__ or seen.__context__
    try:
        return " ".join(str(error).split())[:500]
    except BaseException:
        return "(its message cannot be shown)"


def pair_of(source, path, strict=False):
    from .errors import NoPair
    try:
        return {"code": pair_in_mode(source, path, "constructed", strict), "mode": "constructed"}
    except BaseException as error:
        if reason_of(error) != "random":
            raise
    # As the judge does with a module that draws random numbers: it is judged in evaluation mode.
    return {"code": pair_in_mode(source, path, "eval", strict), "mode": "eval"}


def pair_in_mode(source, path, mode, strict=False):
    import torch

    from tritonsmith_guest.source_module import load_module

    from . import inductor, solution
    from .errors import NoPair
    random.seed(0)
    module = load_module(source, path, "task_module")

    def make_model():
        given = list(module.get_init_inputs()) if hasattr(module, "get_init_inputs") else []
        if len(given) == 2 and isinstance(given[0], (list, tuple)) and isinstance(given[1], dict):
            return module.Model(*given[0], **given[1])
        return module.Model(*given)

    fake_mode, model, inputs = inductor.fake_model(make_model, lambda: list(module.get_inputs()))
    if mode == "eval":
        model.eval()
    with fake_mode:
        graph, result = inductor.compile_module(model, inputs)
        names = positional_names(model, len(inputs))
        given = list(zip(names, inputs))
        try:
            return solution.write(source, model, graph, result, given, strict)
        except NoPair as none:
            if strict or none.kind != "no_kernel":
                raise
        # Products and convolutions are all that the module computes, so they become kernels.
        return solution.write(source, model, graph, result, given, strict=True)


def positional_names(model, count):
    import inspect
    names = [p.name for p in inspect.signature(type(model).forward).parameters.values()][1:]
    return [*names, *("unnamed" for _ in range(count))][:count]


def main():
    from . import inductor
    importlib.invalidate_caches()
    inductor.install()
    request = {"source": open(sys.argv[1]).read(), "path": sys.argv[1]}
    answer = capture(request, strict="strict" in sys.argv[2:])["plan"]
    print(answer.get("code") or f"{answer['reason']}: {answer['message']}")


if __name__ == "__main__":
    main()
