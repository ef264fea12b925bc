"""warm() does once, before the zygote forks, everything that each guest would otherwise do for the first time."""

import gc
import importlib
import logging
import warnings

from tritonsmith_guest import bytecode

# Importing these modules imports everything that warm() needs from the environment.
LARGE_MODULES = ["torch", "torch._dynamo", "triton", "triton.compiler.code_generator",
                 "triton.experimental.gluon", "triton.language.extra.libdevice", "triton.tools.tensor_descriptor",
                 "torch._inductor.utils", "torch._inductor.runtime.triton_heuristics"]


def preload(bytecode_folder, names=LARGE_MODULES):
    """Imports the large modules, while the process may still write bytecode."""
    warnings.simplefilter("ignore")
    with bytecode.kept_in(bytecode_folder, names[0]):
        for name in names:
            importlib.import_module(name)


def warm(thorough=True):
    """Imports torch and Triton, installs the virtual GPU, and captures samples once. Never makes a CUDA context."""
    import torch
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)  # torch logs a whole traceback if a candidate's shapes do not fit
    torch.set_num_threads(1)
    from . import guards, inductor, launches, own_operators, virtual_gpu, whole_operators
    virtual_gpu.install()
    whole_operators.install()
    launches.install()
    inductor.install()
    own_operators.install()
    guards.install()
    if thorough:
        from .samples import SAMPLES
        from .capture import candidate_request
        from .compiler import compile_kernel
        for task, candidate in SAMPLES:
            plan = captured({"role": "task", "source": task, "path": "task.py", "target": "sm_90"})
            for kernel in captured(candidate_request(plan, candidate, "candidate.py"))["kernels"]:
                if "error" in (answer := compile_kernel({**kernel, "target": "sm_90"})):
                    raise RuntimeError(f"the compiler does not work here: {answer['error']['message']}")
        launches.spare_contexts.extend(launches.new_context() for _ in range(4))
    gc.collect()
    gc.freeze()


def captured(request):
    from .capture import capture
    answer = capture(request)
    if "error" in answer:
        raise RuntimeError(f"a capture that must work failed: {answer['error']['message']} ({answer['error']['line']})")
    return answer["plan"]
