"""The rows of the lab (agent/lab): the cost of a map, the number of passes per scenario, whether timed calls are
undisturbed, and how long it takes to start a program. See common/shm/lab_file.h for the format of plans and lab
files."""

import math
import os
import re
import shutil
import statistics
import struct
import subprocess
import tempfile
import time
from pathlib import Path

PAIRS = 9
ROUNDS = 7
SQL = ("create table t(a,b); with recursive c(i) as (select 1 union all select i+1 from c where i<20000) "
       "insert into t select i, hex(i) from c; select count(*), sum(a) from t; create index x on t(b); "
       "select * from t order by b limit 3;")
SQLITE = ["sqlite3", ":memory:", SQL]
SMALL_SQLITE = ["sqlite3", ":memory:", SQL.replace("20000", "300")]
# Longer functions: each statement is compiled.
STATEMENTS = ["sqlite3", ":memory:", "create table t(a,b); begin; " + "".join(
    f"insert into t values({i}, {i} * {i}); select max(a) from t where b > {i};" for i in range(1200))]
PROGRAMS = {"sqlite3": SQLITE, "curl": ["curl", "--version"], "openssl": ["openssl", "dgst", "-sha256", "/bin/ls"],
            "git": ["git", "--version"], "python3": ["python3", "-c", "import json; json.dumps([1])"],
            "g++": ["g++", "--version"]}
VERSION, MAP, TIME = 1, 1, 2
KNOWN, TIMED = 0, 1
APIS, THREADS, NODES = 16384, 256, 16384
CELL = 96 + 65 * 32
BLOCK = {MAP: 40 + 3 * CELL + 6 * 65 * 8, TIME: 32 + CELL + 24 + 65 * 24}


def hash_of(soname, symbol, version):
    text = f"{soname}!{symbol}" + (f"@{version}" if version else "")
    value = 0xcbf29ce484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001b3 % 2**64
    return value


