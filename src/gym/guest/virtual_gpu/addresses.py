"""Addresses of fake tensors. Fake memory has none, so this module gives each storage an address of its own.

Storages lie one after the other, as a GPU's allocator lays them out, in multiples of 512 bytes. So two tensors answer
`data_ptr()` alike only if they begin at the same byte of the same memory. No plan holds an address.
"""

FIRST = 0x7F3A00000000
ALIGNMENT = 512  # of CUDA's caching allocator
GAP = 2 << 20

_addresses = {}  # address of a storage in torch -> (its address here, the storage, kept alive so that no other takes its name)
_next = FIRST


def address_of_storage(storage):
    """Returns the address of a storage's first byte."""
    global _next
    if storage._cdata not in _addresses:
        _addresses[storage._cdata] = _next, storage
        _next += -(-storage.nbytes() // ALIGNMENT) * ALIGNMENT + GAP
    return _addresses[storage._cdata][0]


def address_of(tensor):
    """Returns the address of a tensor's first element. A tensor without elements has none, as in torch."""
    if tensor.numel() == 0:
        return 0
    return address_of_storage(tensor.untyped_storage()) + tensor.storage_offset() * tensor.element_size()


def storage_at(address):
    """Returns the storage that holds this address and the offset in bytes, or None if there is no such storage."""
    for first, storage in _addresses.values():
        if first <= address < first + max(storage.nbytes(), 1):
            return storage, address - first
    return None
