"""Candidates for one small task, in the styles that people and models write, and bad candidates with their errors."""

TASK = '''
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale
        self.linear = nn.Linear(64, 64)

    def forward(self, x):
        return torch.relu(self.linear(x)) * self.scale

def get_inputs():
    return [torch.randn(32, 64)]

def get_init_inputs():
    return [2.0]
'''

HEAD = '''import contextlib
import math
import warnings
import torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl
from triton.language.extra import libdevice
'''

KERNEL = '''
@triton.jit
def kernel(x_ptr, y_ptr, n, scale, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, tl.maximum(x, 0.0) * scale, mask=mask)
'''


def candidate(forward, kernels=KERNEL, init=""):
    code = "".join(f"        {line}\n" for line in forward.strip("\n").split("\n"))
    setup = "".join(f"        {line}\n" for line in init.split("\n")) if init else ""
    return (f"{HEAD}{kernels}\n\nclass ModelNew(nn.Module):\n    def __init__(self, scale):\n        super().__init__()\n"
            f"        self.scale = scale\n        self.linear = nn.Linear(64, 64)\n{setup}\n    def forward(self, x):\n{code}")


LAUNCH = "y = torch.empty_like(x)\nn = x.numel()\n{}\nreturn y"
AUTOTUNE = '''
@triton.autotune(configs=[triton.Config({"BLOCK": b}, num_warps=w) for b in (128, 256) for w in (2, 4)], key=["n"])'''

