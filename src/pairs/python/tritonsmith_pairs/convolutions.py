"""Convolutions as Triton, for solutions that leave torch no arithmetic (policy strict).

The kernel computes what Inductor's own template computes, in the same way: a matrix product of output positions by output
channels, summed over the window and the input channels. Inductor's covers two and three dimensions without dilation. This one
is written for one to three dimensions, with stride, padding, dilation and groups, and for transposed convolutions.
"""

import ast

from .errors import NoPair
from .operators import is_contiguous

AXES = {1: ["w"], 2: ["h", "w"], 3: ["d", "h", "w"]}
LOOPS = {"d": "p", "h": "i", "w": "j"}
SETTINGS = {"stride": 1, "padding": 0, "output_padding": 0, "dilation": 1}
NAMES = frozenset(f"conv{kind}{dimensions}d" for kind in ("", "_transpose") for dimensions in AXES)

KERNEL = '''
@triton.jit
def {name}_kernel(
        x_ptr, weight_ptr, out_ptr, batch, in_channels, out_channels, {in_sizes}, {out_sizes},
        {strides},
        {constants},
        BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    """Computes one tile of output positions by output channels of a group, summed over the window and its channels."""
    position = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    out_channel = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    out_mask = out_channel < out_channels
    group = tl.program_id(2).to(tl.int64)
{coordinates}
    weight_column = {weight_channel} * weight_out_stride
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
{loops}
    out_row = n * out_n_stride + {out_row}
    out_column = (group * out_channels + out_channel) * out_c_stride
    tl.store(out_ptr + out_row[:, None] + out_column[None, :], total, mask=(n < batch)[:, None] & out_mask[None, :])
'''
BODY = '''{from_lines}
x_row = n * x_n_stride + {x_row}
weight_window = {weight_window}
for start in range(0, in_channels, BLOCK_K):
    channel = start + tl.arange(0, BLOCK_K)
    channel_mask = channel < in_channels
    in_channel = group * in_channels + channel
    x = tl.load(x_ptr + x_row[:, None] + (in_channel * x_c_stride)[None, :],
                mask=inside[:, None] & channel_mask[None, :], other=0.0)
    weight_row = {weight_row} * weight_in_stride
    weight = tl.load(weight_ptr + weight_window + weight_row[:, None] + weight_column[None, :],
                     mask=channel_mask[:, None] & out_mask[None, :], other=0.0)
    total = tl.dot(x, weight, total, input_precision="ieee")'''
FUNCTION = '''
def {name}(x, weight, {settings}, groups=1):
    """Returns the {what} of x with weight, without a bias."""
    settings = zip(x.shape[2:], weight.shape[2:], {lists})
    sizes = [{size} for {each} in settings]
    in_channels, out_channels = {channels}
    out = torch.empty((x.shape[0], out_channels * groups, *sizes), dtype=x.dtype, device=x.device)
    block_n = max(16, min(64, triton.next_power_of_2(out_channels)))
    block_k = max(16, min(32, triton.next_power_of_2(in_channels)))
    grid = (triton.cdiv(out.numel() // out.shape[1], 64), triton.cdiv(out_channels, block_n), groups)
    {name}_kernel[grid](
        x, weight, out, x.shape[0], in_channels, out_channels, *x.shape[2:], *sizes,
        *x.stride(), *weight.stride(), *out.stride(), *weight.shape[2:], *stride, *padding, *dilation,
        BLOCK_M=64, BLOCK_N=block_n, BLOCK_K=block_k)
    return out
'''


def indented(text, depth):
    return "\n".join("    " * depth + line for line in text.split("\n"))


def body_of(axes, transposed):
    """The lines within the loops over the window: where a tap reads, and the product over channels."""
    lines = ["inside = n < batch"]
    for axis in axes:
        upper, tap = axis.upper(), f"{LOOPS[axis]} * DILATION_{axis.upper()}"
        if transposed:
            lines += [f"scaled_{axis} = {axis} + PADDING_{upper} - {tap}",
                      f"from_{axis} = scaled_{axis} // STRIDE_{upper}",
                      f"inside &= (scaled_{axis} >= 0) & (scaled_{axis} % STRIDE_{upper} == 0) & (from_{axis} < in_{axis})"]
        else:
            lines += [f"from_{axis} = {axis} * STRIDE_{upper} - PADDING_{upper} + {tap}",
                      f"inside &= (from_{axis} >= 0) & (from_{axis} < in_{axis})"]
    return BODY.format(
        from_lines="\n".join(lines), x_row=" + ".join(f"from_{axis} * x_{axis}_stride" for axis in axes),
        weight_window=" + ".join(f"{LOOPS[axis]} * weight_{axis}_stride" for axis in axes),
        weight_row="in_channel" if transposed else "channel")


