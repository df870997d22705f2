"""Checks that benchmarks print rows only: with --json, each line of standard output is one JSON object."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from report import FIELDS

# Runs `bench.py lab_plan` with a benchmark that writes to standard output itself and through children that inherit it.
NOISY = """
import subprocess, sys
import bench

def noisy(self):
    print("printed by the benchmark")
    subprocess.run(["sh", "-c", "echo logged by a child; echo an error of a child >&2"], check=True)
    daemon = subprocess.Popen(["sh", "-c", "read _; echo logged at the end"], stdin=subprocess.PIPE)
    for number in (1.5, None, float("nan"), float("inf")):
        yield {"row": 7, "name": "noise, é", "unit": "ms", "value": number, "floor": number, "ratio": None,
               "target": "<= 1", "ok": number is None, "peers": {"a peer": number, "missing": None}}
    daemon.communicate(b"\\n")

bench.Bench.lab_plan = noisy
sys.exit(bench.main())
"""


def run(program, *arguments):
    with tempfile.TemporaryDirectory() as build:
        return subprocess.run([sys.executable, "-c", program, *arguments, "--build", build], timeout=120,
                              capture_output=True, encoding="utf-8",
                              env={**os.environ, "PYTHONPATH": str(Path(__file__).parent), "PYTHONIOENCODING": "utf-8"})


def refuse(constant):
    raise ValueError(f"{constant} is not JSON")


class ReportTest(unittest.TestCase):
    def test_json_is_one_object_per_line_and_nothing_else(self):
        done = run(NOISY, "lab_plan", "--json")
        self.assertEqual(done.returncode, 1, done.stderr)  # a target is missed
        rows = [json.loads(line, parse_constant=refuse) for line in done.stdout.splitlines()]
        self.assertEqual([row["value"] for row in rows], [1.5, None, None, None])
        self.assertEqual([row["ok"] for row in rows], [False, True, False, False])
        for row in rows:
            self.assertEqual(tuple(row), FIELDS)
            self.assertEqual(row["peers"], {"a peer": row["value"], "missing": None})
        for noise in ("printed by the benchmark", "logged by a child", "an error of a child", "logged at the end"):
            self.assertIn(noise, done.stderr)

    def test_a_table_has_one_line_per_row_and_nothing_else(self):
        done = run(NOISY, "lab_plan")
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), 4, done.stderr)
        self.assertIn("1.50 ms ", lines[0])
        self.assertIn("MISSED  <= 1  | a peer 1.5, missing missing", lines[0])
        for line in lines:
            self.assertTrue(line.startswith("row 7  noise, é"), line)

    def test_refuses_a_row_without_all_fields(self):
        done = run("from report import Report; Report(True).add({'row': 1, 'name': 'x'})")
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stdout, "")
        self.assertIn("fields of a row", done.stderr)


if __name__ == "__main__":
    unittest.main()
