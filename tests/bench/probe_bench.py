"""The rows of probe points (agent/probe_preload): what a point adds to a loop, while not recorded and while recorded.
See common/shm/probe_file.h for the format of plans. Peers, in the same run: half of the cost of two LTTng-UST
tracepoints, and a uprobe that only counts. Tracy's client is in no package of Debian 12, so it is always missing."""

import os
import shutil
import statistics
import struct
import subprocess
import tempfile
from pathlib import Path

ROUNDS = 7
VERSION = 1
# The passes must fit into a ring. A hit takes 64 bytes, or 2,176 with a stack; half of the ring holds 240 of the
# latter.
PASSES, PASSES_WITH_STACK, PASSES_OFF = 4000, 200, 100_000


class ProbeBench:
    def __init__(self, bench):
        self.common = bench  # to measure peers
        self.program = bench.bench / "bench_probe_cost"
        self.library = bench.build / "lib" / "libfieldcost_probe.so"
        self.directory = Path(tempfile.mkdtemp(prefix="fieldcost-probe.", dir="/dev/shm"))

    def close(self):
        shutil.rmtree(self.directory, ignore_errors=True)

    def environment(self, stacks, ticks_to_ns):
        plan = struct.pack("<8sIIQQQQIIII64s256sI124s", b"fcprbpln", VERSION, 0, 512, 1, ticks_to_ns, 0, 0, stacks,
                           1, 0, b"", b"", 0, b"")
        (self.directory / "plan").write_bytes(plan)
        return {"LD_PRELOAD": str(self.library), "FIELDCOST_PROBE_DIR": str(self.directory)}

    def number(self, what, passes, environment=None):
        rounds = 400 if environment else 60
        try:
            done = subprocess.run([self.program, what, str(rounds), str(passes)], check=True, timeout=120, text=True,
                                  env={**os.environ, **(environment or {})}, stdout=subprocess.PIPE)
            if environment and not list(self.directory.glob("*.probe")):
                raise subprocess.SubprocessError("no reader has looked")
            return float(done.stdout)
        finally:
            for file in self.directory.glob("*.probe"):
                file.unlink()

    def uprobe(self):
        """A point from outside: a breakpoint, and a counter in the kernel."""
        script = f"uprobe:{self.program}:probe_cost_target {{ @hits = count(); }}"
        return self.common.under_bpftrace(script, lambda: self.number("call", 1000))

    def row(self, name, value, target, ok, peers=None):
        return {"row": 16, "name": f"probe, {name}", "unit": "ns", "value": value, "floor": None, "ratio": None,
                "target": target, "ok": ok, "peers": peers or {}}

    def probe(self):
        ticks = self.common.ticks_to_ns
        ways = {
            "off": lambda: self.number("point", PASSES_OFF),
            "on": lambda: self.number("point", PASSES, self.environment(0, ticks)),
            "value": lambda: self.number("value", PASSES, self.environment(0, ticks)),
            "event": lambda: self.number("event", PASSES // 2, self.environment(0, ticks)),
            "stack": lambda: self.number("point", PASSES_WITH_STACK, self.environment(1, ticks)),
            "clock": lambda: self.number("point", PASSES, self.environment(0, 0)),
        }
        seen = {name: [] for name in ways}
        for _ in range(ROUNDS):
            for name, run in ways.items():
                seen[name].append(run())
        at = {name: statistics.median(values) for name, values in seen.items()}
        pair = self.common.lttng()
        plain = self.common.number([self.common.bench / "bench_call_cost", "plain"])
        peers = {"LTTng-UST tracepoint": None if pair is None else (pair - plain) / 2, "bpftrace uprobe": self.uprobe(),
                 "Tracy": None}
        yield self.row("off", at["off"], "0.0 +- 0.03 ns", abs(at["off"]) <= 0.03)
        yield self.row("on", at["on"], "<= 30 ns", at["on"] <= 30, peers)
        yield self.row("on, with a value", at["value"], "-", True)
        yield self.row("on, an event's begin and end", at["event"], "-", True)
        yield self.row("on, with 2 KiB of stack", at["stack"], "<= 80 ns", at["stack"] <= 80)
        yield self.row("on, the TSC being no clock", at["clock"], "-", True)