class LabBench:
    def __init__(self, build, ticks_to_ns):
        self.program = Path(build).resolve() / "bin" / "fieldcost"
        self.library = Path(build).resolve() / "lib" / "libfieldcost_lab.so"
        self.ticks_to_ns = ticks_to_ns  # a function, called when needed
        self.directory = Path(tempfile.mkdtemp(prefix="fieldcost-lab.", dir="/dev/shm"))
        self.home = tempfile.mkdtemp(prefix="fieldcost-lab-home.")

    def close(self):
        shutil.rmtree(self.directory, ignore_errors=True)
        shutil.rmtree(self.home, ignore_errors=True)

    def write_plan(self, mode, entries=(), globs=b""):
        text = globs + b"\0"
        packed = b"".join(struct.pack("<QII", *entry) for entry in sorted(entries))
        header = struct.pack("<8sIIQQIIII", b"fclabpln", VERSION, mode, 48 + len(packed) + len(text),
                             self.ticks_to_ns(), len(entries), len(text), 0, 0)
        (self.directory / "plan").write_bytes(header + packed + text)

    def run(self, command, with_library=True, planned=True):
        """Returns the CPU and wall ms of one run."""
        environment = dict(os.environ)
        if with_library:
            environment["LD_PRELOAD"] = str(self.library)
        if planned:
            environment["FIELDCOST_LAB_DIR"] = str(self.directory)
        for old in self.directory.glob("*.lab"):
            old.unlink()
        began = time.monotonic()
        child = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            raise subprocess.SubprocessError(f"{command[0]} ended with {child.returncode}")
        return (used.ru_utime + used.ru_stime) * 1000, (time.monotonic() - began) * 1000

    def lab_file(self):
        """Reads the first program's file: name -> (number, calls, timed calls, sum of their log2 in 1/256)."""
        files = list(self.directory.glob("*.lab"))
        if not files:
            raise subprocess.SubprocessError("nothing was measured")
        with open(files[0], "rb") as file:
            header = file.read(4096)
            mode, = struct.unpack_from("<I", header, 12)
            candidates, _, blocks = struct.unpack_from("<3I", header, 96)
            names = {}
            for i in range(candidates):
                file.seek(4096 + 1024 * i)
                api = file.read(1024)
                if struct.unpack_from("<I", api, 420)[0] != 0:
                    names[i] = tuple(part.split(b"\0")[0].decode() for part in (api[:64], api[64:320], api[320:384]))
            first = 4096 + APIS * 1024 + APIS * (APIS // 8) + THREADS * NODES * 32
            found = {}
            for i in range(blocks):
                file.seek(first + i * BLOCK[mode])
                block = file.read(BLOCK[mode])
                number, _, calls = struct.unpack_from("<IIQ", block)
                timed, logs = struct.unpack_from("<QQ", block, 32 + CELL) if mode == TIME else (0, 0)
                if calls == 0:
                    continue
                before = found.get(names[number], (0, 0, 0))
                found[names[number]] = (before[0] + calls, before[1] + timed, before[2] + logs)
        return candidates, found

    def groups(self, command):
        done = subprocess.run([self.program, "measure", "--plan", "--", *command], check=True, capture_output=True,
                              text=True, timeout=300, stdin=subprocess.DEVNULL,
                              env={**os.environ, "FIELDCOST_HOME": self.home,
                                   "FIELDCOST_LAB_LIBRARY": str(self.library)})
        bound = re.search(r"(\d+) groups? \((?:fewest possible: (\d+)|at least (\d+))", done.stderr)
        if bound is None:
            bound = re.search(r"(1) (group)", done.stderr)
            return done.stdout.splitlines(), 1, 1
        return done.stdout.splitlines(), int(bound[1]), int(bound[2] or bound[3])

    def lab_passes(self):
        for name, command in PROGRAMS.items():
            if not shutil.which(command[0]):
                continue
            _, groups, bound = self.groups(command)
            yield {"row": 13, "name": f"lab_passes, {name}", "unit": "passes", "value": groups, "floor": bound,
                   "ratio": groups / bound, "target": "<= bound + 1", "ok": groups <= bound + 1, "peers": {}}

    def lab_map(self):
        costs, calls = [], 0
        for _ in range(ROUNDS):
            plain, _ = self.run(SQLITE, with_library=False)
            self.write_plan(MAP)
            mapped, _ = self.run(SQLITE)
            calls = sum(one[0] for one in self.lab_file()[1].values())
            costs.append((mapped - plain) * 1e6 / calls)
        value = statistics.median(costs)
        yield {"row": 13, "name": f"lab_map, {calls} calls", "unit": "ns/call", "value": value, "floor": None,
               "ratio": None, "target": "<= 50", "ok": value <= 50, "peers": {}}

    def lab_start(self):
        """Extrapolated, because no program has exactly that many candidates."""
        costs, candidates = [], 0
        for _ in range(3 * ROUNDS):
            empty, _ = self.run(PROGRAMS["curl"], planned=False)
            self.write_plan(MAP)
            started, _ = self.run(PROGRAMS["curl"])
            candidates, _ = self.lab_file()
            costs.append((started - empty) * 4000 / candidates)
        value = statistics.median(costs)
        yield {"row": 13, "name": f"lab_start, 4000 of {candidates} candidates", "unit": "CPU ms", "value": value,
               "floor": None, "ratio": None, "target": "<= 15", "ok": value <= 15, "peers": {}}

    def lab_undisturbed(self):
        """Compares timings of APIs in their group with timings alone."""
        pairs = [pair for command in (SQLITE, STATEMENTS) for pair in self.together_and_alone(command)]
        ratios = [together / alone for together, alone in pairs if alone >= 1000]
        differences = [together - alone for together, alone in pairs if alone < 1000]
        value = statistics.median(ratios)
        yield {"row": 13, "name": f"lab_undisturbed, {len(ratios)} APIs of 1 us and more", "unit": "ratio",
               "value": value, "floor": 1.0, "ratio": value, "target": "1 +- 0.03", "ok": abs(value - 1) <= 0.03,
               "peers": {"least": min(ratios), "greatest": max(ratios)}}
        worst = max(differences, key=abs, default=0.0)
        middle = statistics.median(differences) if differences else 0.0
        yield {"row": 13, "name": f"lab_undisturbed, {len(differences)} APIs below", "unit": "ns", "value": middle,
               "floor": None, "ratio": None, "target": "+- 5", "ok": abs(middle) <= 5, "peers": {"worst": worst}}

    def together_and_alone(self, command):
        """Yields the mean ns in the group and alone: of each group, for those APIs with at least 1,000 calls that are
        called most or least (the latter take longer)."""
        self.write_plan(MAP)
        self.run(command)
        _, mapped = self.lab_file()
        hashes = {name: hash_of(*name) for name in mapped}
        for line in self.groups(command)[0]:
            members = line.split(": ", 1)[1].split()
            group = [name for name in mapped if f"{name[0]}!{name[1]}" in members and mapped[name][0] >= 1000]
            group.sort(key=lambda one: -mapped[one][0])
            for name in dict.fromkeys(group[:2] + group[-2:]):
                timed = [one for one in mapped if f"{one[0]}!{one[1]}" in members]
                means = self.means_of(command, name, timed, hashes)
                if means is not None:
                    yield means

    def means_of(self, command, name, group, hashes):
        """Returns geometric means in the group and alone, each the median of interleaved runs."""
        means = {True: [], False: []}
        for _ in range(PAIRS):
            for together in (True, False):
                timed = group if together else [name]
                self.write_plan(TIME, [(value, TIMED if one in timed else KNOWN, 255) for one, value in hashes.items()])
                self.run(command)
                _, timed_calls, logs = self.lab_file()[1].get(name, (0, 0, 0))
                if timed_calls == 0:
                    return None
                means[together].append(math.exp2(logs / timed_calls / 256))
        return statistics.median(means[True]), statistics.median(means[False])

    def lab_peers(self):
        """How much longer a scenario takes while it is observed. A small one, because ltrace stops at each call."""
        variants = {"plain": lambda: self.run(SMALL_SQLITE, with_library=False)[1], "map": self.run_map,
                    "time": self.run_time}
        walls = {name: [] for name in variants}
        for _ in range(ROUNDS):
            for name, run in variants.items():
                walls[name].append(run())
        plain = statistics.median(walls["plain"])
        peers = {"uftrace, record and report": self.peer("uftrace"), "ltrace -c": self.peer("ltrace")}
        for name in ("map", "time"):
            value = statistics.median(walls[name])
            yield {"row": 13, "name": f"lab_peers, {name} run", "unit": "ms", "value": value, "floor": plain,
                   "ratio": value / plain, "target": "-", "ok": True, "peers": peers}

    def run_map(self):
        self.write_plan(MAP)
        return self.run(SMALL_SQLITE)[1]

    def run_time(self):
        self.write_plan(TIME, [], b"libsqlite3.so.0!sqlite3_step")
        return self.run(SMALL_SQLITE)[1]

    def peer(self, name):
        if not shutil.which(name):
            return None
        data = self.directory / f"peer-{name}"
        commands = {"uftrace": [["uftrace", "record", "--force", "--no-event", "-d", data, *SMALL_SQLITE],
                                ["uftrace", "report", "--no-pager", "-d", data]],
                    "ltrace": [["ltrace", "-c", "-o", data, *SMALL_SQLITE]]}[name]
        began = time.monotonic()
        try:
            for command in commands:
                subprocess.run([str(part) for part in command], check=True, timeout=300, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        except (subprocess.SubprocessError, OSError):
            return None
        return (time.monotonic() - began) * 1000
