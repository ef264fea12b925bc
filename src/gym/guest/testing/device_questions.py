"""Questions that honest code asks about its device. Each is an expression over the input `x`. The virtual GPU must answer
all of them without a GPU."""

QUESTIONS = """
torch.cuda.is_available() and torch.cuda.device_count() >= 1
torch.cuda.current_device() == 0 and x.get_device() == 0 and x.device.index == 0 and x.is_cuda
torch.cuda.get_device_name() == torch.cuda.get_device_name(0) == torch.cuda.get_device_properties(x.device).name
torch.cuda.get_device_capability(x.device) >= (8, 0) and torch.cuda.get_device_capability()[0] == 9
torch.cuda.get_device_properties("cuda").multi_processor_count * torch.cuda.get_device_properties(0).warp_size == 132 * 32
torch.cuda.get_device_properties(0).total_memory > 2**30 and torch.cuda.mem_get_info()[0] > 2**30
torch.cuda.get_device_properties(0).shared_memory_per_block_optin >= torch.cuda.get_device_properties(0).shared_memory_per_block
torch.cuda.get_device_properties(0).L2_cache_size > 0 and torch.cuda.get_device_properties(0).regs_per_multiprocessor == 65536
torch.cuda.get_device_properties(0).max_threads_per_multi_processor == 2048 and torch.cuda.get_device_properties(0).major == 9
torch.cuda.memory_allocated() + torch.cuda.max_memory_allocated() + torch.cuda.memory_reserved(0) >= 0
torch.cuda.memory.memory_allocated(x.device) >= 0 and torch.cuda.memory_stats().get("allocated_bytes.all.peak", 0) >= 0
torch.cuda.reset_peak_memory_stats() is None and torch.cuda.empty_cache() is None and torch.cuda.ipc_collect() is None
torch.cuda.is_bf16_supported() and torch.cuda.is_tf32_supported() and "sm_90" in torch.cuda.get_arch_list()
torch.cuda.synchronize() is None and torch.cuda.synchronize(x.device) is None and torch.cuda.set_device(0) is None
torch.cuda.current_stream().cuda_stream >= 0 and torch.cuda.current_stream(x.device).synchronize() is None
torch.cuda.default_stream().query() and torch.cuda.Stream(priority=-1).wait_stream(torch.cuda.current_stream()) is None
torch.cuda.Stream.priority_range()[0] == 0 and torch.cuda.Stream(device=x.device).device == x.device
torch.cuda.Event(enable_timing=True).record() is None and torch.cuda.Event().query() and torch.cuda.Event().synchronize() is None
torch.cuda.current_stream().record_event().wait(torch.cuda.Stream()) is None and x.record_stream(torch.cuda.current_stream()) is None
torch.cuda.is_current_stream_capturing() is False and torch.cuda.can_device_access_peer(0, 0) in (False, True)
torch.cuda.manual_seed(1) is None and torch.cuda.manual_seed_all(2) is None and torch.cuda.initial_seed() >= 0
torch.manual_seed(3) is not None and torch.seed() >= 0
torch.cuda.set_rng_state(torch.cuda.get_rng_state()) is None and len(torch.cuda.default_generators) == 1
torch.cuda.get_allocator_backend() == "native" and torch.cuda.get_sync_debug_mode() == 0
torch.cuda.nvtx.range_push("a") is None and torch.cuda.nvtx.mark("b") is None and torch.cuda.nvtx.range_pop() is None
torch.accelerator.is_available() and torch.accelerator.current_accelerator().type == "cuda" and torch.accelerator.device_count() >= 1
torch._C._cuda_getCurrentRawStream(0) == torch.cuda.current_stream().cuda_stream and torch._C._cuda_getDevice() == 0
torch._C._cuda_getCurrentRawStream(x.device.index) == torch._C._cuda_getCurrentStream(0)[0] and torch._C._cuda_synchronize() is None
{torch.bfloat16, x.dtype} <= torch.accelerator.get_device_capability()["supported_dtypes"]
torch.accelerator.synchronize() is None and torch.accelerator.current_device_index() == 0
torch.Stream(device="cuda").synchronize() is None and torch.Event(device="cuda").record() is None
torch.get_device_module("cuda").current_device() == 0 and torch.device("cuda", torch.cuda.current_device()) == x.device
torch.get_device_module() is torch.cuda is torch.get_device_module(x.device) and torch.get_default_device().type == "cpu"
torch.get_device_module().current_device() == 0 and torch.get_device_module().get_device_properties(0).major == 9
torch._C._get_accelerator().type == "cuda" and torch.get_device_module(torch.accelerator.current_accelerator()) is torch.cuda
torch.accelerator.memory.memory_allocated() >= 0 and torch.accelerator.memory_reserved() >= 0
torch.amp.is_autocast_available("cuda") and torch.amp.is_autocast_available(x.device.type)
torch.version.cuda is not None and torch.version.hip is None and torch.backends.cuda.is_built()
torch.backends.cuda.matmul.allow_tf32 in (False, True) and torch.get_float32_matmul_precision() == "highest"
torch.is_grad_enabled() is False and torch.is_inference_mode_enabled() in (False, True) and not torch.compiler.is_compiling()
torch.utils._triton.has_triton() in (False, True)
triton.runtime.driver.active.get_current_target().backend == "cuda" and triton.runtime.driver.active.get_current_target().arch == 90
triton.runtime.driver.active.get_current_device() == 0 and triton.runtime.driver.active.get_current_stream(0) is not None
triton.runtime.driver.active.get_device_capability(0)[0] == 9 and triton.runtime.driver.active.is_active()
triton.runtime.driver.active.utils.get_device_properties(0)["max_shared_mem"] == 232448
triton.runtime.driver.active.utils.get_device_properties(0)["multiprocessor_count"] == 132
triton.runtime.driver.active.get_active_torch_device() == x.device
triton.cdiv(x.numel(), 128) == 16 and triton.next_power_of_2(33) == 64
x.data_ptr() % 16 == 0 and x.untyped_storage().nbytes() == 4 * x.numel() and x.element_size() == x.dtype.itemsize
x.is_contiguous() and x.stride(0) == 64 and x.storage_offset() == 0 and not x.requires_grad and x.layout == torch.strided
""".strip().split("\n")

# Contexts inside which code may launch a kernel.
GUARDS = """
torch.cuda.device(x.device)
torch.get_device_module().device(x.device)
torch.cuda.device(torch.cuda.current_device())
torch.cuda.device_of(x)
torch.cuda._DeviceGuard(0)
torch.cuda.stream(torch.cuda.Stream())
torch.cuda.stream(None)
torch.cuda.Stream()
torch.accelerator.device_index(0)
torch.device("cuda")
x.device
torch.autocast("cuda", dtype=torch.bfloat16)
torch.autocast(device_type=x.device.type, enabled=False)
torch.amp.autocast("cuda")
torch.cuda.nvtx.range("a")
torch.profiler.record_function("a")
torch.autograd.profiler.record_function("a")
torch.inference_mode()
torch.no_grad()
torch.enable_grad()
torch.random.fork_rng(devices=[0])
warnings.catch_warnings()
contextlib.nullcontext()
""".strip().split("\n")
