#!/usr/bin/env python3
"""Checks that two hosts train together as one process does, over Gloo between two network namespaces (network_hosts.py).

torchrun, Slurm's variables and MPI's variables start the ranks. The loss of a host, whether its processes are killed or its link
is cut, must end the job on the other host, which names the rank and its host. The job must then go on there alone.
"""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import network_hosts
from ranks import assert_same_learning, assert_same_steps
from runs import PROBE, call, make_data, sft_command

PORT = 29511
DEADLINE_S = 300


def start(host, command, **environment):
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "eth0", **environment}
    return subprocess.Popen(host.command(*(str(each) for each in command)), env=environment, text=True, start_new_session=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def by_torchrun(hosts, command):
    launcher = [sys.executable, "-m", "torch.distributed.run", "--nnodes", 2, "--nproc-per-node", 1, "--master-addr", hosts[0].address,
                "--master-port", PORT, "--no-python"]
    return [start(host, [*launcher, "--node-rank", rank, *command]) for rank, host in enumerate(hosts)]


def by_variables(names, **fixed):
    """A launcher that gives each process its rank in the first of `names` and the number of ranks in the second one."""
    def launch(hosts, command):
        rendezvous = {"MASTER_ADDR": hosts[0].address, "MASTER_PORT": str(PORT)}
        return [start(host, command, **{names[0]: str(rank), names[1]: "2"}, **fixed, **rendezvous) for rank, host in enumerate(hosts)]
    return launch


LAUNCHERS = {
    "torchrun": by_torchrun,
    "Slurm's variables": by_variables(("SLURM_PROCID", "SLURM_NTASKS"), SLURM_LOCALID="0", SLURM_TASKS_PER_NODE="1(x2)",
                                      SLURM_STEP_NUM_TASKS="2"),
    "MPI's variables": by_variables(("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), OMPI_COMM_WORLD_LOCAL_RANK="0",
                                    OMPI_COMM_WORLD_LOCAL_SIZE="1"),
}
BY_HAND = by_variables(("RANK", "WORLD_SIZE"), LOCAL_RANK="0", LOCAL_WORLD_SIZE="1")


def call_all(ranks):
    said = [rank.communicate(timeout=DEADLINE_S)[1] for rank in ranks]
    assert all(rank.returncode == 0 for rank in ranks), "\n".join(said)


def lose_second_host(hosts, command, run, lose, first_steps):
    """Loses the second host after some steps. Returns how long the first one took to end and to name it."""
    ranks = BY_HAND(hosts, command)
    give_up = time.monotonic() + DEADLINE_S
    while not (run / "steps.jsonl").exists() or (run / "steps.jsonl").read_bytes().count(b"\n") < first_steps:
        assert all(rank.poll() is None for rank in ranks), [rank.communicate()[1] for rank in ranks]
        assert time.monotonic() < give_up, "the run takes no steps"
        time.sleep(0.005)
    mend = lose(hosts[1], ranks[1])
    lost_at = time.monotonic()
    said = ranks[0].communicate(timeout=DEADLINE_S)[1]
    seconds = time.monotonic() - lost_at
    assert ranks[0].returncode == 3, said
    assert "rank 1 of 2 (on host2," in said and "is gone" in said, said
    mend()
    os.killpg(ranks[1].pid, signal.SIGKILL)
    ranks[1].communicate()
    return seconds


def kill(_, rank):
    os.killpg(rank.pid, signal.SIGKILL)
    return lambda: None


def cut_link(host, _):
    return host.cut("deaf and mute")


def main():
    why_not = network_hosts.enter()
    if why_not:
        print(f"network namespaces are not allowed here ({why_not}): skipped")
        return 77
    with tempfile.TemporaryDirectory(prefix="tritonsmith-hosts-") as name:
        folder = pathlib.Path(name)
        hosts = network_hosts.build(2, name, why_not)
        data = folder / "sft"
        data.mkdir()
        make_data(data, tasks=12, hidden_size=32, intermediate_size=64, num_hidden_layers=1, head_dim=8, vocabulary=400)
        settings = {"run__steps": 8, "data__step_tokens": 900, "optimizer__warmup_updates": 2, "checkpoint__every": 3}
        command = lambda run, **more: sft_command(data, folder / run, **{**settings, **more})
        call(*command("one"))
        for launcher, launch in LAUNCHERS.items():
            run = launcher.split("'")[0]
            call_all(launch(hosts, command(run)))
            difference = assert_same_learning(folder / "one", folder / run)
            print(f"sft: two hosts by {launcher} as one process, weights within {difference:.1e}", flush=True)
        more = {"run__steps": 60}
        call(*command("long", **more))
        for loss, lose in {"killed": kill, "cut off": cut_link}.items():
            run = loss.replace(" ", "-")
            seconds = lose_second_host(hosts, command(run, **more), folder / run, lose, 5)
            call(*command(run, **more))
            difference = assert_same_learning(folder / "long", folder / run)
            print(f"sft: host {loss}: named after {seconds:.1f} s; the other one went on alone, weights within {difference:.1e}", flush=True)
        model = folder / "rl-model"
        call(PROBE, "model", model)
        call(PROBE, "run", folder / "rl-one", model, 3)
        call_all(BY_HAND(hosts, [PROBE, "run", folder / "rl-two", model, 3]))
        assert_same_steps(folder / "rl-one", folder / "rl-two", ("reward/mean", "policy_loss", "grad_norm", "entropy"))
        print("rl: two hosts as one process", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
