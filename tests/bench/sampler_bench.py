"""The cost of sampling programs' stacks (agent/trace), compared with `perf record --call-graph dwarf`.

    ./tests/bench/run.sh trace_sampling      a table in Markdown, in less than 5 minutes

Rounds alternate between plain and traced; CPU and wall times are minima over all rounds, because other
load on the machine only adds to them. "Program" is the increase of the traced program's own CPU time;
"reader" is the recorder's CPU time relative to the program's. Lost samples and truncated stacks are
totals over all rounds.
"""

import argparse
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 3
RATES = (99, 499, 997)
DEFAULT_RATE = 99
OFF_STEP_NS = 3009  # same as tools/cli/run/recorder_target.cc
MOST_PERCENT = 1.0
REQUESTS = 20000
CXX = """#include <functional>
#include <map>
#include <regex>
#include <string>
int main() { std::map<std::string, std::function<int()>> m; m["a"] = [] { return 1; };
  return std::regex_match("abcd", std::regex("a(b|c)*d")) + m["a"](); }
"""
SQL = ("with recursive n(i) as (select 1 union all select i + 1 from n where i < 900000) "
       "select count(distinct i * 7919 % 100003), sum(length(hex(i))) from n;")
NODE = ("let s = 0; const all = JSON.stringify([...Array(60000).keys()]); "
        "for (let i = 0; i < 80; i++) s += JSON.stringify(JSON.parse(all)).length")
NGINX = """daemon off; master_process off; error_log stderr crit; pid {0}/pid;
events {{ worker_connections 64; }}
http {{ access_log off; client_body_temp_path {0}; proxy_temp_path {0}; fastcgi_temp_path {0};
uwsgi_temp_path {0}; scgi_temp_path {0}; server {{ listen 127.0.0.1:{1}; keepalive_requests 1000000;
location / {{ return 200 "hello"; }} }} }}
"""


class Run:
    """One run: wall seconds, the program's and the recorder's CPU seconds, and the counts of its recording."""

    def __init__(self, wall, program, reader=0.0, samples=0, cut=0, lost=0, size=0):
        self.wall, self.program, self.reader = wall, program, reader
        self.samples, self.cut, self.lost, self.size = samples, cut, lost, size


