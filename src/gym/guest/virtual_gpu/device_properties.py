"""The properties of the virtual GPU: those of a chip of the compile target, or of the GPU that will run the kernels.

A zygote knows neither when it warms up. A guest calls become() when it has its one request.
"""

from types import SimpleNamespace

H200 = dict(
    name="NVIDIA H200", total_memory=150_754_820_096, multi_processor_count=132, warp_size=32,
    max_threads_per_multi_processor=2048, max_threads_per_block=1024, regs_per_multiprocessor=65536,
    shared_memory_per_block=49152, shared_memory_per_block_optin=232448, shared_memory_per_multiprocessor=233472,
    L2_cache_size=62914560, is_integrated=0, is_multi_gpu_board=0, gcnArchName="", clock_rate=1980000,
    memory_clock_rate=3201000, memory_bus_width=6144, pci_bus_id=24, pci_device_id=0, pci_domain_id=0,
    uuid="8f1c6b7e-3d52-4a90-b1e4-95c7d21a6f38")
# For each target, the properties of one chip that differ from the H200's. Threads and shared memory come from the table of
# compute capabilities in NVIDIA's CUDA programming guide, the rest from data sheets. The size of the memory is the nominal one.
CHIPS = {
    "sm_80": dict(
        name="NVIDIA A100-SXM4-80GB", total_memory=80 << 30, multi_processor_count=108, L2_cache_size=40 << 20,
        shared_memory_per_block_optin=166912, shared_memory_per_multiprocessor=167936, clock_rate=1410000,
        memory_clock_rate=1593000, memory_bus_width=5120),
    "sm_86": dict(
        name="NVIDIA RTX A6000", total_memory=48 << 30, multi_processor_count=84, L2_cache_size=6 << 20,
        max_threads_per_multi_processor=1536, shared_memory_per_block_optin=101376, shared_memory_per_multiprocessor=102400,
        clock_rate=1800000, memory_clock_rate=8001000, memory_bus_width=384),
    "sm_89": dict(
        name="NVIDIA L40S", total_memory=48 << 30, multi_processor_count=142, L2_cache_size=96 << 20,
        max_threads_per_multi_processor=1536, shared_memory_per_block_optin=101376, shared_memory_per_multiprocessor=102400,
        clock_rate=2520000, memory_clock_rate=9001000, memory_bus_width=384),
    "sm_90": {},
    "sm_100": dict(
        name="NVIDIA B200", total_memory=180 << 30, multi_processor_count=148, L2_cache_size=126 << 20,
        clock_rate=1965000, memory_clock_rate=3996000, memory_bus_width=8192),
    "sm_120": dict(
        name="NVIDIA RTX PRO 6000 Blackwell", total_memory=96 << 30, multi_processor_count=188, L2_cache_size=128 << 20,
        max_threads_per_multi_processor=1536, shared_memory_per_block_optin=101376, shared_memory_per_multiprocessor=102400,
        clock_rate=2617000, memory_clock_rate=14001000, memory_bus_width=512),
}


def chip_of(target):
    """Returns the properties of a target. A target that is not listed has its own number and an H200's sizes."""
    known = CHIPS.get(target)
    digits = target.removeprefix("sm_")
    whose = {"name": f"NVIDIA GPU ({target})"} if known is None else known
    return {**H200, **whose, "major": int(digits[:-1]), "minor": int(digits[-1])}


# Every question about the device is answered with this one object.
PROPERTIES = SimpleNamespace(**chip_of("sm_90"))


def become(target, told=None):
    """Makes the virtual GPU a chip of this target. `told` holds a real GPU's properties under torch's names, which win."""
    PROPERTIES.__dict__.update({**chip_of(target), **(told or {})})


def capability():
    return PROPERTIES.major, PROPERTIES.minor
