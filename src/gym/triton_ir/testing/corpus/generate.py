"""Writes generated_kernels.py: one small kernel for each elementwise operation and dtype. Kernels must be in a file, because
Triton reads their source."""
import os

HEAD = '''import triton
import triton.language as tl
from triton.language.extra.cuda import libdevice

'''

KERNEL = '''
@triton.jit
def {name}({inputs}, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
{loads}
    tl.store(out + offsets, {expression}, mask=mask)
'''


def kernel(name, expression, inputs):
    loads = "\n".join(f"    {i} = tl.load({i}_pointer + offsets, mask=mask)" for i in inputs)
    return KERNEL.format(name=name, inputs=", ".join(f"{i}_pointer" for i in inputs), loads=loads, expression=expression)


def write_all(folder):
    from corpus import tables
    with open(os.path.join(folder, "generated_kernels.py"), "w") as file:
        file.write(HEAD)
        for entry in tables.all_entries():
            file.write(kernel(entry.name, entry.expression, entry.inputs))
