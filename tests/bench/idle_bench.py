"""The cost of `fieldcost idle` for a program that switches threads, and how much idle time it explains.

    ./tests/bench/run.sh idle      rows on an idle machine; peers: perf sched, offcputime as a bpftrace script

A switch: two threads on one CPU send each other a byte through pipes (perf bench), alternately plain and recorded; the
minimum of the rounds. An operation has two switches. The kernel part's share is measured by the kernel itself
(kernel.bpf_stats_enabled), in separate runs because this costs a little.
Explained: in a lock convoy (tests/victims/idle_convoy), all idle time of its CPU belongs to one lock; the peer has only
kernel call chains.
"""

import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

ROUNDS = 5
LOOPS = 200_000
MOST_NS_A_SWITCH = 400
MOST_READER_PERCENT = 3.0
LEAST_AT_LOCK = 99.0
LEAST_AT_SLEEP = 95.0
POINTS = 5.0  # tolerance for modes that sample at ticks
OFF_CPU = """
tracepoint:sched:sched_switch { @start[args->prev_pid] = nsecs; @stack[args->prev_pid] = ustack;
  if (@start[args->next_pid]) { @[@stack[args->next_pid]] = sum(nsecs - @start[args->next_pid]);
    delete(@start[args->next_pid]); delete(@stack[args->next_pid]); } }
END { clear(@start); clear(@stack); clear(@); }
"""


def run(*words, **options):
    return subprocess.run([str(word) for word in words], check=True, timeout=120, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, **options).stdout


def counts_of(text):
    """Returns the counts of a recording, from the remarks of `tree show`."""
    return {name: float(value) * (1e6 if unit else 1)
            for name, value, unit in re.findall(r"fieldcost: ([a-z ]+): ([\d.]+)( ms)?", text)}


