"""How the service's memory grows under all loads at once: batches, publications, backups, reads."""

import re
import signal
import ssl
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

from service import Service

MINUTES = 10
BATCHES_A_SECOND = 6
BATCHES_OF_AN_AGENT = 8
READS_A_SECOND = 20
# The hourly and nightly work of a production service, but often enough to happen many times within ten minutes.
PUBLICATION_SECONDS = 20
BACKUP_SECONDS = 60
RELOAD_SECONDS = 30
MAX_MIB_A_MINUTE = 1.0
READS = ["timestamp", "root/newest", "policy"]


def resident_mib(pid):
    with open(f"/proc/{pid}/status") as status:
        return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1)) / 1024


def slope(points):
    """Returns the slope of the least-squares line through the points (x, y)."""
    n = len(points)
    mean_x = sum(x for x, _ in points) / n
    mean_y = sum(y for _, y in points) / n
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / spread


class Soak:
    def __init__(self, bench, minutes):
        self.bench = bench
        self.seconds = minutes * 60
        self.done = threading.Event()
        self.counts = {"reads": 0, "publications": 0, "backups": 0, "reloads": 0, "failures": 0}

    def every(self, seconds, name, work):
        """Starts a thread that calls `work` every `seconds` until the end, and counts the calls."""
        def run():
            while not self.done.wait(seconds):
                try:
                    work()
                    self.counts[name] += 1
                except (OSError, subprocess.SubprocessError, urllib.error.URLError) as error:
                    self.counts["failures"] += 1
                    print(f"soak: {name}: {error}", file=sys.stderr)
        thread = threading.Thread(target=run)
        thread.start()
        return thread

    def read(self):
        target = READS[self.counts["reads"] % len(READS)]
        try:
            urllib.request.urlopen(f"{self.service.url}/v1/{target}", timeout=30,
                                   context=self.trust).read()
        except urllib.error.HTTPError as refusal:
            if refusal.code != 404:  # no policy is published here
                raise

    def back_up(self):
        subprocess.run([self.service.program, "backup", "--config", self.service.config, "--to",
                        self.directory / "backups"], check=True, timeout=300, stdout=subprocess.DEVNULL)

    def sample(self):
        """Returns (minutes, MiB) per second; prints one line per minute."""
        points, start = [], time.monotonic()
        while (passed := time.monotonic() - start) < self.seconds:
            points.append((passed / 60, resident_mib(self.service.process.pid)))
            if len(points) % 60 == 0:
                print(f"soak: minute {len(points) // 60}: {points[-1][1]:.0f} MiB", file=sys.stderr, flush=True)
            time.sleep(1)
        return points

    def run(self):
        self.directory = self.bench.directory()
        batches = int(self.seconds * BATCHES_A_SECOND)
        traffic = self.bench.make(agents=batches // BATCHES_OF_AN_AGENT + 1)
        token = self.directory / "token"
        token.write_text("soak\n")
        token.chmod(0o600)
        self.service = Service(self.bench.build, self.directory, threshold=1, more=(
            f'[admin]\nport = 0\naddress_file = "{self.directory / "admin"}"\ntoken_files = ["token"]\n'))
        self.trust = ssl.create_default_context(cafile=str(self.service.ca))
        signal_service = self.service.process.send_signal
        threads = [
            self.every(1 / READS_A_SECOND, "reads", self.read),
            self.every(PUBLICATION_SECONDS, "publications", self.service.publish),
            self.every(BACKUP_SECONDS, "backups", self.back_up),
            self.every(RELOAD_SECONDS, "reloads", lambda: signal_service(signal.SIGHUP)),
        ]
        try:
            sent = {}
            sender = threading.Thread(target=lambda: sent.update(self.bench.send(
                self.service, traffic, batches=batches, rate=BATCHES_A_SECOND,
                timeout=2 * self.seconds + 600)))
            sender.start()
            points = self.sample()
            self.done.set()
            for thread in [sender, *threads]:
                thread.join()
            self.service.stop()
            words = self.service.verify()
            if "ok=yes" not in words or f"batches={sent['batches']} " not in words:
                raise subprocess.SubprocessError(f"the store does not hold what was acknowledged: {words}")
        finally:
            self.done.set()
            self.service.kill()
        growth = slope(points[len(points) // 2:])
        yield {"row": None, "name": f"memory, {self.seconds / 60:.0f} min of all", "unit": "MiB/min", "value": growth,
               "floor": None, "ratio": None, "target": f"<= {MAX_MIB_A_MINUTE:.0f} in the last half",
               "ok": growth <= MAX_MIB_A_MINUTE and self.counts["failures"] == 0,
               "peers": {"MiB at the end": points[-1][1], "MiB at most": max(mib for _, mib in points),
                         "batches": sent["batches"], **self.counts}}