GOOD = {
    "compiled function that never runs": candidate(
        LAUNCH.format("kernel[(16,)](self.linear(x), y, n, self.scale, BLOCK=128)"),
        KERNEL + "\n@torch.compile\ndef plain(x):\n    return x.view(-1)\n", "self.fast = torch.compile(self.linear)"),
    "callable grid": candidate(LAUNCH.format("kernel[lambda meta: (triton.cdiv(n, meta['BLOCK']),)](x, y, n, self.scale, BLOCK=256)")),
    "tuple grid": candidate(LAUNCH.format("kernel[(triton.cdiv(n, 256), 1, 1)](x, y, n, self.scale, 256, num_warps=8, num_stages=2)")),
    "grid variable and keywords": candidate(LAUNCH.format("grid = (triton.cdiv(n, 256),)\nkernel[grid](x_ptr=x, y_ptr=y, n=n, scale=self.scale, BLOCK=256)")),
    "function around the launch": candidate("return run(x, self.scale)", KERNEL + '''
def run(x, scale):
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    kernel[(triton.cdiv(x.numel(), 128),)](x, y, x.numel(), scale, BLOCK=128)
    return y
'''),
    "autograd function": candidate("return Fast.apply(self.linear(x), self.scale)", KERNEL + '''
class Fast(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        y = torch.empty_like(x)
        kernel[(triton.cdiv(x.numel(), 128),)](x, y, x.numel(), scale, BLOCK=128)
        ctx.save_for_backward(y)
        return y
'''),
    "autotune": candidate(LAUNCH.format("kernel[lambda meta: (triton.cdiv(n, meta['BLOCK']),)](x, y, n, self.scale)"), AUTOTUNE + KERNEL),
    "heuristics": candidate(LAUNCH.format("kernel[(1,)](x, y, n, self.scale)"),
                            "\n@triton.heuristics({'BLOCK': lambda args: triton.next_power_of_2(args['n'])})" + KERNEL),
    "autotune over heuristics": candidate(LAUNCH.format("kernel[lambda meta: (triton.cdiv(n, meta['BLOCK']),)](x, y, n)"),
                                          AUTOTUNE + "\n@triton.heuristics({'scale': lambda args: 2.0})" + KERNEL),
    "helper functions": candidate(LAUNCH.format("kernel[(triton.cdiv(n, 128),)](x, y, n, self.scale, BLOCK=128)"), '''
SLOPE = tl.constexpr(0.5)

@triton.jit
def act(x):
    return tl.where(x > 0, x, x * SLOPE)
''' + KERNEL.replace("tl.maximum(x, 0.0)", "act(x)")),
    "libdevice": candidate(LAUNCH.format("kernel[(triton.cdiv(n, 128),)](x, y, n, self.scale, BLOCK=128)"),
                           KERNEL.replace("tl.maximum(x, 0.0)", "libdevice.tanh(x) + libdevice.erf(x)")),
    "several kernels and temporaries": candidate('''
x = self.linear(x)
t = torch.zeros_like(x)
y = torch.empty_like(x)
grid = (triton.cdiv(x.numel(), 128),)
kernel[grid](x, t, x.numel(), 1.0, BLOCK=128)
kernel[grid](t, y, x.numel(), self.scale, BLOCK=128)
t.zero_()
return y'''),
    "tuple of outputs": candidate(LAUNCH.format("kernel[(triton.cdiv(n, 128),)](x, y, n, self.scale, BLOCK=128)") + ", {'x': x[1:]}"),
    "in place": candidate("x = self.linear(x)\nkernel[(triton.cdiv(x.numel(), 128),)](x, x, x.numel(), 2, BLOCK=128)\nreturn x"),
    "views and odd offsets": candidate("y = torch.empty_like(x)\nkernel[(1,)](x[1:, 3:], y[1:].t(), 17, self.scale, BLOCK=128)\nreturn y.view(-1)[5:]"),
    "one as an argument": candidate(LAUNCH.format("kernel[(1,)](x, y, 1, self.scale, BLOCK=128)")),
    "half, int and bool": candidate('''
h = x.half()
y = torch.empty_like(h)
kernel[(16,)](h, y, h.numel(), 2, BLOCK=128)
i = torch.arange(2048, device=x.device)
j = torch.empty_like(i)
pick[(16,)](i, x > 0, j, True, 2**40, BLOCK=128)
b = x.bfloat16()
kernel[(16,)](b, b, b.numel(), 0.5, BLOCK=128)
return y, j, b''', KERNEL + '''
@triton.jit
def pick(i_ptr, m_ptr, j_ptr, flag, big, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(j_ptr + o, tl.where(tl.load(m_ptr + o), tl.load(i_ptr + o) + big, flag.to(tl.int64)))
'''),
    "optional argument": candidate(LAUNCH.format("kernel[(16,)](x, None, y, BLOCK=128)"), '''
@triton.jit
def kernel(x_ptr, bias_ptr, y_ptr, BLOCK: tl.constexpr, USE: tl.constexpr = True):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + o)
    if bias_ptr is not None:
        x += tl.load(bias_ptr + o)
    if USE:
        x = tl.maximum(x, 0.0)
    tl.store(y_ptr + o, x)
'''),
    "weights packed by the constructor": candidate(LAUNCH.format("kernel[(16,)](x + self.packed, y, n, self.scale, BLOCK=128)"),
                                                   init="self.packed = nn.Parameter(self.linear.weight.data.t().contiguous()[:32].clone())"),
    "persistent": candidate(LAUNCH.format(
        "sms = torch.cuda.get_device_properties(x.device).multi_processor_count\n"
        "also = triton.runtime.driver.active.utils.get_device_properties(torch.cuda.current_device())['multiprocessor_count']\n"
        "with torch.cuda.device(x.device):\n    kernel[(min(sms, also, 16),)](x, y, n, self.scale, BLOCK=128)")),
    "occupancy of a compiled handle": candidate(LAUNCH.format(
        "handle = kernel.warmup(x, y, n, self.scale, BLOCK=128, grid=(1,))\nhandle._init_handles()\n"
        "programs = min(16, 65536 // (handle.n_regs * 32) + handle.metadata.shared)\nhandle[(programs, 1, 1)](x, y, n, self.scale, 128)")),
    "wrapped kernel": candidate(LAUNCH.format("torch.library.wrap_triton(kernel)[(16,)](x, y, n, self.scale, BLOCK=128)")),
    "as torch.compile writes it": candidate(LAUNCH.format(
        "from torch._C import _cuda_getCurrentRawStream as get_raw_stream\n"
        "with torch.cuda._DeviceGuard(0):\n    torch.cuda.set_device(0)\n    stream0 = get_raw_stream(0)\n"
        "    kernel[(16,)](x, y, n, self.scale, BLOCK=128)")),
    "shared memory of a compiled handle": candidate("""
y = torch.empty(x.shape[0], device=x.device)
handle = total.warmup(x, y, 64, BLOCK=64, grid=(1,))
handle._init_handles()
assert handle.metadata.num_warps == 4 and handle.n_spills == 0 and handle.metadata.target.backend == "cuda"
total[(x.shape[0], 227 * 1024 // handle.metadata.shared // 10**6 + 1)](x, y, 64, BLOCK=64)
return y""", """
@triton.jit
def total(x_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.program_id(0) * columns + tl.arange(0, BLOCK))
    tl.store(y_ptr + tl.program_id(0), tl.sum(x, 0))
"""),
    "run of a compiled handle": candidate(LAUNCH.format(
        "handle = kernel[(16,)](x, y, n, self.scale, BLOCK=128, launch_pdl=True)\nstream = torch.cuda.current_stream().cuda_stream\n"
        "handle.run(16, 1, 1, stream, handle.function, handle.packed_metadata, None, None, None, x, y, n, self.scale, 128)")),
    "grids that are no tuples": candidate(LAUNCH.format(
        "import numpy\nkernel[[16]](x, y, n, self.scale, BLOCK=128)\nkernel[numpy.array([16, 1])](x, y, n, self.scale, BLOCK=128)\n"
        "kernel[lambda meta: [n // meta['BLOCK'], 1, 1, 1]](x, y, n, self.scale, BLOCK=128)\n"
        "kernel[(torch.arange(17, device=x.device)[-1],)](x, y, n, self.scale, BLOCK=128)")),
    "reinterpreted memory": candidate(LAUNCH.format(
        "kernel[(16,)](triton.reinterpret(x.view(torch.int32), tl.float32), y, n, self.scale, BLOCK=128)\n"
        "kernel[(16,)](Memory(x[1:]), y, n - 64, self.scale, BLOCK=128)"), KERNEL + """
class Memory:
    def __init__(self, tensor):
        self.address, self.dtype = tensor.data_ptr(), tensor.dtype

    def data_ptr(self):
        return self.address
"""),
    "config under trial": candidate(LAUNCH.format(
        "kernel[lambda meta: (triton.cdiv(n, kernel.best_config.kwargs['BLOCK']),)](x, y, n, self.scale)"), AUTOTUNE + KERNEL),
    "seed of a draw": candidate(LAUNCH.format("kernel[(16,)](x, y, n, float(torch.randint(0, 99, (1,)).item() >= 0), BLOCK=128)")),
    "code of a handle": candidate(LAUNCH.format(
        "handle = kernel[(16,)](x, y, n, self.scale, BLOCK=128)\nassert 'tt.func' in handle.asm['ttir'] and handle.asm.get('spv') is None")),
    "empty launch": candidate("y = torch.empty(0, device=x.device)\nkernel[(0,)](x, y, 0, 1.0, BLOCK=128)\nreturn x"),
    "fallback that is not taken": candidate("if not x.is_cuda:\n    return F.relu(x)\n" + LAUNCH.format("kernel[(16,)](x, y, n, self.scale, BLOCK=128)")),
    "reduction with a loop": candidate('''
y = torch.empty(x.shape[0], device=x.device)
rows[(x.shape[0],)](x, y, x.stride(0), x.shape[1], BLOCK=16)
return y''', '''
@triton.jit
def combine(a, b):
    return a + b

@triton.jit
def rows(x_ptr, y_ptr, stride, n, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, n, BLOCK):
        o = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + tl.program_id(0) * stride + o, mask=o < n, other=0.0)
    scanned = tl.associative_scan(total, 0, combine)
    tl.store(y_ptr + tl.program_id(0), tl.sum(scanned, 0) + tl.reduce(total, 0, combine))
'''),
    "block pointers": candidate('''
y = torch.empty_like(x)
tile[(2, 4)](x, y, x.shape[0], x.shape[1], x.stride(0), x.stride(1), B=16)
return y''', '''
@triton.jit
def tile(x_ptr, y_ptr, m, n, sm, sn, B: tl.constexpr):
    at = (tl.program_id(0) * B, tl.program_id(1) * B)
    x = tl.make_block_ptr(x_ptr, (m, n), (sm, sn), at, (B, B), (1, 0))
    y = tl.make_block_ptr(y_ptr, (m, n), (sm, sn), at, (B, B), (1, 0))
    tl.store(y, tl.load(x, boundary_check=(0, 1)) * 2, boundary_check=(0, 1))
'''),
    "dot": candidate('''
y = torch.empty_like(x)
mm[(1,)](x, self.linear.weight, self.linear.bias, y)
return y''', '''
@triton.jit
def mm(x_ptr, w_ptr, b_ptr, y_ptr):
    m, k, n = tl.arange(0, 32), tl.arange(0, 64), tl.arange(0, 64)
    a = tl.load(x_ptr + m[:, None] * 64 + k[None, :])
    b = tl.load(w_ptr + n[None, :] * 64 + k[:, None])
    c = tl.dot(a, b, input_precision="ieee") + tl.load(b_ptr + n)[None, :]
    tl.store(y_ptr + m[:, None] * 64 + n[None, :], c)
'''),
}

