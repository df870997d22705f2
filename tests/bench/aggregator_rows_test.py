"""Checks how the rows of the service follow from what was measured, and the helpers that measure; starts no service."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import aggregator_bench
import service
from report import FIELDS

SENT = {"batches": 100, "seconds": 1.0, "p50_ms": 5.2, "p99_ms": 18.0, "p999_ms": 40.0}
SYNCS = [{"p50_ms": 1.0, "p99_ms": 2.0, "p999_ms": 7.0}, {"p50_ms": 0.5, "p99_ms": 3.0, "p999_ms": 6.0}]
CPU_SECONDS = 0.3  # 3 ms per batch


class FakeService:
    def __init__(self, build, directory, cores=""):
        del build, directory
        self.cores = cores

    def stop(self):
        return CPU_SECONDS

    def kill(self):
        pass


def rows_of(sent):
    """Returns the rows of ack_latency, and where the sender and the server ran."""
    with tempfile.TemporaryDirectory() as directory:
        bench = object.__new__(aggregator_bench.AggregatorBench)
        bench.build = Path(directory)
        bench.directory = lambda: Path(tempfile.mkdtemp(dir=directory))
        bench.traffic = lambda: None
        bench.peaks = {True: 300.0}
        syncs = iter(SYNCS)
        bench.tool = lambda command, **options: next(syncs)
        used = {}

        def send(running, traffic, cores="", rate=0, connections=0):
            del traffic, connections
            used.update(sender=cores, server=running.cores, rate=rate)
            return sent

        bench.send = send
        with mock.patch.object(aggregator_bench, "Service", FakeService), \
                mock.patch.object(aggregator_bench, "split_cores", lambda: ("3", "0,1,2")):
            return list(bench.ack_latency()), used


class AggregatorRowsTest(unittest.TestCase):
    def test_latency_is_compared_with_a_sync_and_the_cpu_time_of_a_batch(self):
        (p99, median), used = rows_of(SENT)
        self.assertEqual(used, {"sender": "3", "server": "0,1,2", "rate": 150.0})
        self.assertEqual((p99["value"], p99["floor"], p99["ratio"], p99["ok"]), (18.0, 6.0, 3.0, True))
        self.assertEqual((median["value"], median["floor"], median["ok"]), (5.2, 4.0, True))
        for row in (p99, median):
            self.assertEqual(set(row), set(FIELDS))
            self.assertEqual(row["row"], 8)
            self.assertEqual(row["peers"]["p99.9"], 40.0)
            self.assertEqual(row["peers"]["fdatasync, p99.9"], 7.0)

    def test_slower_acknowledgements_miss_their_targets(self):
        rows, _ = rows_of({**SENT, "p50_ms": 5.3, "p99_ms": 18.1})
        self.assertEqual([row["ok"] for row in rows], [False, False])

    def test_write_amplification_is_the_ratio_of_written_to_acknowledged_bytes(self):
        row = aggregator_bench.AggregatorBench.write_amplification(2**20, 3 * 2**20)
        self.assertEqual((row["value"], row["floor"], row["ratio"], row["ok"]), (3.0, 1.0, 3.0, True))
        self.assertEqual(row["peers"], {"MiB acknowledged": 1.0, "MiB written": 3.0})

    def test_unknown_written_bytes_are_not_zero(self):
        row = aggregator_bench.AggregatorBench.write_amplification(2**20, None)
        self.assertEqual((row["value"], row["ratio"], row["peers"]["MiB written"]), (None, None, None))
        self.assertIsNone(service.written_bytes(2**30))

    def test_bytes_are_counted_until_the_process_is_reaped(self):
        with tempfile.NamedTemporaryFile(dir="/var/tmp") as file:
            program = "import os, sys; f = open(sys.argv[1], 'wb'); f.write(b'x' * 3000000); f.flush(); os.fsync(f)"
            process = subprocess.Popen([sys.executable, "-c", program, file.name])
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            written = service.written_bytes(process.pid)
            process.wait()
        if written is None:
            self.skipTest("this kernel or file system does not count what is written")
        self.assertGreaterEqual(written, 3000000)
        self.assertIsNone(service.written_bytes(process.pid))

    def test_sender_and_server_share_no_core_if_there_are_several(self):
        for cores, wanted in (({0, 2, 5}, ("5", "0,2")), ({1}, ("1", "1"))):
            with mock.patch.object(os, "sched_getaffinity", lambda _, cores=cores: cores):
                self.assertEqual(service.split_cores(), wanted)
        self.assertEqual(service.on_cores("0,2", ["a", "b"]), ["taskset", "--cpu-list", "0,2", "a", "b"])
        self.assertEqual(service.on_cores("", ["a", "b"]), ["a", "b"])


if __name__ == "__main__":
    unittest.main()
