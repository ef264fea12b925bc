"""Chooses the sizes of a kernel's blocks, as Inductor's rules of thumb do where nothing can be measured."""

TILE = 1024       # elements of a block of a pointwise kernel
WIDE_TILE = 4096  # elements of a block that eight warps share
LOOP = 1024       # elements of a reduction that one step of its loop takes
PRODUCTS = 32     # elements that one step of a running product takes: products of more overflow, and 0 times that is NaN


def power_of_two(number):
    return 1 << max(0, int(number) - 1).bit_length()


def choose(kind, sizes, persistent_sizes, parameters, loop=LOOP):
    """Returns the block size for each constexpr parameter.

    `sizes` holds the number of elements along x, y, z and r0_; `persistent_sizes` the block sizes that the body itself fixes;
    `loop` the elements that one step of a loop over a reduction takes."""
    blocks = {}
    if kind == "pointwise":
        axes = [axis for axis in "xyz" if f"{axis.upper()}BLOCK" in parameters]
        room = TILE
        limits = {1: {"x": TILE}, 2: {"x": 64, "y": 32}, 3: {"x": 32, "y": 8, "z": 8}}[len(axes)]
        for axis in axes:
            size = min(limits[axis], power_of_two(sizes[axis]), room)
            blocks[f"{axis.upper()}BLOCK"] = size
            room = max(1, room // size)
        return blocks
    reduced = 1
    for name in parameters:
        if name.startswith("R") and name.endswith("_BLOCK"):
            blocks[name] = min(loop, power_of_two(sizes[name[:-len("BLOCK")].lower()]))
            reduced *= blocks[name]
    for size in persistent_sizes.values():
        reduced *= size
    room = max(1, TILE // reduced)
    for axis in "xyz":
        if f"{axis.upper()}BLOCK" in parameters:
            size = min(room, power_of_two(sizes[axis]))
            blocks[f"{axis.upper()}BLOCK"] = size
            room = max(1, room // size)
    return blocks


def warps(blocks, persistent_sizes):
    tile = 1
    for size in [*blocks.values(), *persistent_sizes.values()]:
        tile *= size
    return 8 if tile >= WIDE_TILE else 4
