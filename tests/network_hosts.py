"""Hosts on one machine: network namespaces that a router connects by one link each, with links that can be cut and clocks that
can be shifted. The tests of a gym on many hosts use it.

`enter()` starts the caller's program again as the router, in network and mount namespaces of its own. So everything ends with
the program, and nothing is left on the machine. Where namespaces are not allowed, `Host` stands for the machine itself: its
programs run side by side, its link is never cut, and `why_not` says so.
"""

import os
import random
import struct
import subprocess
import sys

INSIDE = "TRITONSMITH_TEST_ROUTER"  # set in the program that runs in the router's namespaces
WRONG_HARDWARE = "02:00:00:00:00:01"


def enter():
    """Becomes the router, if this machine allows it. Returns why not, or an empty text inside."""
    if os.environ.get(INSIDE):
        subprocess.run(["mount", "-t", "tmpfs", "none", "/run"], check=True)
        ip("link", "set", "lo", "up")
        with open("/proc/sys/net/ipv4/ip_forward", "w") as file:
            file.write("1")
        return ""
    namespaces = ["unshare", "--net", "--mount", "--propagation", "private"]
    try:
        probe = subprocess.run([*namespaces, "sh", "-c", "mount -t tmpfs none /run && ip netns add probe"], capture_output=True, text=True)
    except FileNotFoundError as error:
        return str(error)
    if probe.returncode != 0:
        return (probe.stderr.strip() or "unshare fails").splitlines()[-1]
    os.environ[INSIDE] = "1"
    os.execvp("unshare", [*namespaces, sys.executable, *sys.argv])


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True)


def shifting_library(folder):
    """Compiles shifted_clock.c. (libfaketime fails in a Redis server, whose allocator reads the clock while it starts.)"""
    library = os.path.join(folder, "shifted_clock.so")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "shifted_clock.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source], check=True)
    return library


class Host:
    """Host number `number`, from 1. `folder` holds the file that shifts its clock."""

    def __init__(self, number, folder, why_not):
        self.number, self.is_apart, self.cuts, self.shifts = number, not why_not, 0, 0
        self.address = f"10.77.{number}.2" if self.is_apart else "127.0.0.1"
        self.library, self.clock = os.path.join(folder, "shifted_clock.so"), os.path.join(folder, f"clock-{number}")
        with open(self.clock, "wb") as file:
            file.write(struct.pack("i", 0))
        if self.is_apart:
            self.build_link()

    def build_link(self):
        self.name, self.link, self.router = f"host{self.number}", f"link{self.number}", f"10.77.{self.number}.1"
        ip("netns", "add", self.name)
        ip("link", "add", self.link, "type", "veth", "peer", "name", "eth0", "netns", self.name)
        ip("addr", "add", f"{self.router}/24", "dev", self.link)
        ip("link", "set", self.link, "up")
        ip("-n", self.name, "addr", "add", f"{self.address}/24", "dev", "eth0")
        ip("-n", self.name, "link", "set", "lo", "up")
        ip("-n", self.name, "link", "set", "eth0", "up")
        ip("-n", self.name, "route", "add", "default", "via", self.router)

    def command(self, *words):
        """The command line that runs these words on this host."""
        if not self.is_apart:
            return list(words)
        return ["nsenter", f"--net=/run/netns/{self.name}", "unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"', self.name, *words]

    def environment(self):
        """What makes a program see this host's clock."""
        return {"LD_PRELOAD": self.library, "SHIFTED_CLOCK": self.clock}

    def shift_clock(self, seconds):
        self.shifts += 1 if seconds else 0
        with open(self.clock, "r+b") as file:
            file.write(struct.pack("i", seconds))

    def cut(self, way=None):
        """Cuts the link in this way, or in one of four at random. Returns the function that mends it."""
        if not self.is_apart:
            return lambda: None
        self.cuts += 1
        way = way or random.choice(["down", "deaf", "mute", "deaf and mute"])
        if way == "down":  # both sides know at once
            ip("link", "set", self.link, "down")
            return lambda: ip("link", "set", self.link, "up")
        # A deaf host gets no replies, and what a mute one says arrives nowhere. No side is told.
        lost = {"deaf": ([], self.address, self.link), "mute": (["-n", self.name], self.router, "eth0")}
        chosen = [lost[each] for each in lost if each in way]
        for namespace, address, device in chosen:
            ip(*namespace, "neigh", "replace", address, "lladdr", WRONG_HARDWARE, "dev", device, "nud", "permanent")
        return lambda: [ip(*namespace, "neigh", "del", address, "dev", device) for namespace, address, device in chosen]


def build(count, folder, why_not):
    shifting_library(folder)
    return [Host(number, folder, why_not) for number in range(1, count + 1)]
