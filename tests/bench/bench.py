"""Runs the benchmarks of tests/bench and prints a table, or with --json one object a line.

Every value is a median of interleaved rounds on this machine, and every row carries the floor and the
peers measured in the same run: compare ratios, not absolute times. A peer that is not installed or
does not work here is reported as null ("missing" in the table), never left out.

  row 1  call       CPU ns of a measured call      floor: two time stamps + a bucket update, inline
  row 2  unpicked   CPU ns of an unpicked call     floor: the same call without the agent
  row 4  start      wall µs of starting a program  floor: an empty preload library
  row 5  programs   wall ms, every run measured    floor: the same programs without the agent
  row 6  daemon     the daemon with nothing to do  no floor: memory, CPU time, wake-ups

Examples:
  ./tests/bench/run.sh                 all of them
  ./tests/bench/run.sh call --json     one, for machines
Exit status: 0 if every target is met, 1 if one is missed, 2 if a benchmark could not run.
"""

import argparse
import json
import os
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 7


class Bench:
    def __init__(self, build):
        self.build = Path(build).resolve()
        self.bench = self.build / "bench"
        self.preload = self.build / "lib" / "libfieldcost_preload.so"
        self.state = Path(tempfile.mkdtemp(prefix="fieldcost-bench."))

    def policy(self, selection, modules):
        """A policy file as common/wire/README.md describes it; see common/shm/policy_file.h."""
        (self.state / "runs").mkdir(exist_ok=True)
        for old in (self.state / "runs").iterdir():
            old.unlink()
        header = b"fcpolicy" + struct.pack(
            "<10IQ4Q", 1, 88 + 64 * len(modules), 0, 1, selection, 1, 80 * 1000, 64 * 1000, 0,
            len(modules), 1900000000, 0, 0, 0, 0)
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
        """Interleaves the variants (name -> function giving a number); the median of each."""
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
        if not shutil.which("bpftrace"):
            return None
        where = f"{self.bench}/libbench_library.so:bench_target"
        script = (f"uprobe:{where} {{ @start[tid] = nsecs; }} uretprobe:{where} "
                  "{ @cost = hist(nsecs - @start[tid]); } BEGIN { printf(\"attached\\n\"); }")
        tracer = subprocess.Popen(["bpftrace", "-e", script], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL)
        try:
            for line in tracer.stdout:
                if line.startswith(b"attached"):
                    return self.number([self.bench / "bench_call_cost", "plain", "11"])
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
        ok = ok and uftrace is not None and value <= uftrace / 6
        ok = ok and uprobe is not None and value <= uprobe / 40
        yield {"row": 1, "name": "call", "unit": "ns", "value": value, "floor": floor,
               "ratio": value / floor, "target": "<= 1.20 x floor, 1/6 uftrace, 1/40 uprobe pair",
               "ok": ok, "peers": {"plain call": at["plain"], "uftrace": uftrace,
                                   "bpftrace uprobe pair": uprobe}}

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

    def start(self):
        starter = self.bench / "bench_start_cost"
        empty = self.bench / "libbench_empty_preload.so"
        public = ["libc.so.6", "libm.so.6", "libz.so.1", "libexpat.so.1", "libbench_library.so"]

        def run(library, selection, count, program):
            self.policy(selection, public)
            return self.number([starter, count, *program], BENCH_PRELOAD=str(library),
                               FIELDCOST_STATE_DIR=str(self.state))

        true = ["/bin/true"]
        python = ["/usr/bin/python3", "-c", "pass"]
        at = self.medians({
            "empty": lambda: run(empty, 0, 300, true),
            "not chosen": lambda: run(self.preload, 0, 300, true),
            "chosen": lambda: run(self.preload, 65536, 300, true),
            "python empty": lambda: run(empty, 0, 30, python),
            "python chosen": lambda: run(self.preload, 65536, 30, python),
        })
        for name, value, floor, limit in (
                ("start, not chosen", at["not chosen"], at["empty"], 30),
                ("start, chosen", at["chosen"], at["empty"], 150),
                ("start of python3, chosen", at["python chosen"], at["python empty"], 1000)):
            yield {"row": 4, "name": name, "unit": "us", "value": value, "floor": floor,
                   "ratio": value / floor, "target": f"<= floor + {limit} us",
                   "ok": value <= floor + limit, "peers": {}}


    def programs(self):
        """Whole programs, every run measuring one random API: the default policy chooses 1 in 16."""
        work = self.state / "work"
        work.mkdir()
        text = b"".join(path.read_bytes() for path in sorted(Path("common").rglob("*.h")))
        (work / "text").write_bytes(text * 40)
        sql = ("create table t(a, b); with recursive n(i) as (select 1 union all select i + 1 from n "
               "where i < 200000) insert into t select i, i * 7919 % 10007 from n; "
               "create index i on t(b); select b, count(*) from t group by b order by 2 limit 3;")
        python = "import zlib, sys; print(sum(zlib.crc32(b'%d' % i) for i in range(400000)))"
        commands = {
            "sqlite3": ["sqlite3", ":memory:", sql],
            "zstd": ["zstd", "-qkfc", str(work / "text")],
            "python3": ["/usr/bin/python3", "-c", python],
            "git log": ["git", "log", "--stat"],
            "openssl": ["openssl", "dgst", "-sha512", *[str(work / "text")] * 8],
        }
        public = ["libc.so.6", "libm.so.6", "libz.so.1", "libexpat.so.1", "libsqlite3.so.0", "libzstd.so.1",
                  "libcrypto.so.3", "libssl.so.3", "libpcre2-8.so.0"]
        for name, command in commands.items():
            if not shutil.which(command[0]):
                yield {"row": 5, "name": name, "unit": "ms", "value": None, "floor": None, "ratio": None,
                       "target": "<= 1.01", "ok": False, "peers": {}}
                continue
            self.policy(65536, public)
            run = [self.bench / "bench_start_cost", 5, *command]
            at = self.medians({
                "without": lambda run=run: self.number(run),
                "with": lambda run=run: self.number(run, BENCH_PRELOAD=str(self.preload),
                                                    FIELDCOST_STATE_DIR=str(self.state)),
            })
            value, floor = at["with"] / 1e3, at["without"] / 1e3
            yield {"row": 5, "name": name, "unit": "ms", "value": value, "floor": floor,
                   "ratio": value / floor, "target": "<= 1.01", "ok": value / floor <= 1.01, "peers": {}}

    def daemon(self):
        """A daemon that has been told to measure, on a machine where nothing runs measured."""
        home = self.state / "home"
        home.mkdir()
        (home / "agent.toml").write_text("")
        environment = {**os.environ, "FIELDCOST_HOME": str(home)}
        fieldcost, fieldcostd = self.build / "bin" / "fieldcost", self.build / "bin" / "fieldcostd"
        subprocess.run([fieldcost, "agent", "local"], env=environment, check=True, timeout=60,
                       stdout=subprocess.DEVNULL)
        daemon = subprocess.Popen([fieldcostd], env=environment, stderr=subprocess.DEVNULL)

        def now():
            status = dict(line.split(":", 1) for line in
                          Path(f"/proc/{daemon.pid}/status").read_text().splitlines())
            fields = Path(f"/proc/{daemon.pid}/stat").read_text().rsplit(")", 1)[1].split()
            return (int(status["VmRSS"].split()[0]) / 1024, int(fields[11]) + int(fields[12]),
                    int(status["voluntary_ctxt_switches"]))

        try:
            time.sleep(2)  # its own start is not idleness
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


