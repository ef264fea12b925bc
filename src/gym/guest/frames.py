"""Frames between the gym's processes: 4 bytes of length, little endian, then that many bytes (gym/wire/frame.h)."""

import array
import json
import socket
import struct

from .private import json_of, send_text

MAX_FDS = 8
PIECE = 16 << 20  # as in gym/referee/protocol/blocks.h


def _read_exactly(connection, size):
    parts = bytearray()
    while len(parts) < size:
        part = connection.recv(min(size - len(parts), 1 << 20))
        if not part:
            raise EOFError
        parts += part
    return bytes(parts)


def read(connection):
    """Returns the next frame's JSON. It raises EOFError if the other side closed the connection."""
    (size,) = struct.unpack("<I", _read_exactly(connection, 4))
    return json.loads(_read_exactly(connection, size))


def read_with_fds(connection):
    """Returns the next frame's JSON and the file descriptors that came with it."""
    space = socket.CMSG_SPACE(MAX_FDS * 4)
    head, ancillary, _, _ = connection.recvmsg(4, space, socket.MSG_CMSG_CLOEXEC)
    if not head:
        raise EOFError
    fds = array.array("i")
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.frombytes(data[: len(data) - len(data) % fds.itemsize])
    head += _read_exactly(connection, 4 - len(head)) if len(head) < 4 else b""
    (size,) = struct.unpack("<I", head)
    return json.loads(_read_exactly(connection, size)), list(fds)


def read_blocks(connection, sizes):
    """Returns blocks of these sizes. Each block arrives in frames of at most PIECE bytes."""
    blocks = []
    for size in sizes:
        block = bytearray()
        while len(block) < size:
            (piece,) = struct.unpack("<I", _read_exactly(connection, 4))
            block += _read_exactly(connection, piece)
        blocks.append(block)
    return blocks


def write_block(connection, block):
    block = memoryview(block)
    for start in range(0, len(block), PIECE):
        piece = block[start:start + PIECE]
        connection.sendall(struct.pack("<I", len(piece)))
        connection.sendall(piece)


def write(connection, value):
    write_text(connection, json_of(value))


def write_text(connection, text):
    """Sends a text. It replaces half of a surrogate pair, which UTF-8 cannot hold. json_of() writes no escapes, which would hide
    it from here."""
    send_text(connection, text)
