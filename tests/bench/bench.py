"""Runs the benchmarks of tests/bench and prints a table, or with --json one object per line.

Every value is a median of interleaved rounds on this machine, and every row includes the floor and the
peers measured in the same run: compare ratios, not absolute times. A peer that is not installed or
does not work here is reported as null ("missing" in the table), never omitted.

  row 1  call       CPU ns of a measured call      floor: two ordered time stamps + a bucket update, inline
  row 1  known_cost ns recorded of a known cost    floor: the same, timed from outside
  row 2  unpicked   CPU ns of an unpicked call     floor: the same call without the agent
  row 3  sampled    CPU ns, 1 in 16 calls timed    floor: the same call without the agent
  row 3  budget     CPU ms of a tight loop         floor: the same loop without the agent
  row 4  start      wall µs of starting a program  floor: an empty preload library
  row 5  programs   wall ms, 1 run in 16 measured  floor: the same programs without the agent
  row 6  daemon     the daemon with nothing to do  no floor: memory, CPU time, wake-ups
  row 7  ingest     bucket-adds per second         floor: decode and sum in memory, one core. And memory, and
                    bytes written per acknowledged byte
  row 8  ack_latency ms until acknowledged, p99    floor: fdatasync of 128 KiB, p99, + CPU time of a batch;
                    also the median and p99.9
  row 9  publish    wall s of publishing 1 M rows  floor: reading them from the store
  row 7, 9 scaling  growth of costs at 8 x size    floor: proportional growth
  row 10 lookup      CPU µs of a look-up, 1 M APIs, p99; floor: the same rows from SQLite, not decoded
  row 10 lsp_hover  wall ms of a hover, 1 M APIs, p99; floor: a hover on a comment. Each after an edit
  row 11 fragments  bytes of a published row, of the demo and of made-up rows of 7 buckets; no floor; per API;
                    CPU ns of decoding a row, and µs of an API's rows as the catalogue stores them
  row 12 anomaly    CPU ms of comparing 500 APIs   no floor: one core, machines that differ, and alike
  row 13 lab_passes  passes per scenario            floor: the APIs that share a stack
  row 13 lab_map     CPU ns per call of the map     no floor
  row 13 lab_start   CPU ms of 4,000 candidates     no floor: extrapolated from curl
  row 13 lab_undisturbed  a timed API in its group  floor: the same API timed alone
  row 13 lab_peers   wall ms of a scenario          floor: the plain scenario; peers: uftrace, ltrace
  row 14 recording  µs of an interval of 10 M samples; floor: a plain scan of the same samples. And ns and
                    bytes for appending a sample: no floor
  row 14 trace_call  CPU ns that tracing adds to a call  floor: a log of 32 bytes per call; peer: uftrace
  row 14 trace_branch  CPU ns that it adds to a block  no floor
  row 14 trace_sampling  % that sampled stacks add to a program's CPU time; peer: perf record. Its table
                    goes to standard error
  row 14 planted_change  how often tree compare finds a planted change in ten real runs per side, and nothing
                    else; and nothing in equal builds. Over an hour; only if named
  row 14 tree       CPU ms of adding ten runs of 220,000 paths, four metrics; no floor; peer: Go's pprof with the
                    same files. And µs of unwinding a stack; peer: perf script --no-inline
  row 15 idle       ns that `fieldcost idle` adds to a switch of threads; peers: perf sched, bpftrace. And how
                    much idle time of a lock convoy it explains, and what its reader costs
  row 16 probe      ns that a probe point adds: not recorded, recorded, with 2 KiB of stack; no floor;
                    peers: LTTng-UST, a uprobe
  row 16 probe_rate  points per second that a thread passes for one second without loss
  row 16 probe_planted  how often probe compare names a step of equal programs, and a planted change; 15
                    minutes; only if named
  row -  lab_plan   CPU ms of grouping 4,096 APIs  no floor: one core, the slowest of five graphs
  row -  fleet      requests per hour at a server  floor: its busiest hour before an outage
                    after a month's outage, of 100,000 agents on a virtual clock
  row -  soak       MiB per minute that the service grows in the last half of 10 minutes under all loads at
                    once (--minutes); only if named

Examples:
  ./tests/bench/run.sh                 all benchmarks
  ./tests/bench/run.sh call --json     one benchmark, as JSON
Exit status: 0 if every target is met, 1 if one is missed, 2 if a benchmark could not run.
"""

