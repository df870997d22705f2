"""The rows of the trace (agent/events_preload): the cost of an event, compared with writing each event to a log and
with uftrace. See common/shm/trace_file.h for the format of plans."""

import os
import shutil
import statistics
import struct
import subprocess
import tempfile
from pathlib import Path

ROUNDS = 5
VERSION, FUNCTIONS, BRANCHES = 1, 2, 4
ARENA = 256 << 20
# Paths, and the allowed ratio to a raw log. "in order" repeats the same order again and again.
PATHS = {("3",): ("500 in order", 1.35), ("6",): ("300,000 in order", 1.35),
         ("2", "random"): ("500 at random", 1.35), ("5", "random"): ("300,000 at random", None)}
OF_PEER = ("3",)


class TraceBench:
    def __init__(self, build, ticks_to_ns):
        self.bench = Path(build).resolve() / "bench"
        self.library = Path(build).resolve() / "lib" / "libfieldcost_events.so"
        self.ticks_to_ns = ticks_to_ns  # a function, called when needed
        self.directory = Path(tempfile.mkdtemp(prefix="fieldcost-trace.", dir="/dev/shm"))

    def close(self):
        shutil.rmtree(self.directory, ignore_errors=True)

    def number(self, program, *arguments, events=0):
        """Returns the CPU ns per event."""
        environment = dict(os.environ)
        if events:
            plan = struct.pack("<8sIIQQQII", b"fctrcpln", VERSION, events, 49, self.ticks_to_ns(), ARENA, 1, 0) + b"\0"
            (self.directory / "plan").write_bytes(plan)
            environment |= {"LD_PRELOAD": str(self.library), "FIELDCOST_TRACE_DIR": str(self.directory)}
        try:
            done = subprocess.run([self.bench / program, *arguments], env=environment, check=True, timeout=300,
                                  stdout=subprocess.PIPE, text=True)
            if events and not list(self.directory.glob("*.arena")):
                raise subprocess.SubprocessError(f"{program} was not traced")
            return float(done.stdout)
        finally:
            for arena in self.directory.glob("*.arena"):
                arena.unlink()

    def medians(self, variants):
        seen = {name: [] for name in variants}
        for _ in range(ROUNDS):
            for name, run in variants.items():
                seen[name].append(run())
        return {name: statistics.median(values) for name, values in seen.items()}

    def uftrace(self, arguments):
        if not shutil.which("uftrace"):
            return None
        data = self.directory / "uftrace.data"
        try:
            done = subprocess.run(["uftrace", "record", "--force", "--no-event", "-d", data,
                                   self.bench / "bench_trace_uftrace", *arguments],
                                  check=True, timeout=300, stdout=subprocess.PIPE, text=True)
            return float(done.stdout.split()[-1])
        except (subprocess.SubprocessError, ValueError, IndexError):
            return None
        finally:
            shutil.rmtree(data, ignore_errors=True)

    def trace_call(self):
        for arguments, (name, most) in PATHS.items():
            at = self.medians({
                "plain": lambda a=arguments: self.number("bench_trace_plain", *a),
                "raw": lambda a=arguments: self.number("bench_trace_raw", *a),
                "ours": lambda a=arguments: self.number("bench_trace_hooks", *a, events=FUNCTIONS),
            })
            value, floor = at["ours"] - at["plain"], at["raw"] - at["plain"]
            ok, peers, target = most is None or value <= most * floor, {}, "-" if most is None else f"<= {most} x floor"
            if arguments == OF_PEER:
                uftrace = self.uftrace(arguments)
                peers["uftrace"] = None if uftrace is None else uftrace - at["plain"]
                ok = ok and uftrace is not None and value <= peers["uftrace"] / 3
                target += ", 1/3 uftrace"
            yield {"row": 14, "name": f"trace_call, {name}", "unit": "ns", "value": value, "floor": floor,
                   "ratio": value / floor, "target": target, "ok": ok, "peers": peers}

    def trace_branch(self):
        at = self.medians({
            "plain": lambda: self.number("bench_trace_plain"),
            "ours": lambda: self.number("bench_trace_blocks", events=BRANCHES),
        })
        value = at["ours"] - at["plain"]
        yield {"row": 14, "name": "trace_branch", "unit": "ns", "value": value, "floor": None, "ratio": None,
               "target": "<= 25", "ok": value <= 25, "peers": {}}
