"""Compares two buffers: integers exactly, floats within a tolerance of their dtype. NaN and infinity must be in the same
places."""
import numpy as np

RELATIVE = {"torch.float32": 2e-5, "torch.float64": 1e-12, "torch.float16": 2e-3, "torch.bfloat16": 1.6e-2,
            "torch.float8_e4m3fn": 0.13, "torch.float8_e5m2": 0.26}


def numbers(data, dtype):
    import torch
    kind = getattr(torch, dtype.split(".")[1])
    raw = torch.frombuffer(bytearray(data), dtype=torch.uint8) if len(data) else torch.zeros(0, dtype=torch.uint8)
    return raw.view(kind).to(torch.float64).numpy()


def difference(got, expected, dtype, scale):
    """Returns None, or a sentence about the first element that differs."""
    wanted = expected.tobytes()
    if got == wanted:
        return None
    if dtype not in RELATIVE:
        width = expected.itemsize
        different = np.flatnonzero(np.frombuffer(got, expected.dtype) != expected)
        i = int(different[0])
        signed = f"i{width}"
        return (f"{len(different)} of {len(expected)} differ, [{i}] is {np.frombuffer(got, signed)[i]}, "
                f"expected {np.frombuffer(wanted, signed)[i]}")
    a, b = numbers(got, dtype), numbers(wanted, dtype)
    with np.errstate(invalid="ignore", over="ignore"):
        bound = RELATIVE[dtype] * scale * np.maximum(np.abs(b), 0.05)
        good = (a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= bound)
    different = np.flatnonzero(~good)
    if len(different) == 0:
        return None
    i = int(different[0])
    return f"{len(different)} of {len(b)} differ, [{i}] is {a[i]!r}, expected {b[i]!r}"