def shown(number, width):
    return f"{'-' if number is None else f'{number:.2f}':>{width}}"


def main():
    parser = argparse.ArgumentParser(prog="./tests/bench/run.sh", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    names = ["call", "unpicked", "start", "programs", "daemon"]
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(names))
    parser.add_argument("--json", action="store_true", help="one object a line")
    parser.add_argument("--build", default="build/release", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(names)
    if unknown:
        parser.error(f"no benchmark called {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    bench = Bench(arguments.build)
    missed = False
    try:
        for name in arguments.names or names:
            for row in getattr(bench, name)():
                missed = missed or not row["ok"]
                if arguments.json:
                    print(json.dumps(row), flush=True)
                    continue
                peers = ", ".join(f"{peer} {'missing' if cost is None else f'{cost:.1f}'}"
                                  for peer, cost in row["peers"].items())
                print(f"row {row['row']}  {row['name']:26} {shown(row['value'], 9)} {row['unit']:3}  "
                      f"floor {shown(row['floor'], 9)}  ratio {shown(row['ratio'], 5)}  "
                      f"{'ok    ' if row['ok'] else 'MISSED'}  {row['target']}"
                      f"{'  | ' + peers if peers else ''}", flush=True)
    except (subprocess.SubprocessError, OSError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    finally:
        shutil.rmtree(bench.state, ignore_errors=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
