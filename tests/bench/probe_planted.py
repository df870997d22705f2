"""How often `fieldcost probe compare -- OLD -- NEW` names a step of equal programs, and finds one that is 50 % slower.

    ./tests/bench/run.sh probe_planted

The programs were not written for this test: gzip, sqlite3, python3, xz, and sqlite3 started by a shell script, each of
whose processes has its own label. Each comparison (10 runs per side) is repeated REPEATS times (environment variable of
that name; default 40). Takes about 15 minutes.
"""

import json
import os
import subprocess
import tempfile
from pathlib import Path

REPEATS = int(os.environ.get("REPEATS", "40"))
LEAST_FOUND = 0.95
MOST_FALSE = 0.05
STATEMENT = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) SELECT sum(i * i % 7) FROM n;"
POINTS = '[[point]]\nlabel = "answered"\nat = "libsqlite3.so.0!sqlite3_finalize"\n'
LOOPS = ("import sys\nfor count in ({}, {}):\n    s = 0\n    for i in range(count):\n        s += i * i % 7\n"
         "    print(s)\n    sys.stdout.flush()\n")
SCRIPT = "#!/bin/sh\nfor i in 1 2 3; do basename $(readlink -f $0) > /dev/null; done\nsqlite3 :memory: \"$1\"\n"


class ProbePlantedBench:
    def __init__(self, build):
        self.build = Path(build).resolve()
        self.folder = None

    def called(self, old, new, options):
        """Returns the steps reported as slower or faster, each with its label, and labels whose total is reported."""
        words = [str(self.build / "bin" / "fieldcost"), "probe", "compare", "--json", *options, "--", *old, "--", *new]
        environment = {**os.environ, "FIELDCOST_HOME": str(self.folder / "home")}
        ran = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment,
                             check=False)
        if ran.returncode != 0:
            raise RuntimeError(f"{words} ended with {ran.returncode}: {ran.stderr}")
        labels = json.loads(ran.stdout)["labels"]
        steps = {(label["label"], step["name"]) for label in labels for step in label["steps"]
                 if step["change"] in ("more", "less")}
        return steps | {(label["label"], "") for label in labels if label["total"]["change"] in ("more", "less")}

    def rates(self, name, old, new, step, options=()):
        named, totals, found, other = 0, 0, 0, 0
        for _ in range(REPEATS):
            equal = self.called(old, old, options)
            named += any(name for _, name in equal)
            totals += any(not name for _, name in equal)
            planted = {name for _, name in self.called(old, new, options)}
            found += step in planted
            other += bool(planted - {step, ""})
        yield self.row(f"{name}, equal: any step named", named, f"<= {MOST_FALSE:.0%}", named <= MOST_FALSE * REPEATS)
        yield self.row(f"{name}, equal: any total", totals, f"<= {MOST_FALSE:.0%}", totals <= MOST_FALSE * REPEATS)
        where = step or "the total"
        yield self.row(f"{name}, + 50 % in {where}: found", found, f">= {LEAST_FOUND:.0%}",
                       found >= LEAST_FOUND * REPEATS)
        if step:
            yield self.row(f"{name}, + 50 % in {where}: another named", other, f"<= {MOST_FALSE:.0%}",
                           other <= MOST_FALSE * REPEATS)

    def probe_planted(self):
        with tempfile.TemporaryDirectory() as folder:
            self.folder = Path(folder)
            yield from self.all_rates()

    def all_rates(self):
        text, more = self.folder / "text", self.folder / "more"
        sources = sorted(Path(__file__).resolve().parents[2].glob("common/*/*.cc"))
        bytes_ = b"".join(file.read_bytes() for file in sources)[:500_000]
        text.write_bytes(bytes_)
        more.write_bytes(bytes_ + bytes_[:len(bytes_) // 2])
        for program, step in ((["gzip", "-5", "-c"], "first output"), (["xz", "-1", "-c"], "")):
            yield from self.rates(program[0], [*program, str(text)], [*program, str(more)], step)
        points = self.folder / "probe.toml"
        points.write_text(POINTS)
        statements = [STATEMENT.format(count) for count in (40_000, 40_000, 60_000)]
        sqlite3 = ["sqlite3", ":memory:"]
        yield from self.rates("sqlite3", [*sqlite3, statements[0] + statements[1] + statements[0]],
                              [*sqlite3, statements[0] + statements[2] + statements[0]], "answered #2",
                              ["--points", str(points)])
        python3 = ["/usr/bin/python3", "-c"]
        yield from self.rates("python3", [*python3, LOOPS.format(100_000, 100_000)],
                              [*python3, LOOPS.format(100_000, 150_000)], "exit")
        script = self.folder / "script"
        script.write_text(SCRIPT)
        script.chmod(0o755)
        yield from self.rates("a script of 8 processes", [str(script), statements[1]], [str(script), statements[2]],
                              "first output")

    @staticmethod
    def row(name, value, target, ok):
        return {"row": 16, "name": f"probe_planted, {name}", "unit": f"of {REPEATS}", "value": value, "floor": None,
                "ratio": None, "target": target, "ok": ok, "peers": {}}