def coordinates_of(axes):
    """Lines that split a position into the sample and its coordinates."""
    lines, rest = [], "position"
    for axis in reversed(axes):
        lines.append(f"    {axis} = {rest} % out_{axis}")
        rest = f"{rest} // out_{axis}"
    return "\n".join([*lines, f"    n = {rest}"])


def loops_of(axes, transposed):
    lines = [indented(f"for {LOOPS[axis]} in range(KERNEL_{axis.upper()}):", 1 + depth) for depth, axis in enumerate(axes)]
    return "\n".join([*lines, indented(body_of(axes, transposed), 1 + len(axes))])


def kernel_source(name, axes, transposed):
    weight_sides = ["in", "out"] if transposed else ["out", "in"]
    strides = [["x", ["n", "c", *axes]], ["weight", [*weight_sides, *axes]], ["out", ["n", "c", *axes]]]
    constants = [[f"{word}_{axis.upper()}: tl.constexpr" for axis in axes] for word in ("KERNEL", "STRIDE", "PADDING", "DILATION")]
    return KERNEL.format(
        name=name, in_sizes=", ".join(f"in_{axis}" for axis in axes), out_sizes=", ".join(f"out_{axis}" for axis in axes),
        strides=",\n        ".join(", ".join(f"{tensor}_{dim}_stride" for dim in dims) for tensor, dims in strides),
        constants=",\n        ".join(map(", ".join, constants)), coordinates=coordinates_of(axes),
        weight_channel="out_channel" if transposed else "(group * out_channels + out_channel)",
        loops=loops_of(axes, transposed), out_row=" + ".join(f"{axis} * out_{axis}_stride" for axis in axes))


def function_source(name, axes, transposed):
    words = ["stride", "padding", *(["output_padding"] if transposed else []), "dilation"]
    ones, zeros = (str((number,) * len(axes)) for number in (1, 0))
    settings = [f"{word}={ones if SETTINGS[word] else zeros}" for word in words]
    return FUNCTION.format(
        name=name, settings=", ".join(settings), lists=", ".join(words),
        what="transposed convolution" if transposed else "convolution",
        size="(size - 1) * s - 2 * p + d * (k - 1) + extra + 1" if transposed else "(size + 2 * p - d * (k - 1) - 1) // s + 1",
        each="size, k, s, p, extra, d" if transposed else "size, k, s, p, d",
        channels="weight.shape[0] // groups, weight.shape[1]" if transposed else "weight.shape[1], weight.shape[0] // groups")


def source(name):
    """Returns the kernel and the function that launches it, of one of NAMES."""
    axes, transposed = AXES[int(name[-2])], "transpose" in name
    return kernel_source(name, axes, transposed).strip() + "\n\n\n" + function_source(name, axes, transposed).strip()


def call(arguments, keywords, form):
    """Returns (name, expression): the call of the function `name` for a convolution whose result has this form."""
    values = {key: ast.literal_eval(text) for key, text in keywords.items() if key != "bias"}
    if keywords.get("bias", "None") != "None" or len(arguments) != 2:
        raise NoPair("left_to_torch", "a convolution with a bias of its own is left to torch")
    name = f"conv{'_transpose' if values['transposed'] else ''}{len(values['stride'])}d"
    if name not in NAMES:
        raise NoPair("left_to_torch", f"{name} is left to torch")
    if not is_contiguous(*form):
        raise NoPair("left_to_torch", "a convolution whose result is not contiguous is left to torch")
    given = list(arguments)
    for word, usual in SETTINGS.items():
        if any(size != usual for size in values[word]) and (word != "output_padding" or values["transposed"]):
            given.append(f"{word}={tuple(values[word])}")
    if values["groups"] != 1:
        given.append(f"groups={values['groups']}")
    return name, f"{name}({', '.join(given)})"
