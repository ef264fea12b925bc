#!/usr/bin/env python3
"""Times FlashInfer's batch decode attention over a paged cache, for comparison with the lines `attention` of
bench/kernel_speed.

    bench/flashinfer_attention.py [CONTEXT]       CONTEXT is 2,048 tokens by default; needs a GPU and `flashinfer`
    bench/flashinfer_attention.py --build         compiles the kernels before they are measured; needs nvcc, and no GPU if
                                                  FLASHINFER_CUDA_ARCH_LIST names the architecture

It measures as kernel_speed does, with Qwen2.5-Coder-3B's heads (16 of queries, 2 of keys, 128 wide). Twelve layers with a
cache each run one after the other, so L2 holds nothing of a cache when it is read again. Pages are in random order. One round
warms up, then four rounds run between two events. The result is the median of three such measurements.

- `launched` is the time with calls from Python, which alone take some tens of microseconds.
- `graph` is the time of the same rounds as a CUDA graph, as an engine would run them. Compare this one.
- GB/s is the size of the cache divided by the graph's time.
- `plan` is the host's work once per step, for all layers.
- `difference` is the relative difference of two sequences' results from float32's.
The layout HND is that of our cache, NHD is FlashInfer's own.

Each variant runs in its own process, so a failure of one does not affect the others.
"""
import statistics
import subprocess
import sys
import time

HEADS, KV_HEADS, HEAD_DIM = 16, 2, 128
LAYERS, ROUNDS = 12, 4
SECONDS_A_VARIANT = 30
NO_GRAPH = "no graph:"
# Type, number of sequences, tokens in a page, layout.
CASES = [("bfloat16", rows, page, layout) for rows in (64, 256) for page in (64, 16) for layout in ("HND", "NHD")] + [
    ("float16", rows, 64, "HND") for rows in (64, 256)]
# The kernels that version 0.7 compiles for sm_90. Its cute-dsl, trtllm-gen, cake and balanced kernels are for Blackwell, and
# `auto` chooses one of those listed here. cuDNN's kernels are not FlashInfer's own, and cuda.tile's needs another compiler.
# `unsplit` never divides a sequence, so the other sequences of a batch change no bit.
WRAPPERS = {
    "CUDA cores": {},
    "CUDA cores, graph's": {"use_cuda_graph": True},
    "fa2": {"use_tensor_cores": True, "backend": "fa2"},
    "fa2, graph's": {"use_tensor_cores": True, "backend": "fa2", "use_cuda_graph": True},
    "fa2, unsplit": {"use_tensor_cores": True, "backend": "fa2"},
    "fa3": {"use_tensor_cores": True, "backend": "fa3"},
    "fa3, graph's": {"use_tensor_cores": True, "backend": "fa3", "use_cuda_graph": True},
}
VARIANTS = [*WRAPPERS, "persistent", "xqa"]
KERNELS = ["decode", "fa2", "fa3", "persistent", "xqa"]  # `decode` computes on CUDA cores


