"""warm(): everything that a guest would otherwise do for the first time, done once before forking."""

import gc
import os


def warm(thorough=True):
    """Imports torch and Triton, installs the virtual GPU, and captures samples once. Never makes a CUDA context."""
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    import torch
    import warnings
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    from . import launches, virtual_gpu, whole_operators
    virtual_gpu.install()
    whole_operators.install()
    launches.install()
    if thorough:
        from .samples import SAMPLES
        from .capture import capture, candidate_request
        for task, candidate in SAMPLES:
            answer = capture({"role": "task", "source": task, "path": "task.py", "target": "sm_90"})
            capture(candidate_request(answer["plan"], candidate, "candidate.py"))
        launches.spare_contexts.extend(launches.new_context() for _ in range(4))
    gc.collect()
    gc.freeze()
