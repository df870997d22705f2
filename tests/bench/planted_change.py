"""How often `fieldcost tree compare` finds a planted change in real runs, and how often it reports anything else.

    ./tests/bench/run.sh planted_change

Programs: one with twenty equally expensive functions and a small one, one with a dominating function, and gzip,
sqlite3 and python3, which were not written for this test. Each is recorded RUNS times, alternating with a variant:
the same in a file with another name, everything + 20 %, the hottest function + 50 %, a function with 2 % of the cost
+ 50 %. Exact counts and bytes are compared in the same way, with a few runs. Each comparison is repeated REPEATS times
(environment variable of that name; default 20). Takes over an hour.
"""

import json
import os
import subprocess
import tempfile
from pathlib import Path

REPEATS = int(os.environ.get("REPEATS", "20"))
RUNS = 10
EXACT_RUNS = 3
RATE = 3989
WORK = 400_000  # loop iterations per thousandth of the program
LEAST_FOUND = 0.95
MOST_FALSE = 0.05

# Each function's share of the cost, in thousandths; the last one is small.
SHAPES = {"equal": {**{f"part{i}": 49 for i in range(20)}, "small": 20},
          "dominated": {"hot": 600, "cold1": 200, "cold2": 180, "small": 20}}
PLANTED = {"nothing": {}, "everything + 20 %": {"*": 1.2}, "hottest + 50 %": {"part0": 1.5, "hot": 1.5},
           "2 % share + 50 %": {"small": 1.5}}


def timed_source(shape, planted):
    """Returns C code with functions that take their share, times the factor planted for that function or all ("*")."""
    lines = ["static volatile unsigned long sink;"]
    for name, share in SHAPES[shape].items():
        work = int(WORK * share * planted.get(name, planted.get("*", 1)))
        lines.append(f"__attribute__((noinline)) void {name}(void) {{ unsigned long s = 1;"
                     f" for (long n = 0; n < {work}; n++) s = s * 6364136223846793005UL + 1442695040888963407UL;"
                     " sink = s; }")
    calls = " ".join(f"{name}();" for name in SHAPES[shape])
    return "\n".join(lines + [f"int main(void) {{ {calls} return 0; }}"])


def counted_source(often, size):
    """Returns C code whose main() calls usual() 1,000 times and often() `often` times; each allocates."""
    return f"""#include <stdlib.h>
static void *volatile sink;
__attribute__((noinline)) void usual(void) {{ sink = malloc(64); free(sink); }}
__attribute__((noinline)) void often(void) {{ sink = malloc({size}); free(sink); }}
int main(void) {{
  for (int i = 0; i < 1000; i++) usual();
  for (int i = 0; i < {often}; i++) often();
  return 0;
}}"""


class PlantedBench:
    def __init__(self, build):
        self.build = Path(build).resolve()
        self.folder = None

    def compiled(self, name, source, *options):
        file = self.folder / name
        subprocess.run(["gcc", "-O1", *options, "-x", "c", "-", "-o", str(file)], input=source, text=True, check=True)
        return [str(file)]

    def compared(self, old, new, *options):
        """Returns the functions reported as changed, by innermost frame, and "total" if the total has changed."""
        words = [str(self.build / "bin" / "fieldcost"), "tree", "compare", "--json", *options, "--", *old, "--", *new]
        ran = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if ran.returncode not in (0, 1):
            raise RuntimeError(f"{words} ended with {ran.returncode}: {ran.stderr}")
        comparison = json.loads(ran.stdout)["comparison"]
        found = {(change["path"] or ["all"])[-1].split("!")[-1].split(" ")[0] for change in comparison["changes"]}
        return found | ({"total"} if comparison["total"]["changed"] else set()), ran.returncode

    def timed(self, old, new):
        return self.compared(old, new, "--runs", str(RUNS), "--rate", str(RATE), "--metric", "cpu")

    def rates(self, name, old, new, expected, compare):
        """Yields rows: how often the expected change is found, and how often anything else is reported."""
        found, other = 0, 0
        for _ in range(REPEATS):
            names, status = compare(old, new)
            found += bool(names & expected) and status == 1
            other += bool(names - expected - {"total", "main", "_start", "all"}) if expected else bool(names)
        if expected:
            yield self.row(f"{name}: found", found, f">= {LEAST_FOUND:.0%} of {REPEATS}",
                           found >= LEAST_FOUND * REPEATS)
        if expected != {"total"}:
            yield self.row(f"{name}: anything else reported", other, f"<= {MOST_FALSE:.0%} of {REPEATS}",
                           other <= MOST_FALSE * REPEATS)

    def planted_change(self):
        with tempfile.TemporaryDirectory() as folder:
            self.folder = Path(folder)
            yield from self.own_programs()
            yield from self.real_programs()
            yield from self.exact()

    def own_programs(self):
        for shape in SHAPES:
            old = self.compiled(f"{shape}-old", timed_source(shape, {}))
            for number, (name, planted) in enumerate(PLANTED.items()):
                new = self.compiled(f"{shape}-new{number}", timed_source(shape, planted))
                expected = {"total"} if "*" in planted else set(planted) & set(SHAPES[shape])
                yield from self.rates(f"{shape}, {name}", old, new, expected, self.timed)

    def real_programs(self):
        text = self.folder / "text"
        files = sorted(Path("/usr/share/doc").glob("*/copyright"))[:300]
        text.write_bytes(b"".join(file.read_bytes() for file in files))
        rows = ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {})"
                " SELECT sum(i * i % 7) FROM n;")
        loop = "s = 0\nfor i in range({}):\n    s += i * i % 7\n"
        real = {"gzip": (["gzip", "-6", "-c", str(text)], ["gzip", "-9", "-c", str(text)]),
                "sqlite3": (["sqlite3", ":memory:", rows.format(600_000)],
                            ["sqlite3", ":memory:", rows.format(900_000)]),
                "python3": (["python3", "-c", loop.format(3_000_000)], ["python3", "-c", loop.format(4_500_000)])}
        for name, (old, new) in real.items():
            yield from self.rates(f"{name}, nothing", old, old, set(), self.timed)
            yield from self.rates(f"{name}, more work", old, new, {"total"}, self.timed)

    def exact(self):
        def compare(metric):
            return lambda old, new: self.compared(old, new, "--runs", str(EXACT_RUNS), "--events", "functions",
                                                  "--metric", metric)
        hooks = ["-finstrument-functions"]
        old = self.compiled("exact-old", counted_source(5_000, 64), *hooks)
        same = self.compiled("exact-same", counted_source(5_000, 64), *hooks)
        more = self.compiled("exact-more", counted_source(5_001, 64), *hooks)
        larger = self.compiled("exact-larger", counted_source(5_000, 65), *hooks)
        yield from self.rates("calls, nothing", old, same, set(), compare("calls"))
        yield from self.rates("calls, one more in 5,000", old, more, {"often"}, compare("calls"))
        yield from self.rates("bytes, nothing", old, same, set(), compare("allocated"))
        yield from self.rates("bytes, 65 instead of 64 per call", old, larger, {"often"}, compare("allocated"))

    @staticmethod
    def row(name, value, target, ok):
        return {"row": 14, "name": f"planted_change, {name}", "unit": f"of {REPEATS}", "value": value, "floor": None,
                "ratio": None, "target": target, "ok": ok, "peers": {}}
