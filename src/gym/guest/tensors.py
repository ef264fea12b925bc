"""TensorTable knows the index that each fake tensor has in the plan, and which tensors share memory.

It finds a tensor by its identity and by its geometry (storage, type, shape, strides, offset). It keeps every tensor and
storage alive, because Python reuses the ids and addresses of dead ones.
"""

import torch

from . import addresses
from .values import dtype_name

LIMIT = 16384  # as in docs/plan.md


class TensorTable:

    def __init__(self, stop):
        self.stop = stop      # stop(error_class, message) ends the capture
        self.limit = LIMIT
        self.specs = []       # the plan's "tensors"
        self.geometries = []  # index -> geometry at the time when the tensor got its index
        self.by_id = {}       # id(tensor) -> index
        self.latest = {}      # geometry -> index of the latest tensor that has it
        self.storages = {}    # address of a storage -> its number
        self.storage_count = 0
        self.moved = {}       # address of a storage that was moved to the GPU -> a tensor over its new storage
        self.alive = []

    def storage_of(self, tensor):
        storage = tensor.untyped_storage()
        if storage._cdata not in self.storages:
            self.storages[storage._cdata] = self.storage_count
            self.storage_count += 1
            self.alive.append(storage)
        return self.storages[storage._cdata]

    def geometry_of(self, tensor):
        return (self.storage_of(tensor), tensor.dtype, tuple(tensor.shape), tensor.stride(), tensor.storage_offset())

    def known(self, tensor, geometry):
        index = self.by_id.get(id(tensor))
        return index if index is not None and self.geometries[index] == geometry else None

    def adopt(self, tensor):
        """Returns the index of an input or of a tensor that an operator returned. An unknown tensor gets a new index."""
        if tensor.layout != torch.strided:
            self.stop("not_captured", f"tensors of layout {tensor.layout} are not supported")
        geometry = self.geometry_of(tensor)
        index = self.known(tensor, geometry)
        if index is not None:
            return index
        if len(self.specs) >= self.limit:
            self.stop("not_captured", f"more than {self.limit} tensors")
        if len(tensor.shape) > 8:
            self.stop("not_captured", "a tensor of more than 8 dimensions")
        index = len(self.specs)
        storage, dtype, shape, stride, offset = geometry
        self.specs.append({"dtype": dtype_name(dtype), "shape": list(shape), "stride": list(stride), "offset": offset,
                           "storage": storage, "storage_bytes": tensor.untyped_storage().nbytes()})
        self.geometries.append(geometry)
        self.by_id[id(tensor)] = self.latest[geometry] = index
        self.alive.append(tensor)
        return index

    def index_of(self, tensor):
        """Returns the index of a tensor that is read. `a.data = b` turns `a` into `b` without any operator, so an unknown
        tensor has the index of the latest tensor with the same geometry."""
        geometry = self.geometry_of(tensor)
        index = self.known(tensor, geometry)
        if index is None:
            index = self.latest.get(geometry)
            if index is None:
                self.stop("not_captured", "a tensor that no recorded operator made")
            self.by_id[id(tensor)] = index
            self.alive.append(tensor)
        return index

    def at_address(self, address):
        """Returns the latest tensor on the GPU that begins at this address, or None."""
        found_storage = addresses.storage_at(address)
        for tensor in reversed(self.alive):
            if (found_storage and isinstance(tensor, torch.Tensor) and tensor.is_cuda and tensor.numel()
                    and addresses.address_of(tensor) == address):
                return tensor
        return None

    def move_to_gpu(self, tensor):
        """Does what `.cuda()` does to parameters and inputs before forward. In the plan it remains the same tensor.

        The caller must pause recording.
        """
        index = self.index_of(tensor)
        if tensor.is_cuda:
            return index
        old = tensor.untyped_storage()
        if old._cdata not in self.moved:
            self.moved[old._cdata] = torch.empty(old.nbytes(), dtype=torch.uint8, device="cuda")
        storage = self.moved[old._cdata].untyped_storage()
        self.storages[storage._cdata] = self.storages[old._cdata]
        with torch.no_grad():
            tensor.data = torch.empty(0, dtype=tensor.dtype, device="cuda").set_(
                storage, tensor.storage_offset(), tensor.shape, tensor.stride())
        tensor.fake_device = torch.device("cuda", 0)
        return index
