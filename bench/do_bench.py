"""Times a kernel with Triton's own benchmark, for comparison with the referee's time.

    python3 do_bench.py TASK.py KERNEL.py     prints the median in milliseconds
"""

import importlib.util
import sys

import torch
import triton


def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


task, candidate = load(sys.argv[1], "task"), load(sys.argv[2], "candidate")
inputs = [x.cuda() if isinstance(x, torch.Tensor) else x for x in task.get_inputs()]
model = candidate.ModelNew(*task.get_init_inputs()).cuda()
reference = task.Model(*task.get_init_inputs()).cuda()
with torch.no_grad():
    for name, module in (("candidate", model), ("reference", reference)):
        print(name, triton.testing.do_bench(lambda: module(*inputs), warmup=100, rep=400, return_mode="median"))
