"""The virtual GPU's answers to Triton (virtual_gpu.py has those to torch)."""

import torch
import torch._library.triton
import triton
from triton.backends.compiler import GPUTarget

from . import streams
from .device_properties import PROPERTIES, capability
from .virtual_gpu import refuse


class VirtualUtils:
    def get_device_properties(self, device=0):
        return {"max_shared_mem": PROPERTIES.shared_memory_per_block_optin, "max_num_regs": PROPERTIES.regs_per_multiprocessor,
                "multiprocessor_count": PROPERTIES.multi_processor_count, "warpSize": PROPERTIES.warp_size,
                "sm_clock_rate": PROPERTIES.clock_rate, "mem_clock_rate": PROPERTIES.memory_clock_rate,
                "mem_bus_width": PROPERTIES.memory_bus_width}


class VirtualDriver:
    """Answers what Triton asks an active driver."""
    utils = VirtualUtils()
    get_benchmarker = staticmethod(lambda: refuse("a kernel's time"))
    get_device_interface = staticmethod(lambda: torch.cuda)

    is_active = staticmethod(lambda: True)

    def get_current_target(self): return GPUTarget("cuda", 10 * PROPERTIES.major + PROPERTIES.minor, PROPERTIES.warp_size)
    def get_device_capability(self, device=0): return capability()
    def get_current_device(self): return 0
    def set_current_device(self, device): pass
    def get_current_stream(self, device=None): return streams.raw_current()
    def get_active_torch_device(self): return torch.device("cuda", 0)
    def get_empty_cache_for_benchmark(self): return None
    def clear_cache(self, cache): pass


def install():
    """Makes the virtual GPU answer all of Triton's questions to a driver, in the whole process."""
    triton.runtime.driver.set_active(VirtualDriver())
    torch._library.triton.is_wrap_triton_enabled = lambda: False  # a wrapped kernel is launched as it is
    triton.testing.do_bench = triton.testing.do_bench_cudagraph = refuse("a kernel's time")
