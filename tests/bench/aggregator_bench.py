"""Rows 7, 8 and 9: the service as a process, over HTTPS, compared with its floors and peers."""

import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import scaling
import soak
from peers import PEERS
from service import Service, on_cores, run_json, split_cores

CONNECTIONS = 32
AGENTS = 250  # with 8 batches each, all in one week
FSYNCS = 1000
PUBLISHED_ROWS = 1_000_000
PUBLISH_MIB = 200
INGEST_MIB = 300


class AggregatorBench:
    def __init__(self, build, picture, minutes):
        self.build = build
        self.program = build / "bench" / "bench_aggregator"
        # Must be on a disk, not on an in-memory file system.
        self.state = Path(tempfile.mkdtemp(prefix="fieldcost-bench.", dir="/var/tmp"))
        self.state.chmod(0o755)  # PostgreSQL runs as another user
        self.picture = picture
        self.minutes = minutes
        self.traffic_file = None
        self.peaks = {}  # whether the sender had a core of its own -> batches per second

    def close(self):
        shutil.rmtree(self.state, ignore_errors=True)

    def tool(self, command, timeout=600, cores="", **arguments):
        words = on_cores(cores, [self.program, command])
        for name, value in arguments.items():
            words += ["--" + name.replace("_", "-"), value]
        return run_json(words, timeout)

    def directory(self):
        return Path(tempfile.mkdtemp(dir=self.state))

    def make(self, **options):
        path = self.directory() / "traffic"
        self.tool("make", traffic=path, **options)
        return path

    def traffic(self):
        if self.traffic_file is None:
            self.traffic_file = self.make(agents=AGENTS)
        return self.traffic_file

    def send(self, service, traffic, batches=1_000_000, skip=0, rate=0.0, connections=CONNECTIONS, fresh=0,
             timeout=600, cores=""):
        """Sends `rate` batches per second; 0: each after a response."""
        return self.tool("send", traffic=traffic, url=service.url, ca=service.ca, root=service.root, batches=batches,
                         skip=skip, millibatches=int(rate * 1000), connections=connections, fresh=fresh,
                         timeout=timeout, cores=cores)

    def ingest_once(self, traffic, threads=2, cores=("", ""), **options):
        """Sends everything to a new store; returns wall seconds, and the server's CPU seconds until it has ended.
        `cores`: those of the sender and of the server."""
        directory = self.directory()
        service = Service(self.build, directory, threads=threads, cores=cores[1])
        try:
            sent = self.send(service, traffic, cores=cores[0], **options)
            memory = service.peak_mib()
            sent["server_cpu_seconds"] = service.stop()
            sent["written_bytes"] = service.written
            sent["memory_mib"] = memory
            words = service.verify()
            if "ok=yes" not in words or f"batches={sent['batches']} " not in words:
                raise subprocess.SubprocessError(f"the store does not hold what was acknowledged: {words}")
            return sent
        finally:
            service.kill()
            shutil.rmtree(directory, ignore_errors=True)

    def measure_peak(self, apart=False):
        """Returns batches per second; `apart`: the sender has a core of its own."""
        if apart not in self.peaks:
            sent = self.ingest_once(self.traffic(), batches=1000, cores=split_cores() if apart else ("", ""))
            self.peaks[apart] = sent["batches"] / sent["seconds"]
        return self.peaks[apart]

    def ingest(self):
        traffic = self.traffic()
        floor = self.tool("floor", traffic=traffic)
        sent = self.ingest_once(traffic)
        self.peaks[False] = sent["batches"] / sent["seconds"]
        second_floor = self.tool("floor", traffic=traffic)
        adds = floor["adds"] / 1e6
        floor_rate = adds / min(floor["cpu_seconds"], second_floor["cpu_seconds"])
        core, wall = adds / sent["server_cpu_seconds"], adds / sent["seconds"]
        # The cost of a handshake per batch: agents send one batch or a few per day.
        fresh = self.ingest_once(traffic, batches=400, fresh=1)
        part = self.tool("floor", traffic=traffic, batches=400)
        yield {"row": 7, "name": "ingest, per core", "unit": "M/s", "value": core, "floor": floor_rate,
               "ratio": core / floor_rate, "target": ">= 0.5 x floor", "ok": core >= 0.5 * floor_rate,
               "peers": {"one handshake per batch": part["adds"] / 1e6 / fresh["server_cpu_seconds"]}}
        yield {"row": 7, "name": "ingest, memory", "unit": "MiB", "value": sent["memory_mib"], "floor": None,
               "ratio": None, "target": f"<= {INGEST_MIB}", "ok": sent["memory_mib"] <= INGEST_MIB, "peers": {}}
        yield self.write_amplification(floor["body_bytes"], sent["written_bytes"])
        seen, per_core, ok = {}, {}, True
        for name, (peer, factor) in PEERS.items():
            try:
                result = peer(self.program, traffic, self.directory()).run(floor["batches"])
            except (subprocess.SubprocessError, OSError) as error:
                print(f"bench: {name}: {error}", file=sys.stderr)
                result = None
            seen[name] = result and result["adds"] / 1e6 / result["seconds"]
            per_core[name + ", per core"] = result and result["adds"] / 1e6 / result["cpu_seconds"]
            ok = ok and (factor is None or (result is not None and wall >= factor * seen[name]))
        yield {"row": 7, "name": "ingest, this machine", "unit": "M/s", "value": wall, "floor": floor_rate,
               "ratio": wall / floor_rate,
               "target": ", ".join(f">= {factor} x {name}" for name, (_, factor) in PEERS.items() if factor),
               "ok": ok, "peers": {**seen, **per_core}}

    @staticmethod
    def write_amplification(acknowledged, written):
        """The floor is one log that contains the batches as received. Includes flushes, compactions and the last
        checkpoint."""
        ratio = written and written / acknowledged
        return {"row": 7, "name": "ingest, bytes written per acknowledged", "unit": "x", "value": ratio, "floor": 1.0,
                "ratio": ratio, "target": "no target", "ok": True,
                "peers": {"MiB acknowledged": acknowledged / 2**20, "MiB written": written and written / 2**20}}

    def scaling(self):
        yield from scaling.rows(self, self.picture)

    def soak(self):
        yield from soak.Soak(self, self.minutes).run()

    def ack_latency(self):
        """At half of the peak load, while the sender has a core of its own."""
        rate = self.measure_peak(apart=True) / 2
        sender, server = split_cores()
        directory = self.directory()
        before = self.tool("sync", directory=directory, count=FSYNCS)
        service = Service(self.build, directory, cores=server)
        try:
            sent = self.send(service, self.traffic(), rate=rate, connections=2 * CONNECTIONS, cores=sender)
            batch_ms = service.stop() / sent["batches"] * 1e3
        finally:
            service.kill()
        after = self.tool("sync", directory=directory, count=FSYNCS)
        shutil.rmtree(directory, ignore_errors=True)
        sync = {name: max(before[name], after[name]) for name in before}
        for name, key, most in (("p99", "p99_ms", 3), ("median", "p50_ms", 1.3)):
            value, floor = sent[key], sync[key] + batch_ms
            yield {"row": 8, "name": f"ack {name}, {rate:.0f} batches/s", "unit": "ms", "value": value,
                   "floor": floor, "ratio": value / floor,
                   "target": f"<= {most} x (fdatasync of 128 KiB, {name}, + CPU time of a batch)",
                   "ok": value <= most * floor,
                   "peers": {"p99.9": sent["p999_ms"], "CPU of a batch": batch_ms, f"fdatasync, {name}": sync[key],
                             "fdatasync, p99.9": sync["p999_ms"]}}

    def publish_once(self, rows):
        """Returns (seconds, seconds for reading, MiB) of a complete publication without existing fragments."""
        directory = self.directory()
        try:
            data = directory / "data"
            self.tool("fill", directory=data, rows=rows)
            read = min(self.tool("scan", directory=data)["seconds"] for _ in range(3))
            service = Service(self.build, directory, threshold=1)
            try:
                for fragment in (data / "publish" / "fragments").iterdir():
                    fragment.unlink()
                service.forget_peak()
                seconds, words = service.publish()
                if f"rows={rows} " not in words:
                    raise subprocess.SubprocessError(f"not {rows} rows are published: {words}")
                memory = service.peak_mib()
                service.stop()
            finally:
                service.kill()
            return seconds, read, memory
        finally:
            shutil.rmtree(directory, ignore_errors=True)

    def publish(self):
        seconds, read, memory = self.publish_once(PUBLISHED_ROWS)
        yield {"row": 9, "name": "publish 1 M rows", "unit": "s", "value": seconds, "floor": read,
               "ratio": seconds / read, "target": "<= 3 x reading them", "ok": seconds <= 3 * read, "peers": {}}
        yield {"row": 9, "name": "publish 1 M rows, memory", "unit": "MiB", "value": memory, "floor": None,
               "ratio": None, "target": f"<= {PUBLISH_MIB}", "ok": memory <= PUBLISH_MIB, "peers": {}}
        yield self.disturbance()

    def disturbance(self):
        """Ingest at half of its peak rate, without and with continuous publications."""
        rate = self.measure_peak() / 2
        directory = self.directory()
        self.tool("fill", directory=directory / "data", rows=PUBLISHED_ROWS)
        service = Service(self.build, directory, threshold=1)
        try:
            half = AGENTS * 8 // 2
            quiet = self.send(service, self.traffic(), batches=half, rate=rate, connections=2 * CONNECTIONS)
            ended = threading.Event()
            published = []

            def publish():
                while not ended.is_set():
                    published.append(service.publish()[0])

            publisher = threading.Thread(target=publish)
            publisher.start()
            try:
                loud = self.send(service, self.traffic(), batches=half, skip=half, rate=rate,
                                 connections=2 * CONNECTIONS)
            finally:
                ended.set()
                publisher.join()
            memory = service.peak_mib()
            service.stop()
        finally:
            service.kill()
            shutil.rmtree(directory, ignore_errors=True)
        return {"row": 9, "name": "ack p99 while publishing", "unit": "ms", "value": loud["p99_ms"],
                "floor": quiet["p99_ms"], "ratio": loud["p99_ms"] / quiet["p99_ms"],
                "target": "<= 2 x without", "ok": loud["p99_ms"] <= 2 * quiet["p99_ms"],
                "peers": {"publications": len(published), "seconds each": sum(published) / len(published),
                          "median without": quiet["p50_ms"], "median with": loud["p50_ms"],
                          "peak MiB": memory}}
