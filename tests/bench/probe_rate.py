"""How many points per second one thread passes for one second, recorded by `fieldcost probe run`, without any loss.

    ./tests/bench/run.sh probe_rate

Each run passes events of four points at a steady rate. The points in the database and those it counts as lost must add
up to what the program passed. Three seconds at the required rate are also reported.
"""

import json
import os
import sqlite3
import subprocess
import tempfile
from pathlib import Path

REQUIRED = 200_000
RATES = (100_000, REQUIRED, 300_000, 400_000, 600_000, 800_000)
LONG_SECONDS = 3
AUTOMATIC = 5  # points of the process itself, which may also be lost


class ProbeRateBench:
    def __init__(self, build):
        self.build = Path(build).resolve()

    def kept(self, rate, seconds):
        """Returns the share of the points that were kept, and how long the program took."""
        with tempfile.TemporaryDirectory() as home:
            environment = {**os.environ, "FIELDCOST_HOME": home}
            ran = subprocess.run([self.build / "bin" / "fieldcost", "probe", "run", "--local", "--",
                                  self.build / "bench" / "bench_probe_rate", str(rate), str(seconds)],
                                 env=environment, capture_output=True, text=True, check=True)
            passed = json.loads(ran.stdout)
            with sqlite3.connect(f"file:{home}/state/probe.db?mode=ro", uri=True) as database:
                kept, = database.execute("SELECT count(*) FROM hit JOIN event ON hit.event = event.row"
                                         " WHERE event.id_number != 0").fetchone()
                lost, = database.execute("SELECT sum(lost_hits) FROM run").fetchone()
        if not 0 <= kept + lost - passed["points"] <= AUTOMATIC:
            raise subprocess.SubprocessError(f"{passed} passed, {kept} kept, {lost} lost")
        return kept / passed["points"], passed["seconds"]

    def probe_rate(self):
        best = 0
        for rate in RATES:
            share, took = self.kept(rate, 1)
            yield self.row(f"kept of {rate:,} a second", "%", share * 100,
                           f"100 % of {REQUIRED:,}; took {took:.2f} s", share == 1 or rate > REQUIRED)
            if share < 1:
                break
            best = rate / took
        yield self.row("points a second without loss", "1/s", best, f">= {REQUIRED:,}", best >= 0.9 * REQUIRED)
        share, took = self.kept(REQUIRED, LONG_SECONDS)
        yield self.row(f"kept of {LONG_SECONDS} s at {REQUIRED:,}", "%", share * 100, f"-; took {took:.2f} s", True)

    @staticmethod
    def row(name, unit, value, target, ok):
        return {"row": 16, "name": f"probe_rate, {name}", "unit": unit, "value": value, "floor": None, "ratio": None,
                "target": target, "ok": ok, "peers": {}}
