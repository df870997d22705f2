"""The rows of call trees: adding ten runs of a program with 220,000 call paths and four metrics (tree_bench.cc),
compared with Go's pprof on the same ten files; and unwinding a stack, compared with `perf script --no-inline`. CPU
time."""

import glob
import os
import re
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

ROUNDS = 3
FILES = 10
PPROF = "build/packages/golang-1.19-go/usr/lib/go-1.19/pkg/tool/*/pprof"  # where run.sh unpacks it
CXX = """#include <functional>
#include <iostream>
#include <map>
#include <regex>
int main() { std::regex r("a.*b"); std::map<int, std::regex> m; m[1] = r; std::cout << std::regex_match("ab", m[1]); }
"""


class TreeBench:
    def __init__(self, build):
        self.build = Path(build).resolve()
        self.directory = Path(tempfile.mkdtemp(prefix="fieldcost-tree."))

    def close(self):
        shutil.rmtree(self.directory, ignore_errors=True)

    def run(self, *command):
        """Runs a command; returns its output and its CPU ms."""
        before = os.times()
        environment = dict(os.environ, HOME=str(self.directory), PPROF_TMPDIR=str(self.directory))
        done = subprocess.run([str(word) for word in command], env=environment, cwd=self.directory, check=True,
                              timeout=600, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        after = os.times()
        used = after.children_user + after.children_system - before.children_user - before.children_system
        return done.stdout.decode(errors="replace"), used * 1000

    def row(self, name, unit, value, most, target, peers):
        """Returns a row; a missed target includes the factor. `most`: None if it depends on a missing peer."""
        ok = most is not None and value <= most
        if not ok:
            target += ", a peer is missing" if most is None else f": missed {value / most:.1f} x"
        return {"row": 14, "name": name, "unit": unit, "value": value, "floor": None, "ratio": None, "target": target,
                "ok": ok, "peers": peers}

    def tree(self):
        rounds = []
        for _ in range(ROUNDS):
            lines = self.run(self.build / "bench" / "bench_tree")[0].splitlines()
            rounds.append({name: float(number) for name, number in (line.rsplit(None, 1) for line in lines)})
        at = {name: statistics.median(one[name] for one in rounds) for name in rounds[0]}
        yield self.row("tree, shared ids", "ms", at["shared ids"], 25, "<= 25", {"trees of one": at["trees"]})
        pprof, imported, recordings = self.files()
        peers = {"go pprof": pprof}
        for name, value in (("tree, by names", at["by names"]), ("tree, from encoded trees", at["from files"]),
                            ("tree add, ten recordings", recordings)):
            yield self.row(name, "ms", value, 350, "<= 350", peers)
        of_peer = None if pprof is None else pprof / 50
        yield self.row("tree add, pprof's ten files", "ms", imported, of_peer, "<= 1/50 pprof", peers)
        yield self.unwinding()

    def files(self):
        """Returns CPU ms: pprof adds the ten files; fieldcost adds them; fieldcost adds them as recordings."""
        self.run(self.build / "bench" / "bench_tree", self.directory)
        profiles = [self.directory / f"{i}.pb.gz" for i in range(FILES)]
        ours = self.build / "bin" / "fieldcost"
        for profile in profiles:
            self.run(ours, "tree", "import", profile, "-o", f"{profile}.fct")
        program = next(iter(glob.glob(PPROF)), None)
        pprof = None
        if program:
            program = Path(program).resolve()
            pprof = self.run(program, "-symbolize=none", "-proto", "-output=sum.pb.gz", *profiles)[1]
        imported = self.run(ours, "tree", "add", *profiles, "-o", "a.fct")[1]
        recordings = self.run(ours, "tree", "add", *[f"{profile}.fct" for profile in profiles], "-o", "b.fct")[1]
        return pprof, imported, recordings

    def unwinding(self):
        """µs per stack of a compiler. Ours has only addresses: each name is looked up once, at the recording's end."""
        texts = [self.run(self.build / "bench" / "bench_unwind_cost", "own")[0] for _ in range(ROUNDS)]
        found = [float(re.search(r"ns each: ([\d.]+)", text)[1]) for text in texts]
        value, peer = statistics.median(found) / 1000, self.perf()
        return self.row("tree, unwinding", "µs", value, None if peer is None else peer / 50, "<= 1/50 perf script",
                        {"perf script": peer})

    def perf(self):
        if not shutil.which("perf") or not shutil.which("clang++-14"):
            return None
        (self.directory / "a.cc").write_text(CXX)
        try:
            self.run("perf", "record", "-q", "-F", "997", "-e", "cpu-clock:u", "--call-graph", "dwarf,16384",
                     "-o", "perf.data", "--", "clang++-14", "-std=c++20", "-O2", "-S", "-o", "/dev/null", "a.cc")
            text, ms = self.run("perf", "script", "--no-inline", "-i", "perf.data")
        except subprocess.SubprocessError:
            return None
        samples = sum(1 for line in text.splitlines() if line and not line[0].isspace())
        return ms * 1000 / samples if samples else None
