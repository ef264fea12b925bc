"""Calls libtritonsmith_jail.so: it makes the zygote's sandbox root and the guests' private folders, enters the jail, and keeps
memory that Python gives back."""

import ctypes
import json


class JailRefused(RuntimeError):
    """Says that a required layer does not hold on this machine. The process is only partly jailed and must end."""


class Jail:
    def __init__(self, library):
        self._library = ctypes.CDLL(library, use_errno=True)
        self._answer = ctypes.create_string_buffer(1 << 16)
        self._library.tritonsmith_make_private_folder.argtypes = [
            ctypes.c_char_p, ctypes.c_uint, ctypes.c_ulonglong]
        self._library.tritonsmith_remove_private_folder.argtypes = [ctypes.c_char_p]
        self._library.tritonsmith_remove_private_folder.restype = None

    def keep_memory(self):
        """Gives Python an allocator that keeps blocks of memory for its next requests (python_memory.h)."""
        self._library.tritonsmith_keep_memory(ctypes.pythonapi.PyObject_SetArenaAllocator)

    def _call(self, function, argument):
        function(json.dumps(argument).encode(), self._answer, ctypes.c_size_t(len(self._answer)))
        return json.loads(self._answer.value)

    def enter_sandbox_root(self, plan):
        """Enters the sandbox root. It returns why there is none, or an empty string."""
        return self._call(self._library.tritonsmith_enter_sandbox_root, plan)["why"]

    def enter(self, profile):
        """Enters the jail. It returns the layers that hold, and the layers that do not, with the reasons."""
        report = self._call(self._library.tritonsmith_enter_jail, profile)
        if report["why"]:
            raise JailRefused(report["why"])
        return report

    def make_private_folder(self, path, uid, size):
        if self._library.tritonsmith_make_private_folder(path.encode(), uid, size):
            raise OSError(f"cannot make the guest's folder {path}")

    def remove_private_folder(self, path):
        self._library.tritonsmith_remove_private_folder(path.encode())
