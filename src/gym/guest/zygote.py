"""The zygote is a warm Python process. Every guest and every compile worker is a fork of it.

Theory of operation
-------------------
    tritonsmith (C++, one poll loop: gym/capture/)
      |  control socket (fd 3): "fork", "kill" down; "ready", "forked", "exited" up
      zygote   this file. pid 1 of its own PID namespace where permitted; torch and the kernel languages
      |        imported and warmed, no CUDA context, one thread, no secret in its memory (guests inherit all of it).
      |        stderr is a pipe that tritonsmith keeps the tail of.
      +- guest     one per candidate. Its first act is the jail; then it reads one request from its own
      |            socket, captures, writes one reply and ends. A shared guest goes on to the next request.
      +- worker    long lived, jailed likewise but able to start a compiler's programs: worker.py.

tritonsmith makes each guest's socket pair and output pipes, and sends one end of each with "fork". The zygote keeps none
of them, so the other ends close when the guest dies. Only the zygote reaps. It reports the wait status on the control
socket, which no guest holds, so no guest can forge its own status. It also kills guests on request, because only the
process that reaps knows that a pid still means the same process. If the control socket closes or tritonsmith dies, the
zygote ends, and all guests end with it (parent-death signals, and the PID namespace).

Each guest has a private folder, in memory if mounts are permitted. The zygote removes it after it reaped the guest.
"""

import ctypes
import gc
import importlib
import os
import random
import select
import signal
import socket
import sys
import tempfile
import time
from pathlib import Path

from tritonsmith_guest import frames, huge_pages, languages, private, worker
from tritonsmith_guest.jail import Jail, JailRefused

CONTROL_FD = 3
MIB = 1 << 20
SELDOM = 20_000  # a guest lives for less than a second; collecting after each 700 new objects took a tenth of it
MANY = 32  # guests, whose forks and exits cost about as much time in small pages as the move to huge pages takes
SYSTEM_TREES = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/alternatives",
                "/etc/localtime", "/sys/devices/system/cpu"]
PROC_FILES = ["/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/sys/vm", "/proc/sys/kernel"]


def readable_trees(config):
    """Returns the folders that Python and its packages are read from, and those that the user shows to tasks."""
    trees = set(SYSTEM_TREES)
    trees.update((sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix))
    trees.update(path for path in sys.path if path and os.path.isdir(path))
    trees.update(config["packages"])
    trees.update(config["data"])
    trees.update(path for path in os.environ.get("LD_LIBRARY_PATH", "").split(":") if path)
    return sorted(os.path.abspath(path) for path in trees if path != "/")


def reachable_by_others(path):
    """Whether every user may enter the folder `path` and all folders above it."""
    path = os.path.abspath(path)
    while True:
        if not os.stat(path).st_mode & 0o001:
            return False
        if path == "/":
            return True
        path = os.path.dirname(path)


def thread_names():
    return [Path(f"/proc/self/task/{thread}/comm").read_text().strip() for thread in os.listdir("/proc/self/task")]


def milliseconds_since(start_ns):
    return (time.monotonic_ns() - start_ns) / 1e6