import argparse
import functools
import json
import os
import re
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import known_cost
import lsp_hover
import soak
from aggregator_bench import AggregatorBench
from idle_bench import IdleBench
from lab_bench import LabBench
from planted_change import PlantedBench
from probe_bench import ProbeBench
from probe_planted import ProbePlantedBench
from probe_rate import ProbeRateBench
from report import Report
from sampler_bench import SamplerBench
from trace_bench import TraceBench
from tree_rows import TreeBench

ROUNDS = 7


class Bench:
    def __init__(self, build):
        self.build = Path(build).resolve()
        self.bench = self.build / "bench"
        self.preload = self.build / "lib" / "libfieldcost_preload.so"
        self.state = Path(tempfile.mkdtemp(prefix="fieldcost-bench."))
        self.memory = Path(tempfile.mkdtemp(prefix="fieldcost-bench.", dir="/dev/shm"))

    @functools.cached_property
    def ticks_to_ns(self):
        return int(self.number([self.bench / "bench_known_cost", "clock"]))

    def policy(self, selection, modules, sampling_log2=0, overhead_per_65536=0):
        """Writes a policy file (common/shm/LAYOUT.md and policy_file.h) with one permanent pick. Limits are
        unreachable rather than absent, so that the results include their cost."""
        (self.memory / "runs").mkdir(exist_ok=True)
        for old in (self.memory / "runs").iterdir():
            old.unlink()
        memory = bytes(self.memory)
        header = b"fcpolicy" + struct.pack(
            "<10IQ10IQ6I512s",
            1, 640 + 64 * len(modules),  # version, size
            0, 1, selection, 1,  # serial, enabled, selection, picks
            80 * 1000, 64 * 1000, 0, len(modules), self.ticks_to_ns,  # load, run files, allocation
            0, 65536, 64, 10000,  # weights, default weight, leases, pressure
            overhead_per_65536, 0, 0, sampling_log2, 0, 1,  # I/O, cycles; phase, phases
            0, 0, 0, len(memory), 0, 0, 0, memory)  # seed, data slots, weights' policy, memory, pause, documented
        names = b"".join(m.encode().ljust(64, b"\0") for m in sorted(modules))
        (self.state / "policy").write_bytes(header + names)

    def number(self, command, **environment):
        done = subprocess.run([str(c) for c in command], env={**os.environ, **environment},
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True, timeout=300)
        return float(done.stdout.decode().split()[-1])

    def agent(self, pick=None):
        environment = {"LD_PRELOAD": str(self.preload), "FIELDCOST_STATE_DIR": str(self.state)}
        if pick:
            environment["FIELDCOST_PICK"] = pick
        return environment

    def medians(self, variants):
        """Interleaves the variants (name -> function that returns a number); returns the median of each."""
        seen = {name: [] for name in variants}
        for _ in range(ROUNDS):
            for name, run in variants.items():
                seen[name].append(run())
        return {name: statistics.median(values) for name, values in seen.items()}

    def uftrace(self):
        if not shutil.which("uftrace"):
            return None
        data = self.state / "uftrace.data"
        try:
            return self.number(["uftrace", "record", "--force", "--no-event", "-d", data,
                                self.bench / "bench_call_cost", "plain", "11"])
        except subprocess.SubprocessError:
            return None
        finally:
            shutil.rmtree(data, ignore_errors=True)

    def uprobe(self):
        where = f"{self.bench}/libbench_library.so:bench_target"
        script = f"uprobe:{where} {{ @start[tid] = nsecs; }} uretprobe:{where} {{ @cost = hist(nsecs - @start[tid]); }}"
        return self.under_bpftrace(script, lambda: self.number([self.bench / "bench_call_cost", "plain", "11"]))

    def under_bpftrace(self, script, number):
        """Returns number() while the script's probes are attached; None if attaching fails."""
        if not shutil.which("bpftrace"):
            return None
        tracer = subprocess.Popen(["bpftrace", "-e", script + " BEGIN { printf(\"attached\\n\"); }"],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            for line in tracer.stdout:
                if line.startswith(b"attached"):
                    return number()
            return None
        except subprocess.SubprocessError:
            return None
        finally:
            tracer.send_signal(signal.SIGINT)
            try:
                tracer.communicate(timeout=30)
            except subprocess.TimeoutExpired:
                tracer.kill()
                tracer.communicate()

    def lttng(self):
        """The call between two tracepoints, recorded into a ring buffer that is never read."""
        program = self.bench / "bench_lttng_cost"
        if not (program.exists() and shutil.which("lttng") and shutil.which("lttng-sessiond")):
            return None
        home = self.state / "lttng"
        home.mkdir()
        environment = {**os.environ, "LTTNG_HOME": str(home)}
        pid_file = home / "pid"
        session = f"fieldcost-bench-{os.getpid()}"

        def run(*command):
            subprocess.run([str(c) for c in command], env=environment, check=True, timeout=60,
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        try:
            run("lttng-sessiond", "--no-kernel", "--background", "--pidfile", pid_file)
        except subprocess.SubprocessError:
            pass  # one is already running: use it
        try:
            run("lttng", "create", session, "--snapshot", f"--output={home}/out")
            run("lttng", "enable-channel", "-u", "-s", session, "--subbuf-size", "1M", "--num-subbuf", "4", "ring")
            run("lttng", "enable-event", "-u", "-s", session, "-c", "ring", "fieldcost_bench:*")
            run("lttng", "start", session)
            return self.number([program, "11"], LTTNG_HOME=str(home), LTTNG_UST_REGISTER_TIMEOUT="-1")
        except (subprocess.SubprocessError, OSError):
            return None
        finally:
            subprocess.run(["lttng", "destroy", session], env=environment, timeout=60,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            if pid_file.exists():
                os.kill(int(pid_file.read_text()), signal.SIGTERM)

    def ltrace(self):
        """In wall time, because another process does the work."""
        if not shutil.which("ltrace"):
            return None
        try:
            return self.number(["ltrace", "-o", "/dev/null", "-e", "bench_target",
                                self.bench / "bench_call_cost", "wall", "1"])
        except subprocess.SubprocessError:
            return None

    def call(self):
        program = self.bench / "bench_call_cost"
        self.policy(65536, ["libbench_library.so"])
        picked = self.agent("libbench_library.so!bench_target")
        at = self.medians({
            "plain": lambda: self.number([program, "plain"]),
            "floor": lambda: self.number([program, "floor"]),
            "measured": lambda: self.number([program, "plain"], **picked),
        })
        uftrace, uprobe = self.uftrace(), self.uprobe()
        value, floor = at["measured"], at["floor"]
        ok = value <= 1.2 * floor
        ok = ok and uftrace is not None and value <= uftrace / 2
        ok = ok and uprobe is not None and value <= uprobe / 40
        yield {"row": 1, "name": "call", "unit": "ns", "value": value, "floor": floor,
               "ratio": value / floor, "target": "<= 1.20 x floor, 1/2 uftrace, 1/40 uprobe pair",
               "ok": ok, "peers": {"plain call": at["plain"], "uftrace": uftrace,
                                   "bpftrace uprobe pair": uprobe,
                                   "LTTng-UST tracepoint pair": self.lttng(),
                                   "ltrace (wall)": self.ltrace()}}

    def known_cost(self):
        return known_cost.rows(self)

    def unpicked(self):
        program = self.bench / "bench_call_cost"
        self.policy(65536, ["libbench_library.so"])
        other = self.agent("libbench_library.so!bench_other")
        at = self.medians({
            "plain": lambda: self.number([program, "plain", "2001"]),
            "unpicked": lambda: self.number([program, "plain", "2001"], **other),
        })
        ratio = at["unpicked"] / at["plain"]
        yield {"row": 2, "name": "unpicked", "unit": "ns", "value": at["unpicked"],
               "floor": at["plain"], "ratio": ratio, "target": "1.00 +- 0.05 (noise)",
               "ok": abs(ratio - 1) <= 0.05, "peers": {}}

    def sampled(self):
        program = self.bench / "bench_call_cost"
        self.policy(65536, ["libbench_library.so"], sampling_log2=4)
        picked = self.agent("libbench_library.so!bench_target")
        at = self.medians({
            "plain": lambda: self.number([program, "plain", "1001"]),
            "sampled": lambda: self.number([program, "plain", "1001"], **picked),
        })
        value, floor = at["sampled"], at["plain"]
        yield {"row": 3, "name": "sampled, 1 in 16 timed", "unit": "ns", "value": value, "floor": floor,
               "ratio": value / floor, "target": "<= plain + 3.5 ns", "ok": value <= floor + 3.5,
               "peers": {}}

    def budget(self):
        """A tight loop over one picked, empty function, with the default budget of 1 %."""
        loop = self.bench / "bench_loop"
        self.policy(65536, ["libbench_library.so"], overhead_per_65536=655)
        at = self.medians({
            "without": lambda: self.number([loop, "200000000"]),
            "with": lambda: self.number([loop, "200000000"], **self.agent()),
        })
        value, floor = at["with"], at["without"]
        runs = len(list((self.memory / "runs").iterdir()))
        yield {"row": 3, "name": "tight loop, budget 1 %", "unit": "ms", "value": value, "floor": floor,
               "ratio": value / floor, "target": "<= 1.01", "ok": value / floor <= 1.01 and runs > 0,
               "peers": {}}

    def start(self):
        starter = self.bench / "bench_start_cost"
        empty = self.bench / "libbench_empty_preload.so"
        public = ["libc.so.6", "libm.so.6", "libz.so.1", "libexpat.so.1", "libbench_library.so"]

        def run(library, selection, count, program):
            self.policy(selection, public)
            return self.number([starter, count, *program], BENCH_PRELOAD=str(library),
                               FIELDCOST_STATE_DIR=str(self.state))

        # At most 64 run files: the number that the default policy allows to wait.
        true = ["/bin/true"]
        python = ["/usr/bin/python3", "-c", "pass"]
        at = self.medians({
            "empty": lambda: run(empty, 0, 60, true),
            "not chosen": lambda: run(self.preload, 0, 60, true),
            "chosen": lambda: run(self.preload, 65536, 60, true),
            "python empty": lambda: run(empty, 0, 30, python),
            "python chosen": lambda: run(self.preload, 65536, 30, python),
            "version": lambda: run(empty, 0, 30, [self.build / "bin" / "fieldcost", "--version"]),
        })
        for name, value, floor, limit in (
                ("start, not chosen", at["not chosen"], at["empty"], 30),
                ("start, chosen", at["chosen"], at["empty"], 150),
                ("start of python3, chosen", at["python chosen"], at["python empty"], 1000)):
            yield {"row": 4, "name": name, "unit": "us", "value": value, "floor": floor,
                   "ratio": value / floor, "target": f"<= floor + {limit} us",
                   "ok": value <= floor + limit, "peers": {}}
        # Our own program, without the agent: shell completion runs it.
        yield {"row": 4, "name": "fieldcost --version", "unit": "us", "value": at["version"], "floor": at["empty"],
               "ratio": at["version"] / at["empty"], "target": "<= 5000 us", "ok": at["version"] <= 5000, "peers": {}}

    def openssl_speed(self, environment):
        """Returns the ms for hashing 100 MB in pieces of 1 KiB, as reported by openssl."""
        done = subprocess.run(["openssl", "speed", "-mr", "-seconds", "1", "-bytes", "1024", "-evp", "sha256"],
                              env={**os.environ, **environment}, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=True, timeout=60)
        line = next(line for line in done.stdout.decode().splitlines() if line.startswith("+F:"))
        return 100e6 / float(line.split(":")[-1]) * 1e3

    def redis_benchmark(self, environment):
        """Returns the ms for 50,000 SET and as many GET from 20 clients; only the server runs with the agent."""
        work = Path(tempfile.mkdtemp(dir=self.state))
        (work / "redis-server").symlink_to(shutil.which("redis-check-rdb"))  # another name of the same program
        server = subprocess.Popen([work / "redis-server", "--port", "0", "--unixsocket", work / "socket",
                                   "--save", ""], cwd=work, env={**os.environ, **environment},
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        try:
            if not any(b"ready to accept" in line for line in server.stdout):
                raise subprocess.SubprocessError("redis-server did not start")
            done = subprocess.run(["redis-benchmark", "-s", work / "socket", "-n", "50000", "-c", "20",
                                   "-t", "set,get", "--csv"], check=True, timeout=120,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        finally:
            server.terminate()
            server.communicate(timeout=30)
        rates = [line.split(",")[1].strip('"') for line in done.stdout.decode().splitlines()
                 if line.startswith(('"SET"', '"GET"'))]
        return sum(50000 / float(rate) for rate in rates) * 1e3

    def programs(self):
        """Whole programs; the default policy chooses one run in 16, which then measures one random API."""
        work = self.state / "work"
        work.mkdir()
        text = b"".join(path.read_bytes() for path in sorted(Path("common").rglob("*.h")))
        (work / "text").write_bytes(text * 40)
        sql = ("create table t(a, b); with recursive n(i) as (select 1 union all select i + 1 from n "
               "where i < 200000) insert into t select i, i * 7919 % 10007 from n; "
               "create index i on t(b); select b, count(*) from t group by b order by 2 limit 3;")
        python = "import zlib, sys; print(sum(zlib.crc32(b'%d' % i) for i in range(400000)))"

        def timed(*command):
            run = [self.bench / "bench_start_cost", 5, *command]

            def cost(environment):
                if environment:
                    return self.number(run, BENCH_PRELOAD=str(self.preload),
                                       FIELDCOST_STATE_DIR=str(self.state)) / 1e3
                return self.number(run) / 1e3

            return cost

        costs = {
            "sqlite3": ("sqlite3", timed("sqlite3", ":memory:", sql)),
            "zstd": ("zstd", timed("zstd", "-qkfc", str(work / "text"))),
            "python3": ("/usr/bin/python3", timed("/usr/bin/python3", "-c", python)),
            "git log": ("git", timed("git", "log", "--stat")),
            "openssl dgst": ("openssl", timed("openssl", "dgst", "-sha512", *[str(work / "text")] * 8)),
            "openssl speed": ("openssl", self.openssl_speed),
            "redis and its benchmark": ("redis-benchmark", self.redis_benchmark),
        }
        public = ["libc.so.6", "libm.so.6", "libz.so.1", "libexpat.so.1", "libsqlite3.so.0", "libzstd.so.1",
                  "libcrypto.so.3", "libssl.so.3", "libpcre2-8.so.0"]
        for name, (program, cost) in costs.items():
            row = {"row": 5, "name": name, "unit": "ms", "value": None, "floor": None, "ratio": None,
                   "target": "<= 1.01", "ok": False, "peers": {}}
            if shutil.which(program):
                def agent_chooses(selection, cost=cost):
                    self.policy(selection, public, overhead_per_65536=655)
                    return cost(self.agent())

                at = self.medians({"without": lambda cost=cost: cost({}),
                                   "not chosen": lambda: agent_chooses(0),
                                   "chosen": lambda: agent_chooses(65536)})
                value, floor = (15 * at["not chosen"] + at["chosen"]) / 16, at["without"]
                row.update(value=value, floor=floor, ratio=value / floor, ok=value / floor <= 1.01,
                           peers={"every run measured": at["chosen"]})
            yield row

    def daemon(self):
        """An enabled daemon on a machine where no measured program runs."""
        home = self.state / "home"
        home.mkdir()
        (home / "agent.toml").write_text("")
        environment = {**os.environ, "FIELDCOST_HOME": str(home)}
        fieldcost, fieldcostd = self.build / "bin" / "fieldcost", self.build / "bin" / "fieldcostd"
        subprocess.run([fieldcost, "agent", "local"], env=environment, check=True, timeout=60,
                       stdout=subprocess.DEVNULL)
        daemon = subprocess.Popen([fieldcostd], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def now():
            status = dict(line.split(":", 1) for line in
                          Path(f"/proc/{daemon.pid}/status").read_text().splitlines())
            fields = Path(f"/proc/{daemon.pid}/stat").read_text().rsplit(")", 1)[1].split()
            return (int(status["VmRSS"].split()[0]) / 1024, int(fields[11]) + int(fields[12]),
                    int(status["voluntary_ctxt_switches"]))

        try:
            time.sleep(2)  # excludes its startup
            seconds = 20
            _, ticks_before, wakes_before = now()
            time.sleep(seconds)
            rss, ticks, wakes = now()
        finally:
            daemon.terminate()
            daemon.wait(timeout=30)
        cpu = (ticks - ticks_before) / os.sysconf("SC_CLK_TCK") / seconds * 100
        for name, unit, value, limit in (("daemon, resident memory", "MiB", rss, 16),
                                         ("daemon, idle CPU", "%", cpu, 0.1),
                                         (f"daemon, wake-ups in {seconds} s", "", wakes - wakes_before, 0)):
            yield {"row": 6, "name": name, "unit": unit, "value": value, "floor": None, "ratio": None,
                   "target": f"<= {limit}", "ok": value <= limit, "peers": {}}

    @functools.cached_property
    def look_ups(self):
        """Measured once per run, with a synthetic catalogue of a million APIs (takes a minute or more, and 1 GB)."""
        done = subprocess.run([self.bench / "bench_catalog_lookup", self.state / "catalog.db", "1000000"],
                              stdout=subprocess.PIPE, timeout=900, check=True, text=True)
        return {name: tuple(map(float, times)) for name, *times in map(str.split, done.stdout.splitlines())}

    def lookup(self):
        """The other results are shown as peers, in ms."""
        at = self.look_ups
        rest = {name.replace("_", " ") + ", ms": at[name][0] / 1000
                for name in ("search_of_two_letters", "nearest", "freshness")}
        for name, limit, peers in (("exact", 50, {}), ("prefix", 1000, rest)):
            value, floor = at[name][1], at[name + "_floor"][1]
            yield {"row": 10, "name": f"look-up, {name}, p99", "unit": "µs", "value": value, "floor": floor,
                   "ratio": value / floor, "target": f"<= {limit}", "ok": value <= limit,
                   "peers": {"p50": at[name][0], "floor p50": at[name + "_floor"][0], "wall p99": at[name][3],
                             "floor wall p99": at[name + "_floor"][3], **peers}}

        value, found = at["search_without_match"], at["search_with_matches"]
        yield {"row": 10, "name": "search without a match, p99", "unit": "ms", "value": value[1] / 1000, "floor": None,
               "ratio": None, "target": "<= 10", "ok": value[1] <= 10_000,
               "peers": {"p50": value[0] / 1000, "wall p99": value[3] / 1000, "20 found, p99": found[1] / 1000}}

    def lsp_hover(self):
        """Uses the same catalogue. Wall time depends on other load. CPU time is the server's, for one hover, one hover
        of the floor, and the edits before both."""
        self.look_ups
        hovers, floors, cpu_ms = lsp_hover.hover(self.build / "bin" / "fieldcost-lsp", self.state)
        value, floor = (times[len(times) * 99 // 100] for times in (hovers, floors))
        yield {"row": 10, "name": "hover, end to end, p99", "unit": "ms", "value": value, "floor": floor,
               "ratio": value / floor, "target": "<= 5", "ok": value <= 5,
               "peers": {"p50": hovers[len(hovers) // 2], "floor p50": floors[len(floors) // 2], "CPU": cpu_ms}}

    def fragments(self):
        """Sizes do not depend on the machine; the times are shown as peers."""
        program = self.bench / "bench_fragment_cost"
        demo = self.state / "demo"
        subprocess.run([self.build / "bin" / "fieldcost-aggregator", "demo", "--data", demo], check=True, timeout=300,
                       stdout=subprocess.DEVNULL)
        for arguments in (sorted((demo / "publish" / "fragments").iterdir()), ["--made"]):
            done = subprocess.run([program, *arguments], stdout=subprocess.PIPE, timeout=300, check=True, text=True)
            for line in done.stdout.splitlines():
                name, *rest = line.split()
                at = dict(zip(rest[::2], map(float, rest[1::2])))
                value = at["bytes_per_row"]
                name = "demo" if name == "read" else name.replace("_", " ")
                yield {"row": 11, "name": f"bytes per row, {name}", "unit": "B", "value": value, "floor": None,
                       "ratio": None, "target": "<= 125", "ok": value <= 125,
                       "peers": {"buckets": at["buckets_per_row"], "per API": at["bytes_per_api"],
                                 "per API, stored": at["stored_bytes_per_api"],
                                 "decode, ns per row": at["decode_ns_per_row"],
                                 "encode, ns per row": at["encode_ns_per_row"],
                                 "decode an API, µs": at["look_up_ns"] / 1000}}

    def anomaly(self):
        """Checks synthetic costs. The harder case is equal machines, which requires every draw."""
        program = self.bench / "bench_anomaly_check"
        at = self.medians({case: lambda case=case: self.number([program, case]) for case in ("differ", "alike")})
        for case, value in at.items():
            yield {"row": 12, "name": f"check of 500 APIs, {case}", "unit": "ms", "value": value, "floor": None,
                   "ratio": None, "target": "<= 1000", "ok": value <= 1000, "peers": {}}

    def lab_plan(self):
        program = self.bench / "bench_lab_plan"
        value = self.medians({"slowest": lambda: self.number([program])})["slowest"]
        yield {"row": None, "name": "lab_plan, 4096 APIs", "unit": "ms", "value": value, "floor": None,
               "ratio": None, "target": "<= 1000", "ok": value <= 1000, "peers": {}}

    def recording(self):
        """The median query over 0.1 to 90 % of the span. Values are medians of rounds, each with a new file."""
        for paths, self_us, inclusive_us, most_bytes in ((5_000, 40, 45, 7.5), (200_000, 1500, 1500, 11)):
            rounds = []
            for _ in range(ROUNDS):
                done = subprocess.run([self.bench / "bench_recording", self.state / "bench.fct", str(paths)],
                                      stdout=subprocess.PIPE, timeout=300, check=True, text=True)
                rounds.append({name: float(value) for name, value in map(str.split, done.stdout.splitlines())})
            at = {name: statistics.median(one[name] for one in rounds) for name in rounds[0]}
            floor = at["scan_p50"] / 1000
            of = f"{paths // 1000} k paths"
            for name, limit, peers in (("self", self_us, {"scan of half, ms": at["scan_of_half"] / 1e6}),
                                       ("inclusive", inclusive_us, {"1,024 bins, ms": at["bins"] / 1e6})):
                value = at[name + "_p50"] / 1000
                yield {"row": 14, "name": f"interval, {name}, {of}", "unit": "µs", "value": value, "floor": floor,
                       "ratio": value / floor, "target": f"<= {limit}", "ok": value <= limit,
                       "peers": {"p99": at[name + "_p99"] / 1000, **peers}}
            for name, unit, limit, peers in (("append", "ns", 200, {}),
                                             ("bytes", "B", most_bytes, {"open, ms": at["open"] / 1e6})):
                yield {"row": 14, "name": f"{name} a sample, {of}", "unit": unit, "value": at[name], "floor": None,
                       "ratio": None, "target": f"<= {limit}", "ok": at[name] <= limit, "peers": peers}

    def unwind(self):
        """Per frame of a compiler's stacks; the design states 0.4 to 0.9 µs per stack of 20 frames."""
        program = self.bench / "bench_unwind_cost"
        at = self.medians({mode: lambda mode=mode: self.number([program, mode]) for mode in ("own", "libdw")})
        yield {"row": None, "name": "unwind, a frame", "unit": "ns", "value": at["own"], "floor": None,
               "ratio": None, "target": "<= 45", "ok": at["own"] <= 45, "peers": {"libdw": at["libdw"]}}

    def fleet(self):
        """Simulated, so the same on every machine; the picture is next to agent/upload/README.md."""
        done = subprocess.run([self.bench / "bench_fleet", "--check"], stdout=subprocess.PIPE, timeout=600,
                              check=False, text=True)
        if done.returncode not in (0, 1):
            raise subprocess.SubprocessError("the fleet simulation failed")
        numbers = [float(n) for n in re.findall(r"[0-9.]+", done.stdout.splitlines()[1])]
        average, before, after = numbers
        yield {"row": None, "name": "fleet, busiest hour after", "unit": "", "value": after, "floor": before,
               "ratio": after / before, "target": "< 2 x before", "ok": done.returncode == 0,
               "peers": {"average before": average}}


def main():
    parser = argparse.ArgumentParser(prog="./tests/bench/run.sh", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    of_service = ["ingest", "ack_latency", "publish", "scaling", "soak"]
    of_lab = ["lab_passes", "lab_map", "lab_start", "lab_undisturbed", "lab_peers"]
    of_trace = ["trace_call", "trace_branch"]
    only_by_name = {"planted_change", "probe_planted", "soak"}
    names = ["call", "known_cost", "unpicked", "sampled", "budget", "start", "programs", "daemon", *of_service,
             "lookup", "lsp_hover", "fragments", "anomaly", "recording", "tree", "lab_plan", *of_lab, *of_trace,
             "trace_sampling", "planted_change", "unwind", "idle", "probe", "probe_rate", "probe_planted", "fleet"]
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(names))
    parser.add_argument("--json", action="store_true", help="one object per line")
    parser.add_argument("--svg", metavar="FILE", help="where `scaling` draws its picture")
    parser.add_argument("--minutes", type=float, default=soak.MINUTES, help="how long `soak` takes")
    parser.add_argument("--build", default="build/release", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(names)
    if unknown:
        parser.error(f"no benchmark called {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    report = Report(arguments.json)
    bench = Bench(arguments.build)
    service = AggregatorBench(bench.build, arguments.svg, arguments.minutes)
    lab = LabBench(bench.build, lambda: bench.ticks_to_ns)
    trace = TraceBench(bench.build, lambda: bench.ticks_to_ns)
    sampler = SamplerBench(bench.build)
    tree = TreeBench(bench.build)
    owners = {"trace_sampling": sampler, "planted_change": PlantedBench(bench.build), "tree": tree,
              "idle": IdleBench(bench.build), "probe_planted": ProbePlantedBench(bench.build),
              "probe_rate": ProbeRateBench(bench.build)}
    probe = ProbeBench(bench)
    owners["probe"] = probe
    owners |= dict.fromkeys(of_service, service) | dict.fromkeys(of_lab, lab) | dict.fromkeys(of_trace, trace)
    try:
        for name in arguments.names or [n for n in names if n not in only_by_name]:
            for row in getattr(owners.get(name, bench), name)():
                report.add(row)
    except (subprocess.SubprocessError, OSError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    finally:
        shutil.rmtree(bench.state, ignore_errors=True)
        shutil.rmtree(bench.memory, ignore_errors=True)
        service.close()
        lab.close()
        trace.close()
        sampler.close()
        tree.close()
        probe.close()
    return 1 if report.missed else 0


if __name__ == "__main__":
    sys.exit(main())