PRODUCT = '''
from triton.tools.tensor_descriptor import TensorDescriptor

def set_blocks(nargs):
    nargs["a"].block_shape = [nargs["M"], 32]

%s
@triton.jit
def product(a, b, c, columns, M: tl.constexpr, N: tl.constexpr):
    m, n = tl.program_id(0) * M, tl.program_id(1) * N
    total = tl.zeros((M, N), dtype=tl.float32)
    for k in range(0, columns, 32):
        total += tl.dot(a.load([m, k]), b.load([k, n]), input_precision="ieee")
    c.store([m, n], total)
'''
DESCRIPTORS = '''
w = self.linear.weight.t().contiguous()
y = torch.empty_like(x)
a = TensorDescriptor(x, x.shape, x.stride(), [16, 32])
b, c = TensorDescriptor.from_tensor(w, [32, 32]), TensorDescriptor.from_tensor(y, [16, 32])
product[lambda meta: (32 // meta["M"], 2)](a, b, c, 64, %s)
return y'''
HOOKED = AUTOTUNE.replace("num_warps=w)", "num_warps=w, pre_hook=clear)")

TUPLES = '''
Pair = collections.namedtuple("Pair", "source target")
Scaling = collections.namedtuple("Scaling", "rows scales")

@triton.jit
def kernel(pair, sizes, nested, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < sizes[0]
    x = tl.load(pair.source + offsets * sizes[1], mask=mask)
    if nested.scales[1] is None:
        x = x * nested.scales[0]
    tl.store(pair.target + offsets, x * nested.rows[0] + nested.rows[1], mask=mask)
'''

