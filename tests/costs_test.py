"""Checks what costs.sh builds and prints, with programs that only claim to build."""

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Records its arguments and whether it may use the compiler cache; configures two sources.
CMAKE = """#!/bin/bash
echo "cmake $* cache-off=$CCACHE_DISABLE" >> calls
if [[ "$1" == --preset ]]; then
  [[ ! -e "$4" ]] || { echo "not empty: $4"; exit 1; }
  mkdir -p "$4"
  printf '{"file": "a"}\\n{"file": "b"}\\n' > "$4/compile_commands.json"
fi
[[ "$*" != *"$FAILS"* || -z "$FAILS" ]] || { echo "the compiler's message"; exit 1; }
"""
CTEST = """#!/bin/bash
echo "ctest $*" >> calls
"""


class CostsTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = Path(directory.name)
        (self.root / "tests").mkdir()
        for script in ("costs.sh", "run_times.sh"):
            (self.root / "tests" / script).symlink_to(HERE / script)
        for name, text in (("cmake", CMAKE), ("ctest", CTEST)):
            (self.root / name).write_text(text)
            (self.root / name).chmod(0o755)

    def run_costs(self, *rows, fails=""):
        return subprocess.run([self.root / "tests/costs.sh", *rows], capture_output=True, text=True, timeout=60,
                              env={**os.environ, "PATH": f"{self.root}:{os.environ['PATH']}", "FAILS": fails})

    def calls(self):
        return (self.root / "calls").read_text().splitlines()

    def test_each_row_is_one_of_the_table(self):
        done = self.run_costs()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        form = r"\| {} \| {} \| \d+ \| 0\.\d \(\d+ cores\) \| {} \| \d{{4}}-\d\d-\d\d \|"
        wanted = [("quickstart", "2", "≤ 500"), ("release", "2", "≤ 900"), ("dev", "2", "-"), ("tests", "-", "-")]
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), len(wanted))
        for line, parts in zip(lines, wanted):
            self.assertTrue(re.fullmatch(form.format(*parts), line), line)
        table = (HERE / "README.md").read_text()
        for row, _, limit in wanted:
            self.assertRegex(table, rf"\n\| {row} \|.*\| {limit} \|")

    def test_builds_begin_with_nothing(self):
        for _ in range(2):
            self.assertEqual(self.run_costs("quickstart").returncode, 0)
        self.assertEqual(self.calls()[:2], [
            "cmake --preset quickstart -B build/costs/quickstart cache-off=1",
            "cmake --build build/costs/quickstart --target fieldcost fieldcostd fieldcost-aggregator "
            "fieldcost_preload cache-off=1"])
        self.assertEqual(len(self.calls()), 4)

    def test_the_quick_start_has_the_programs_of_its_preset(self):
        presets = (HERE.parent / "CMakePresets.json").read_text()
        targets = re.search(r'"configurePreset": "quickstart",\s*"targets": \[([^\]]*)\]', presets)[1]
        self.assertIn(" ".join(re.findall(r'"([^"]+)"', targets)), (HERE / "costs.sh").read_text())

    def test_a_failure_is_shown_and_ends_it(self):
        done = self.run_costs("release", "dev", fails="--build")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("the compiler's message", done.stderr)
        self.assertIn("build/costs/release.log", done.stderr)
        self.assertEqual(len(self.calls()), 2)

    def test_unknown_rows_are_refused(self):
        done = self.run_costs("nothing")
        self.assertEqual((done.returncode, done.stdout), (64, ""))
        self.assertIn("no row called nothing; there are quickstart release dev tests", done.stderr)


if __name__ == "__main__":
    unittest.main()