class Command:
    """A program started by a shell, which reports its CPU time."""

    def __init__(self, words):
        self.words = [str(word) for word in words]

    def run(self, recorder, directory):
        times = directory / "times"
        shell = ["sh", "-c", '"$@" > /dev/null 2>&1; times > "$TIMES"', "sh", *self.words]
        command = [*recorder.start(directory), *shell] if recorder else shell
        begin, before = time.monotonic(), os.times()
        done = subprocess.run(command, env=dict(os.environ, TIMES=str(times)), check=True, timeout=120,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        wall, after = time.monotonic() - begin, os.times()
        # User and system time in minutes and seconds: first the shell's, then its children's.
        text = times.read_text().splitlines()
        program, own = (sum(60 * float(m) + float(s) for m, s in re.findall(r"(\d+)m([\d.]+)s", line))
                        for line in (text[1], text[0]))
        all_cpu = after.children_user + after.children_system - before.children_user - before.children_system
        run = Run(wall, program)
        if recorder:
            recorder.tell(done.stdout, directory, run, all_cpu - program - own)
        return run


class Server:
    """nginx, which answers REQUESTS requests; recorders attach to it."""

    def __init__(self, directory):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        (directory / "nginx.conf").write_text(NGINX.format(directory, self.port))
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            ["nginx", "-p", directory, "-c", directory / "nginx.conf"], stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)
        raise subprocess.SubprocessError("nginx did not start")

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=10)

    def cpu(self):
        return int(Path(f"/proc/{self.process.pid}/schedstat").read_text().split()[0]) / 1e9

    def run(self, recorder, directory):
        watcher = None
        if recorder:
            watcher = subprocess.Popen(  # pylint: disable=consider-using-with
                recorder.attach(directory, self.process.pid), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                text=True)
            time.sleep(1)  # neither recorder reports that it has started
        begin, cpu = time.monotonic(), self.cpu()
        subprocess.run(["ab", "-q", "-k", "-n", str(REQUESTS), "-c", "4", f"http://127.0.0.1:{self.port}/"],
                       check=True, timeout=120, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        run = Run(time.monotonic() - begin, self.cpu() - cpu)
        if watcher:
            before = os.times()
            watcher.send_signal(signal.SIGINT)
            text = watcher.communicate(timeout=60)[0]
            after = os.times()
            used = after.children_user + after.children_system - before.children_user - before.children_system
            recorder.tell(text, directory, run, used)
        return run


class Ours:
    name = "ours"

    def __init__(self, build, rate):
        self.program, self.rate = build / "bin" / "fieldcost-trace", rate
        self.options = ["--period", str(1_000_000_000 // rate + OFF_STEP_NS), "--unnamed"]

    def start(self, directory):
        return [self.program, "--output", directory / "ours.fct", *self.options, "--"]

    def attach(self, directory, pid):
        return [self.program, "--output", directory / "ours.fct", *self.options, "--pid", str(pid)]

    def tell(self, text, directory, run, used):
        del used
        found = re.search(r"([\d,]+) samples?, (\d+) cut, (\d+) lost; (\d+) ms to take", text)
        if not found:
            raise subprocess.SubprocessError(f"fieldcost-trace: {text[-300:]}")
        run.samples, run.cut, run.lost = (int(found[i].replace(",", "")) for i in (1, 2, 3))
        run.reader = int(found[4]) / 1e3
        run.size = (directory / "ours.fct").stat().st_size


class Perf:
    name = "perf"

    def __init__(self, rate):
        self.rate = rate
        self.options = ["-q", "-N", "-F", str(rate), "-e", "cpu-clock:u", "--call-graph", "dwarf,16384"]

    def start(self, directory):
        return ["perf", "record", *self.options, "-o", directory / "perf.data", "--"]

    def attach(self, directory, pid):
        return ["perf", "record", *self.options, "-o", directory / "perf.data", "-p", str(pid)]

    def tell(self, text, directory, run, used):
        del text
        run.reader, run.size = used, (directory / "perf.data").stat().st_size
        report = subprocess.run(["perf", "report", "-i", directory / "perf.data", "--stats"], timeout=60, check=True,
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
        counts = {kind: int(count) for kind, count in re.findall(r"(SAMPLE|LOST) events:\s+(\d+)", report)}
        run.samples, run.lost = counts.get("SAMPLE", 0), counts.get("LOST", 0)
        (directory / "perf.data").unlink()


class SamplerBench:
    def __init__(self, build, rounds=ROUNDS):
        self.build, self.rounds = Path(build).resolve(), rounds
        self.directory = Path(tempfile.mkdtemp(prefix="fieldcost-sampler."))
        self.server = None

    def close(self):
        if self.server:
            self.server.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def programs(self):
        source = self.directory / "compiled.cc"
        source.write_text(CXX)
        bench = self.build / "bench"
        found = {
            "clang": ["clang++-14", "-std=c++17", "-fsyntax-only", "-O2", source],
            "python3": ["python3", "-c", "sum(i * i % 7 for i in range(9000000))"],
            "node": ["node", "-e", NODE],
            "sqlite3": ["sqlite3", ":memory:", SQL],
            "static": [bench / "bench_sampled_static", "spin", "700000"],
            "exceptions": [bench / "bench_sampled", "throw", "220000"],
            "no frame pointers": [bench / "bench_sampled", "spin", "700000"],
        }
        for name, words in found.items():
            yield name, Command(words) if shutil.which(str(words[0])) else None
        if shutil.which("nginx") and shutil.which("ab"):
            self.server = Server(self.directory)
        yield "nginx (attached)", self.server

    def measure(self, program):
        """Returns {recorder or None: runs}, with alternating rounds."""
        recorders = [None] + [Ours(self.build, rate) for rate in RATES]
        if shutil.which("perf"):
            recorders += [Perf(rate) for rate in RATES]
        runs = {recorder: [] for recorder in recorders}
        program.run(None, self.directory)  # warm the caches
        for turn in range(self.rounds):
            for recorder in recorders if turn % 2 == 0 else reversed(recorders):
                runs[recorder].append(program.run(recorder, self.directory))
        return runs

    def rows(self):
        """Yields a dictionary per program and recorder; a missing program has no numbers."""
        for name, program in self.programs():
            if program is None:
                yield {"program": name}
                continue
            runs = self.measure(program)
            plain = {what: min(getattr(run, what) for run in runs[None]) for what in ("wall", "program")}
            for recorder, of_it in runs.items():
                if recorder is None:
                    continue
                least = {what: min(getattr(run, what) for run in of_it) for what in ("wall", "program", "reader")}
                samples, lost, cut, size = (sum(getattr(run, what) for run in of_it)
                                            for what in ("samples", "lost", "cut", "size"))
                yield {"program": name, "recorder": recorder.name, "rate": recorder.rate,
                       "plain_s": plain["program"],
                       "cpu_percent": 100 * (least["program"] / plain["program"] - 1),
                       "reader_percent": 100 * least["reader"] / plain["program"],
                       "wall_percent": 100 * (least["wall"] / plain["wall"] - 1),
                       "whole_percent": 100 * (1 - cut / samples) if samples and recorder.name == "ours" else None,
                       "samples": samples, "lost": lost, "bytes": size / samples if samples else None}

    def trace_sampling(self):
        """For bench.py: yields one row per program, at the default rate; the table goes to standard error."""
        rows = list(self.rows())
        print(markdown(rows), file=sys.stderr)
        for name in dict.fromkeys(row["program"] for row in rows):
            of_it = {row["recorder"]: row for row in rows
                     if row["program"] == name and row.get("rate") == DEFAULT_RATE}
            ours, perf = of_it.get("ours"), of_it.get("perf")
            value = ours["cpu_percent"] if ours else float("nan")
            yield {"row": 14, "name": f"trace_sampling, {name}", "unit": "%", "value": value, "floor": None,
                   "ratio": None, "target": f"<= {MOST_PERCENT:.0f} % of the program's CPU time",
                   "ok": ours is not None and value <= MOST_PERCENT,
                   "peers": {"perf record": perf["cpu_percent"] if perf else None}}


def shown(value, form):
    return "-" if value is None else form.format(value)


def markdown(rows):
    lines = [f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs at the end; least of the rounds",
             "", "| program | CPU s | recorder | Hz | program % | reader % | wall % | whole % | lost | B/sample |",
             "|---|---|---|---|---|---|---|---|---|---|"]
    for row in rows:
        if "recorder" not in row:
            lines.append(f"| {row['program']} | missing |" + " |" * 8)
            continue
        lines.append("| {program} | {plain_s:.2f} | {recorder} | {rate} | {cpu_percent:+.1f} | {reader_percent:.1f} | "
                     "{wall_percent:+.1f} | ".format(**row) +
                     f"{shown(row['whole_percent'], '{:.1f}')} | {row['lost']}/{row['samples'] + row['lost']} | "
                     f"{shown(row['bytes'], '{:.0f}')} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    arguments = parser.parse_args()
    bench = SamplerBench(arguments.build, arguments.rounds)
    try:
        print(markdown(list(bench.rows())))
    finally:
        bench.close()


if __name__ == "__main__":
    main()