GOOD |= {
    "tuples": candidate(LAUNCH.format("kernel[(16,)](Pair(x, y), (n, 1), Scaling((2, 3.5), (self.scale, None)), BLOCK=128)"),
                        "\nimport collections\n" + TUPLES),
    "descriptors made on the host": candidate(DESCRIPTORS % "M=16, N=32", PRODUCT % ""),
    "descriptors whose blocks an autotuner's hook sets": candidate(DESCRIPTORS % "N=32", PRODUCT % '''@triton.autotune(configs=[triton.Config({"M": 16}, num_warps=w, pre_hook=set_blocks) for w in (2, 4)], key=[])'''),
    "hooks of some configs": candidate(LAUNCH.format("kernel[lambda meta: (triton.cdiv(n, meta['BLOCK']),)](x, y, n, self.scale)"),
                                       "\ndef clear(nargs):\n    if nargs['BLOCK'] > 128:\n        nargs['y_ptr'].zero_()\n" + HOOKED + KERNEL),
    "hooks of configs": candidate(LAUNCH.format("kernel[lambda meta: (triton.cdiv(n, meta['BLOCK']),)](x, y, n, self.scale)"),
                                  "\ndef clear(nargs):\n    nargs['y_ptr'].zero_()\n" + HOOKED + KERNEL),
    "heuristics over autotune": candidate(LAUNCH.format("kernel[lambda meta: (triton.cdiv(n, meta['BLOCK']),)](x, y, n)"),
                                          "\n@triton.heuristics({'scale': lambda args: 2.0})" + AUTOTUNE + KERNEL),
    "autotune pruned by a model": candidate(
        LAUNCH.format("kernel[lambda meta: (triton.cdiv(n, meta['BLOCK']),)](x, y, n, self.scale)"),
        AUTOTUNE.replace('key=["n"]', 'key=["n"], prune_configs_by={"perf_model": lambda **args: args["BLOCK"], "top_k": 2}') + KERNEL),
    "kernels of parameters and buffers": candidate('''
y = torch.empty_like(x)
kernel[(16,)](x, y, x.numel(), self.scale, BLOCK=128)
kernel[(4,)](self.table, self.table_out, 512, 1.0, BLOCK=128)
kernel[(1,)](self.linear.bias, y[0], 64, 1.0, BLOCK=64)
return y, self.table_out[:64] + self.gain''', init="self.register_buffer('table', torch.arange(512.0))\n"
                                          "self.register_buffer('table_out', torch.zeros(512), persistent=False)\nself.gain = nn.Parameter(torch.ones(64))"),
    "in place on a temporary's view": candidate('''
t = x.clone().view(-1, 128)
kernel[(1,)](t[3], t[3], 128, 0.5, BLOCK=128)
t[5].copy_(t[3])
t = t.transpose(0, 1)[::2]
y = torch.empty(t.shape, device=x.device)
kernel[(8,)](t.contiguous(), y, t.numel(), 1.0, BLOCK=128)
return y.unsqueeze(0).expand(2, -1, -1)'''),
}