class Zygote:
    def __init__(self, control, config):
        self.control = control
        self.config = config
        self.jail = Jail(config["jail_library"])
        self.jail.keep_memory()  # before the large imports
        self.no_driver = ctypes.CDLL(config["no_driver"])  # must be loaded before torch looks for a CUDA driver
        self.guests = {}  # pidfd -> (id, pid, folder)
        self.forks = 0
        self.null = os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC)
        self.poller = select.poll()
        self.poller.register(control, select.POLLIN)

    # Start-up.

    def settle(self):
        """Imports the large modules, enters the sandbox root and warms up. Returns the "ready" message."""
        start = time.monotonic_ns()
        gc.disable()  # almost all objects that imports make stay; collections would search them again and again
        self.trees = readable_trees(self.config)
        self.folders = self.config["folders"]
        sys.path[:0] = self.config["packages"]
        self.warm_module = importlib.import_module(self.config["warm_module"])
        self.warm_module.preload(self.config["bytecode_folder"])
        why_no_namespaces = "" if self.config["own_namespaces"] else "not permitted here"
        why_no_root = "needs namespaces"
        if not why_no_namespaces:
            why_no_root = self.jail.enter_sandbox_root({"staging": self.config["staging"], "readable": self.trees})
        self.outside = [{"name": "namespaces", "why": why_no_namespaces}, {"name": "sandbox_root", "why": why_no_root}]
        if not why_no_root:
            self.folders = "/tmp"
        # Without a sandbox root, a slot's user may be unable to read the environment, for example if it lies below /root.
        self.may_change_user = not why_no_root or all(
            reachable_by_others(path) for path in [sys.prefix, *self.config["packages"]])
        os.umask(0o077)
        self.warm_up()
        return {"event": "ready", "no_sandbox_root": why_no_root, "warm_ms": milliseconds_since(start),
                "python": sys.version.split()[0], **self.versions()}

    def warm_up(self):
        warm = tempfile.mkdtemp(prefix="zygote-", dir=self.folders)
        os.environ.update(HOME=warm, TMPDIR=warm, **languages.environment(warm))
        self.reply_to = private.replier(importlib.import_module(self.config["capture_module"]).capture)
        self.compile_kernel = importlib.import_module(self.config["compile_module"]).compile_kernel
        self.warm_module.warm()
        if "numpy" in sys.modules:
            importlib.import_module("numpy.random")  # numpy loads it late; every guest reseeds it
        gc.collect()
        if len(names := thread_names()) != 1:
            raise RuntimeError(f"the zygote has {len(names)} threads after warm-up ({', '.join(names)}); "
                               "only one survives a fork")
        torch = sys.modules.get("torch")
        if torch is not None and torch.cuda._initialized:
            raise RuntimeError("warm-up initialised CUDA, which does not survive a fork")
        gc.freeze()
        gc.set_threshold(SELDOM)
        gc.enable()

    @staticmethod
    def versions():
        return {name: getattr(sys.modules.get(name), "__version__", "") for name in ("torch", *languages.PACKAGES)}

    # The loop.

    def serve(self):
        while True:
            for fd, _ in self.poller.poll():
                if fd == self.control.fileno():
                    self.obey()
                elif fd in self.guests:
                    self.reap(fd)

    def obey(self):
        order, fds = frames.read_with_fds(self.control)
        if order["order"] == "fork":
            self.fork(order, fds)
        elif order["order"] == "kill":
            self.kill(order["id"])

    def fork(self, order, fds):
        start = time.monotonic_ns()
        uid = order["uid"] if self.may_change_user else 0
        folder = f"{self.folders}/guest-{order['id']}"
        self.jail.make_private_folder(folder, uid, order["tmp_bytes"])
        zygote_pid = os.getpid()
        pid = os.fork()
        if pid == 0:
            exit_code = 70
            try:
                exit_code = self.become_guest(order, fds, uid, folder, zygote_pid, start)
            finally:
                os._exit(exit_code)
        for fd in fds:
            os.close(fd)
        pidfd = os.pidfd_open(pid)
        self.guests[pidfd] = (order["id"], pid, folder)
        self.poller.register(pidfd, select.POLLIN)
        frames.write(self.control, {"event": "forked", "id": order["id"]})
        self.forks += 1
        if self.forks == MANY:
            huge_pages.collapse_all()

    def kill(self, guest_id):
        for pidfd, (known_id, _, _) in self.guests.items():
            if known_id == guest_id:
                signal.pidfd_send_signal(pidfd, signal.SIGKILL)

    def reap(self, pidfd):
        guest_id, pid, folder = self.guests.pop(pidfd)
        self.poller.unregister(pidfd)
        _, status, usage = os.wait4(pid, 0)
        os.close(pidfd)
        self.jail.remove_private_folder(folder)
        frames.write(self.control, {"event": "exited", "id": guest_id, "status": status,
                                    "cpu_ms": 1e3 * (usage.ru_utime + usage.ru_stime),
                                    "max_rss_kib": usage.ru_maxrss})
        self.reap_orphans()

    def reap_orphans(self):
        """Reaps grandchildren that outlived their parent. They become the zygote's children if the zygote is pid 1."""
        known = {pid for _, pid, _ in self.guests.values()}
        if os.getpid() == 1 and not known:
            try:
                while os.waitpid(-1, os.WNOHANG) != (0, 0):
                    pass
            except ChildProcessError:
                pass

    # In the child.

    def become_guest(self, order, fds, uid, folder, zygote_pid, start):
        comms_fd, out_fd, err_fd = fds
        for target, source in enumerate((self.null, out_fd, err_fd)):
            os.dup2(source, target)
        forked = time.monotonic_ns()
        connection = socket.socket(fileno=comms_fd)
        self.settle_in(folder)
        try:
            report = self.jail.enter(self.profile(order, uid, folder, comms_fd, zygote_pid))
        except JailRefused as refusal:
            frames.write(connection, {"refused": str(refusal)})
            return 71
        frames.write(connection, {"held": report["held"], "missing": report["missing"],
                                  "fork_ms": (forked - start) / 1e6, "jail_ms": milliseconds_since(forked)})
        if order["role"] == "compile":
            return worker.serve(connection, self.compile_kernel)
        self.reply_to(frames.read(connection), connection)
        while order.get("shared"):
            self.reply_to(frames.read(connection), connection)
        return 0

    def settle_in(self, folder):
        """Sets what must differ between guests: folders, and the seeds of the random generators."""
        os.environ.update(HOME=folder, TMPDIR=folder, TORCHINDUCTOR_CACHE_DIR=f"{folder}/inductor",
                          **languages.environment(folder))
        tempfile.tempdir = None
        os.chdir(folder)
        seed = int.from_bytes(os.urandom(4), "little")
        random.seed(seed)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(seed)
        if "torch" in sys.modules:
            sys.modules["torch"].default_generator.manual_seed(seed)

    def profile(self, order, uid, folder, comms_fd, zygote_pid):
        profile = dict(self.config["profiles"][order["role"]])
        required = list(profile["required"])
        if order["uid"] and not uid:
            required.append("landlock")  # for root without capabilities, only Landlock guards root's files
        profile.update(role=order["role"], uid=uid, required=required, keep_fds=[comms_fd], parent_pid=zygote_pid,
                       outside=self.outside,
                       readable=[*self.trees, *PROC_FILES, "/dev/zero", "/dev/urandom", "/dev/random"],
                       writable=[folder, "/dev/null"],
                       executable=worker.programs() if order["role"] == "compile" else [])
        return profile


def main():
    vars(sys.modules["__main__"]).pop("zygote", None)  # a candidate can reach what the first module names
    control = socket.socket(fileno=CONTROL_FD)
    config = frames.read(control)
    zygote = Zygote(control, config)
    try:
        ready = zygote.settle()
    except BaseException as error:
        frames.write(control, {"event": "failed", "why": f"{type(error).__name__}: {error}"[:2000]})
        return 1
    frames.write(control, ready)
    try:
        zygote.serve()
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass  # tritonsmith ended, or asks the zygote to end
    os._exit(0)
