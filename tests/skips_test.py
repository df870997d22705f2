"""Checks which skipped tests skips.py counts as errors."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from skips import lacks_idle_files

REASON = "too little idle time to record: all CPUs were idle for {} % of the time"


def status_of(name, reason, *options):
    output = f"a_test.cc:1: Skipped\n{reason}\n[  SKIPPED ] {name} (5 ms)"
    case = f'<testcase name="{name}" status="notrun"><system-out>{output}</system-out></testcase>'
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as results:
        results.write(f"<testsuite>{case}</testsuite>")
        results.flush()
        program = Path(__file__).parent / "skips.py"
        done = subprocess.run([sys.executable, program, results.name, *options], capture_output=True, text=True)
    assert done.stdout.startswith("skipped"), done.stdout + done.stderr
    return done.returncode


class SkipsTest(unittest.TestCase):
    def test_a_skip_is_an_error_only_in_strict_mode(self):
        self.assertEqual(status_of("A.B", "no BPF"), 0)
        self.assertEqual(status_of("A.B", "no BPF", "--strict"), 1)

    def test_a_listed_skip_is_no_error(self):
        self.assertEqual(status_of("PoisonFaults.FourThousandHonestAgents", "too long", "--strict"), 0)

    def test_lack_of_idle_cpus_must_be_proven(self):
        self.assertEqual(status_of("A.B", REASON.format("0.042974"), "--strict"), 0)
        self.assertEqual(status_of("A.B", REASON.format("1.000000"), "--strict"), 1)
        self.assertEqual(status_of("A.B", REASON.format("37.5"), "--strict"), 1)
        self.assertEqual(status_of("A.B", "no CPU was idle", "--strict"), 1)

    def test_files_that_the_kernel_lacks_must_not_exist(self):
        reason = "cannot determine how long CPU 0 is idle: the kernel does not report it (in /proc/schedstat)"
        with tempfile.TemporaryDirectory() as directory:
            root = Path(directory)
            self.assertTrue(lacks_idle_files(reason, root))
            self.assertFalse(lacks_idle_files("no BPF", root))
            (root / "proc").mkdir()
            (root / "proc/schedstat").touch()
            self.assertFalse(lacks_idle_files(reason, root))


if __name__ == "__main__":
    unittest.main()