class IdleBench:
    def __init__(self, build):
        self.build = Path(build)
        self.recorder = self.build / "bin/fieldcost-idle"
        self.cli = self.build / "bin/fieldcost"
        self.pipe = [shutil.which("taskset"), "-c", "0", shutil.which("perf") or "perf",
                     "bench", "sched", "pipe", "-T", "-l", str(LOOPS)]
        self.directory = tempfile.TemporaryDirectory(prefix="idle-bench")
        self.file = Path(self.directory.name) / "a.fct"

    def record(self, *command, mode="bpf"):
        return [self.recorder, "--output", self.file, "--mode", mode, "--tick", "2003003", "--", *command]

    def peers(self):
        perf = Path(self.directory.name) / "perf.data"
        yield "perf sched", ["perf", "sched", "record", "-q", "-g", "-o", perf, "--", *self.pipe]
        if shutil.which("bpftrace"):
            script = Path(self.directory.name) / "offcpu.bt"
            script.write_text(OFF_CPU)
            yield "offcputime", ["bpftrace", "-q", "-o", "/dev/null", "-c", " ".join(self.pipe), script]

    def micros(self, command):
        found = re.search(r"([\d.]+) usecs/op", run(*command))
        return float(found.group(1)) if found else float("nan")

    def row(self, name, unit, value, target, ok, floor=None, peers=None):
        ratio = value / floor if floor else None
        return {"row": 15, "name": f"idle, {name}", "unit": unit, "value": value, "floor": floor, "ratio": ratio,
                "target": target, "ok": ok, "peers": peers or {}}

    def switches(self):
        ways = {"plain": self.pipe, "ours": self.record(*self.pipe), **dict(self.peers())}
        least = dict.fromkeys(ways, float("inf"))
        for _ in range(ROUNDS):
            for name, command in ways.items():
                try:
                    least[name] = min(least[name], self.micros(command))
                except subprocess.SubprocessError:
                    least[name] = float("nan")
        plain = least.pop("plain")
        added = {name: (micros - plain) * 1000 / 2 for name, micros in least.items()}
        ours = added.pop("ours")
        yield self.row("a switch, all of it", "ns", ours, "less than its peers",
                       all(not ours > peer for peer in added.values()), plain * 1000 / 2,
                       {name: None if cost != cost else cost for name, cost in added.items()})

    def in_the_kernel(self):
        stats = Path("/proc/sys/kernel/bpf_stats_enabled")
        stats.write_text("1")
        try:
            least = float("inf")
            for _ in range(ROUNDS):
                run(*self.record(*self.pipe))
                counts = counts_of(run(self.cli, "tree", "show", self.file))
                least = min(least, counts["time in the kernel"] / counts["runs in the kernel"])
        finally:
            stats.write_text("0")
        yield self.row("a switch, in the kernel", "ns", least, f"<= {MOST_NS_A_SWITCH} ns",
                       least <= MOST_NS_A_SWITCH)

    def convoy(self):
        victim = Path(self.directory.name) / "idle_convoy"
        run("c++", "-std=c++20", "-O2", "-g", "-fno-optimize-sibling-calls", "-pthread",
            "tests/victims/idle_convoy.cc", "-o", victim)
        told = run(*self.record(victim, "--rounds", "2000", "--hold-us", "1000"))
        seconds, reader_ms = (float(re.search(form, told).group(1)) for form in (r"([\d.]+) s idle", r"(\d+) ms to"))
        shown = json.loads(subprocess.run([self.cli, "idle", "show", self.file, "--json"], check=True, timeout=60,
                                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)["all"]
        yield from self.shares("bpf", LEAST_AT_LOCK, LEAST_AT_SLEEP)
        stacks = counts_of(run(self.cli, "tree", "show", self.file))["stacks"]
        # The rounds take two seconds; idle time is summed over all CPUs.
        a_second = 1000 * stacks / (2000 * 1.0)
        percent = 100 * reader_ms / 2000 * 1000 / a_second
        yield self.row(f"reader, of {a_second:.0f} stacks/s a thousand", "%", percent,
                       f"<= {MOST_READER_PERCENT:.0f} % of a core", percent <= MOST_READER_PERCENT)
        perf = Path(self.directory.name) / "perf.data"
        run("perf", "sched", "record", "-q", "-g", "-o", perf, "--", victim, "--rounds", "500")
        peer = run("perf", "sched", "timehist", "-I", "-s", "-i", perf)
        idle = [float(ms) for ms in re.findall(r"CPU +\d+ idle for +([\d.]+) +msec", peer)]
        futex = sum(float(ms) for ms in re.findall(r"^ +([\d.]+) +\d+ +futex", peer, re.MULTILINE))
        explained = 100 * int(shown["explained"]) / int(shown["idle"])
        most_ns = 0.02 * int(shown["idle"]) + 20e6
        yield self.row("idle of all CPUs explained", "%", explained, "all but 2 % + 20 ms",
                       int(shown["idle"]) - int(shown["explained"]) <= most_ns,
                       peers={"perf sched, kernel's futex alone": 100 * futex / sum(idle) if idle else None})
        yield self.row("idle time reported", "s", seconds, "no target", True)
        for mode in ("unprivileged", "literal"):
            # Idle periods of several ticks: during shorter ones, a stack is rarely read in time.
            told = run(*self.record(victim, "--rounds", "200", "--hold-us", "10000", mode=mode))
            yield from self.shares(mode, LEAST_AT_LOCK - POINTS, LEAST_AT_SLEEP - POINTS)
            reader_ms = float(re.search(r"(\d+) ms to", told).group(1))
            yield self.row(f"{mode}, reader and looks", "%", 100 * reader_ms / 2000, "no target", True)

    def shares(self, mode, least_to, least_from):
        for side, functions, least in (("to", ["WaitForLock", "[lock]"], least_to),
                                       ("from", ["HoldAndSleep", "[sleep]"], least_from)):
            folded = run(self.cli, "idle", "show", self.file, "--side", side, "--folded")
            costs = [line.rsplit(" ", 1) for line in folded.splitlines() if not line.startswith("fieldcost:")]
            total = sum(int(cost) for _, cost in costs)
            at = sum(int(cost) for stack, cost in costs if all(name in stack for name in functions))
            yield self.row(f"{mode}, {side} at {functions[0]}", "%", 100 * at / total if total else float("nan"),
                           f">= {least:.0f} %", total > 0 and 100 * at >= least * total)

    def idle(self):
        """The rows for bench.py."""
        yield from self.switches()
        yield from self.in_the_kernel()
        yield from self.convoy()