def spec(kernel, dtype, page):
    """Returns the module that FlashInfer compiles for a variant, the same as its wrappers use."""
    import torch
    from flashinfer.jit.attention import modules
    from flashinfer.jit.xqa import gen_xqa_module
    of = getattr(torch, dtype)
    types, shape = (of, of, of, torch.int32), (HEAD_DIM, HEAD_DIM, 0)
    if kernel == "decode":
        return modules.gen_batch_decode_module(*types, *shape, False, False)
    if kernel == "fa2":
        return modules._gen_batch_prefill_primary_module("fa2", *types, *shape, False, False, False)
    if kernel == "fa3":
        return modules.gen_batch_prefill_module("fa3", *types, *shape, False, False, False)
    if kernel == "persistent":
        return modules._gen_batch_attention_primary_module(*types, *shape, False, False)
    return gen_xqa_module(of, of, page, HEAD_DIM, HEADS // KV_HEADS, False, of)


def modules_to_build():
    """Returns the modules to compile, bfloat16 first. Kernels that do not depend on the page size occur once."""
    cases = dict.fromkeys((dtype, page) for dtype, _, page, _ in CASES)
    named = [(kernel, dtype, page if kernel == "xqa" else 0) for dtype, page in cases for kernel in KERNELS]
    return list(dict.fromkeys(named))


class Case:
    """Holds the caches of all layers with pages in random order, and a query for each sequence."""

    def __init__(self, dtype, rows, page, layout, context):
        import torch
        self.dtype, self.rows, self.page, self.layout, self.context = getattr(torch, dtype), rows, page, layout, context
        self.pages = -(-context // page)  # for one sequence
        on_gpu = {"device": "cuda", "dtype": self.dtype}
        inner = (KV_HEADS, page) if layout == "HND" else (page, KV_HEADS)
        shape = (rows * self.pages, *inner, HEAD_DIM)
        self.caches = [(torch.randn(shape, **on_gpu), torch.randn(shape, **on_gpu)) for _ in range(LAYERS)]
        self.indices = torch.randperm(rows * self.pages, device="cuda").int()  # [rows * pages]
        self.ends = torch.arange(rows + 1, dtype=torch.int32) * self.pages  # [rows + 1], on the host like those below
        self.lengths = torch.full((rows,), context, dtype=torch.int32)  # [rows]
        self.last_page = self.lengths - (self.pages - 1) * page  # [rows]
        self.query = torch.randn((rows, HEADS, HEAD_DIM), **on_gpu)
        self.out = torch.empty_like(self.query)

    def expected(self, row):
        """Returns one sequence's attention in the first layer, computed in float32: [heads, head_dim]."""
        import torch
        pages = self.indices[row * self.pages:(row + 1) * self.pages].long()
        flat = []
        for cache in self.caches[0]:
            of_row = cache[pages].float()
            if self.layout == "HND":
                of_row = of_row.transpose(1, 2)
            flat.append(of_row.reshape(-1, KV_HEADS, HEAD_DIM)[:self.context].repeat_interleave(HEADS // KV_HEADS, dim=1))
        keys, values = flat  # [context, heads, head_dim]
        weights = torch.einsum("hd,thd->ht", self.query[row].float(), keys).mul(HEAD_DIM ** -0.5).softmax(-1)
        return torch.einsum("ht,thd->hd", weights, values)


def by_wrapper(case, variant):
    """Returns a function that plans and a function that computes a layer."""
    import torch
    from flashinfer import BatchDecodeWithPagedKVCacheWrapper
    options = dict(WRAPPERS[variant])
    if options.get("use_cuda_graph"):
        options |= {"paged_kv_indptr_buffer": case.ends.cuda(), "paged_kv_indices_buffer": case.indices.clone(),
                    "paged_kv_last_page_len_buffer": case.last_page.cuda()}
    workspace = torch.zeros(256 << 20, dtype=torch.uint8, device="cuda")
    wrapper = BatchDecodeWithPagedKVCacheWrapper(workspace, case.layout, **options)
    wishes = {"disable_split_kv": True} if variant.endswith("unsplit") else {}

    def plan():
        wrapper.plan(case.ends, case.indices, case.last_page, HEADS, KV_HEADS, HEAD_DIM, case.page,
                     q_data_type=case.dtype, kv_data_type=case.dtype, **wishes)

    return plan, lambda layer: wrapper.run(case.query, case.caches[layer], out=case.out)


def persistent(case, _variant):
    """Returns the same two functions for the kernel that handles prompts and decoding at once. It has as many blocks as
    the GPU can hold."""
    import torch
    from flashinfer import BatchAttention
    wrapper = BatchAttention(case.layout)
    rows = torch.arange(case.rows + 1, dtype=torch.int32)
    logsumexp = torch.empty((case.rows, HEADS), device="cuda", dtype=torch.float32)

    def plan():
        wrapper.plan(rows, case.ends, case.indices, case.lengths, HEADS, KV_HEADS, HEAD_DIM, HEAD_DIM, case.page,
                     q_data_type=case.dtype, kv_data_type=case.dtype)

    return plan, lambda layer: wrapper.run(case.query, case.caches[layer], out=case.out, lse=logsumexp)


def xqa(case, _variant):
    """Returns the same two functions for TensorRT-LLM's kernel, which needs no plan."""
    import torch
    from flashinfer.decode import xqa_batch_decode_with_kv_cache
    workspace = torch.zeros(256 << 20, dtype=torch.uint8, device="cuda")
    table, lengths = case.indices.view(case.rows, case.pages), case.lengths.cuda()

    def run(layer):
        xqa_batch_decode_with_kv_cache(case.query, case.caches[layer], workspace, table, lengths, case.context, out=case.out,
                                       bmm1_scale=HEAD_DIM ** -0.5, bmm2_scale=1.0, kv_layout=case.layout)

    return lambda: None, run


def microseconds(call, rounds):
    """Returns the time of one call: the median of three measurements with events around `rounds` calls."""
    import torch
    took = []
    for _ in range(3):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(rounds):
            call()
        end.record()
        end.synchronize()
        took.append(1e3 * begin.elapsed_time(end) / rounds)
    return statistics.median(took)


def captured(a_round):
    """Returns a round as a CUDA graph. A first round runs on another stream, as PyTorch requires."""
    import torch
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        a_round()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        a_round()
    return graph


def measure(case, variant):
    """Returns the microseconds of a layer launched and in a graph, those of a plan, and the relative error of the result."""
    import torch
    make = {"persistent": persistent, "xqa": xqa}.get(variant, by_wrapper)
    plan, run = make(case, variant)
    plan()  # loads the kernels
    torch.cuda.synchronize()
    since = time.perf_counter()
    plan()
    torch.cuda.synchronize()
    planned = 1e6 * (time.perf_counter() - since)
    run(0)
    right = torch.stack([case.expected(row) for row in (0, case.rows - 1)])  # [2, heads, head_dim]
    wrong = float((case.out[[0, -1]].float() - right).norm() / right.norm())

    def a_round():
        for layer in range(LAYERS):
            run(layer)

    a_round()
    launched = microseconds(a_round, ROUNDS) / LAYERS
    try:
        graph = captured(a_round)
        graph.replay()
        replayed = microseconds(graph.replay, ROUNDS) / LAYERS
    except RuntimeError as error:
        print(NO_GRAPH, " ".join(str(error).split())[:300], file=sys.stderr)
        replayed = float("nan")
    return launched, replayed, planned, wrong


def line(variant, kind, case, context):
    """Measures one case of a variant. Returns a line of the table, which holds the error if the variant fails."""
    dtype, rows, page, layout = kind
    name = f"{dtype:<9} {rows:>4} {page:>4} {layout}"
    try:
        launched, replayed, planned, wrong = measure(case, variant)
    except Exception as error:  # a failure also becomes a line
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        return f"{name}  failed: {reason[:300]}"
    moved = 2.0 * case.query.element_size() * rows * context * KV_HEADS * HEAD_DIM
    return (f"{name} {launched:9.1f} us {replayed:9.1f} us {moved / replayed / 1e3:8.0f} GB/s {planned:9.0f} us {wrong:9.4f}"
            + ("" if wrong < 0.02 else "  WRONG"))


def variant_alone(variant, context):
    """Runs in its own process: it loads everything, waits for its turn, and prints a line for each case."""
    import flashinfer
    import torch
    print(f"flashinfer {flashinfer.__version__}, torch {torch.__version__}", flush=True)
    if not sys.stdin.readline():
        return  # the process that would read the lines has ended
    torch.manual_seed(1)
    for kind in CASES:
        print(line(variant, kind, Case(*kind, context), context), flush=True)
        torch.cuda.empty_cache()


def lines_of(child):
    """Lets a loaded variant measure. Returns its lines, and after a failure how it ended."""
    try:
        out, error = child.communicate("go\n", timeout=SECONDS_A_VARIANT)
    except subprocess.TimeoutExpired:
        child.kill()
        out, error = child.communicate()
        error += f"\nmore than {SECONDS_A_VARIANT} s"
    lines, words = out.splitlines(), error.strip().splitlines()[-1:]
    if len(lines) < len(CASES) or child.returncode:
        lines.append(f"broke off ({child.returncode}): {' '.join(words)[:300]}")
    return lines + [each for each in error.splitlines() if each.startswith(NO_GRAPH)]


def all_variants(context):
    """Runs all variants. They load side by side and measure one after the other."""
    words = [sys.executable, __file__, "--variant"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    children = [(name, subprocess.Popen([*words, name, str(context)], **pipes)) for name in VARIANTS]
    said = [child.stdout.readline().strip() for _, child in children]
    print(max(said) or "nothing could be loaded")
    print(f"{'decode attention':<20} {'type':<9} rows page     launched        graph    of the cache         plan difference")
    for name, child in children:
        for each in lines_of(child):
            print(f"{name:<20} {each}", flush=True)


def main(words):
    if words[:1] == ["--build"]:
        for each in modules_to_build():
            made = spec(*each)
            made.build(verbose=False)
            print(made.get_library_path(), flush=True)
    elif words[:1] == ["--variant"]:
        variant_alone(words[1], int(words[2]))
    else:
        all_variants(int(words[0]) if words else 2048)


if __name__ == "__main__":
    main(sys.argv[1:])