RUN = KERNEL + """
def run(x, scale):
    y = torch.empty_like(x)
    kernel[(triton.cdiv(x.numel(), 128),)](x, y, x.numel(), scale, BLOCK=128)
    return y
"""
GRAPHS = {
    "a graph of the constructor": candidate("""
self.static_x.copy_(x)
self.graph.replay()
return self.static_y""", RUN, init="""self.static_x = torch.empty(32, 64, device='cuda')
run(self.static_x, scale)
self.graph = torch.cuda.CUDAGraph()
self.graph.capture_begin(pool=torch.cuda.graph_pool_handle())
assert torch.cuda.is_current_stream_capturing()
self.static_y = run(self.static_x, scale)
self.graph.capture_end()"""),
}
GOOD |= GRAPHS

# name -> (source, error class, a text of the line that the error must name or None, a part of the message)
BAD = {
    "syntax": (HEAD + "\ndef f(:\n    pass\n", "syntax_error", "def f(:", "invalid syntax"),
    "indentation": (HEAD + "\nclass A:\npass\n", "syntax_error", "pass", "indent"),
    "unknown module": ("import no_such_module\n" + candidate("return x"), "import_error", "import no_such_module", "no_such_module"),
    "unknown name": ("from triton.language import no_such_name\n" + candidate("return x"), "import_error", "no_such_name", "no_such_name"),
    "top level raises": (candidate("return x") + "\n1 / 0\n", "exception", "1 / 0", "ZeroDivisionError in import"),
    "no ModelNew": (HEAD + "class Model(nn.Module):\n    pass\n", "no_model", None, "ModelNew"),
    "constructor raises": (candidate("return x", init="self.n = scale.shape"), "exception", "self.n = scale.shape", "AttributeError in __init__"),
    "constructor's arguments": (HEAD + "class ModelNew(nn.Module):\n    pass\n", "exception", None, "__init__"),
    "forward raises": (candidate("return torch.matmul(x, torch.randn(3, 3, device=x.device))"), "exception", "return torch.matmul(x, ", "RuntimeError in forward"),
    "undefined variable": (candidate("return y"), "exception", "return y", "NameError"),
    "devices differ": (candidate("return x + torch.ones(64)"), "exception", "return x + torch.ones(64)", "device"),
    "kernel on the CPU": (candidate(LAUNCH.format("kernel[(1,)](x.cpu(), y, n, 1.0, BLOCK=64)")), "exception", "kernel[(1,)](x.cpu()", "cannot be accessed from Triton"),
    "kernel does not compile": (candidate(LAUNCH.format("kernel[(1,)](x, y, n, 1.0, BLOCK=64)"), KERNEL.replace("tl.maximum(x, 0.0)", "tl.relu(x)")),
                                "compile_error", "tl.relu(x)", "relu"),
    "types do not fit": (candidate(LAUNCH.format("kernel[(1,)](x, y, n, 1.0, BLOCK=64)"), KERNEL.replace("offsets < n", "offsets @ n")), "compile_error", "offsets @ n", ""),
    "not a power of two": (candidate(LAUNCH.format("kernel[(1,)](x, y, n, 1.0, BLOCK=100)")), "compile_error", "tl.arange(0, BLOCK)", "power of 2"),
    "helper does not compile": (candidate(LAUNCH.format("kernel[(1,)](x, y, n, 1.0, BLOCK=64)"),
                                          "\n@triton.jit\ndef act(x):\n    y = x\n    return y.nothing()\n" + KERNEL.replace("tl.maximum(x, 0.0)", "act(x)")),
                                "compile_error", "y.nothing()", "nothing"),
    "global variable": (candidate(LAUNCH.format("kernel[(1,)](x, y, n, 1.0, BLOCK=64)"), "\nGAIN = 3.0\n" + KERNEL.replace("* scale", "* GAIN")), "compile_error", "GAIN", "global variable"),
    "missing argument": (candidate(LAUNCH.format("kernel[(1,)](x, y, n)")), "exception", "kernel[(1,)](x, y, n)", "missing"),
    "unknown option": (candidate(LAUNCH.format("kernel[(1,)](x, y, n, 1.0, BLOCK=64, warps=4)")), "exception", "warps=4", "warps"),
    "compiled function": (candidate(LAUNCH.format("kernel[(16,)](plain(x), y, n, self.scale, BLOCK=128)"),
                                    KERNEL + "\n@torch.compile(dynamic=True)\ndef plain(x):\n    return x.view(-1)\n"),
                          "not_captured", "plain(x)", "torch.compile has compiled"),
    "compiled module": (candidate("return self.fast(x)", init="self.fast = torch.compile(self.linear)"),
                        "not_captured", "self.fast(x)", "torch.compile has compiled"),
    "item": (candidate("return x * x.max().item()"), "data_dependent", "x.max().item()", "value of a tensor"),
    "condition": (candidate("if x.sum() > 0:\n    return x\nreturn -x"), "data_dependent", "if x.sum() > 0:", "value of a tensor"),
    "tolist": (candidate("return x * x[0].tolist()[0]"), "data_dependent", "tolist", ""),
    "numpy": (candidate("return torch.from_numpy(x.cpu().numpy())"), "data_dependent", ".numpy()", "numpy"),
    "print": (candidate("print(x)\nreturn x"), "data_dependent", "print(x)", "print"),
    "format": (candidate("print(f'{x.sum():.2f}')\nreturn x"), "data_dependent", "print(f", "print"),
    "shape by value": (candidate("return x[x > 0]"), "data_dependent", "x[x > 0]", "shape"),
    "nothing to swallow": (candidate("try:\n    return x * x.sum().item()\nexcept:\n    return torch.relu(x)"), "data_dependent", "x.sum().item()", ""),
    "a message of tensors": (candidate("raise ValueError(x)"), "exception", "raise ValueError(x)", "ValueError in forward"),
    "swallowed launch error": (candidate("try:\n    kernel.run(x, x, 4, 1.0, BLOCK=64)\nexcept BaseException:\n    pass\nreturn x"), "unsupported_launch", "kernel.run", "grid"),
    "measuring": (candidate("a = torch.cuda.Event(enable_timing=True)\nreturn x * a.elapsed_time(a)"), "not_captured", "elapsed_time", "time"),
    "benchmarking": (candidate("return x * triton.testing.do_bench(lambda: x)"), "not_captured", "do_bench", "time"),
    "a kernel's PTX": (candidate(LAUNCH.format("handle = kernel[(16,)](x, y, n, 1.0, BLOCK=128)\nassert 'ld.global' in handle.asm['ptx']")),
                       "not_captured", "handle.asm['ptx']", "ptx"),
    "a kernel's machine code": (candidate(LAUNCH.format("handle = kernel.warmup(x, y, n, 1.0, BLOCK=128, grid=(1,))\nsize = len(handle.asm.get('cubin', b''))")),
                                "not_captured", "handle.asm.get('cubin'", "cubin"),
    "wrapped too little": (candidate(LAUNCH.format("torch.library.wrap_triton(print)[(16,)](x, y, n, 1.0, BLOCK=128)")), "exception", "wrap_triton(print)", "triton.jit"),
    "CUDA graph that holds nothing": (candidate("torch.cuda.CUDAGraph().replay()\nreturn x"), "exception", "replay()", "capture"),
    "graphed callables": (candidate("return torch.cuda.make_graphed_callables(self.linear, (x,))(x)"), "not_captured",
                          "make_graphed_callables", "graph"),
    "grid too large": (candidate(LAUNCH.format("kernel[(1, 70000)](x, y, n, 1.0, BLOCK=64)")), "unsupported_launch", "70000", "grid"),
    "grid of floats": (candidate(LAUNCH.format("kernel[(n / 64,)](x, y, n, 1.0, BLOCK=64)")), "exception", "n / 64", "integers"),
    "hooks that differ": (candidate(LAUNCH.format("kernel[(16,)](x, y, n, self.scale)"), "\ndef clear(nargs):\n    nargs['y_ptr'].copy_(torch.zeros(1) + nargs['BLOCK'])\n"
                                    + HOOKED + KERNEL), "unsupported_launch", "kernel[(16,)]", "pre_hooks"),
    "descriptor that pads with nan": (candidate((DESCRIPTORS % "M=16, N=32").replace("[16, 32])\nb,", "[16, 32], 'nan')\nb,"), PRODUCT % ""), "unsupported_launch", "product[", "nan"),
    "object without a tensor's address": (candidate(LAUNCH.format(
        "import types\nkernel[(16,)](types.SimpleNamespace(data_ptr=lambda: 64, dtype=x.dtype), y, n, 1.0, BLOCK=64)")),
                                          "unsupported_launch", "kernel[(16,)]", "data_ptr"),
    "no grid": (candidate(LAUNCH.format("kernel.run(x, y, n, 1.0, BLOCK=64)")), "unsupported_launch", "kernel.run", "grid"),
    "called as a function": (candidate(LAUNCH.format("kernel(x, y, n, 1.0, BLOCK=64)")), "exception", "kernel(x, y, n", "Cannot call"),
    "exits": (candidate("import sys\nsys.exit(3)"), "exception", "sys.exit(3)", "SystemExit"),
    "recursion": (candidate("return self.forward(x)"), "exception", "return self.forward(x)", "RecursionError"),
    "returns an object": (candidate("return object()"), "not_captured", None, "object"),
    "not a module": (HEAD + "class ModelNew:\n    def __init__(self, scale):\n        pass\n", "no_model", None, "Module"),
    "sparse": (candidate("return x.to_sparse()"), "not_captured", "to_sparse", ""),
    "C++ extension": (candidate("from torch.utils.cpp_extension import load_inline\nload_inline('n', 'int f();')\nreturn x"), "not_captured", "load_inline(", ""),
}
