"""The load test of fieldcost-probe-server: devices send over HTTPS while it is killed and restarted.

Usage: probe_load.py --build DIR [--devices 1000] [--events 100] [--kills 3] [--threads 16]

It uses real programs, real TLS and a disk that syncs. Afterwards the database must hold every step exactly once
(counted by SQL), and `verify` must find no problem. Prints one JSON object; exit status 1 if anything is missing or
superfluous.
"""

import argparse
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

STEPS = 21  # points per event of 20 steps


def cpu_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mib(pid):
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) // 1024
    return 0


class Server:
    def __init__(self, program, home):
        self.command = [program, "--config", str(home / "probe-server.toml")]
        self.address = home / "address"
        self.cpu = 0.0
        self.peak_mib = 0

    def start(self):
        self.address.unlink(missing_ok=True)
        self.process = subprocess.Popen(self.command, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 60
        while not self.address.exists():
            if self.process.poll() is not None or time.monotonic() > end:
                sys.exit("probe_load.py: the server does not start")
            time.sleep(0.01)
        return self.address.read_text().strip()

    def end(self, number):
        self.cpu += cpu_seconds(self.process.pid)
        self.peak_mib = max(self.peak_mib, resident_mib(self.process.pid))
        self.process.send_signal(number)
        self.process.wait(timeout=60)


def configure(home, port):
    text = (home / "probe-server.toml").read_text().replace("port = 0\ncert", f"port = {port}\ncert")
    text = text.replace("[admin]", "requests_per_minute_per_address = 0\nmax_connections_per_address = 0\n[admin]")
    (home / "probe-server.toml").write_text(text)


def free_port():
    import socket
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def measure(build, home, options):
    program, load = str(build / "bin/fieldcost-probe-server"), str(build / "bench/bench_probe_load")
    subprocess.run([program, "init", "--dir", str(home), "--host", "127.0.0.1", "--port", "0", "--admin-port", "0"],
                   check=True, stdout=subprocess.DEVNULL)
    configure(home, free_port())
    (home / "data").mkdir(mode=0o700)
    database = home / "data/probe-server.db"
    tokens = subprocess.run([load, "prepare", str(database), str(options.devices)], check=True,
                            capture_output=True, text=True).stdout
    server = Server(program, home)
    url = server.start()
    sender = subprocess.Popen([load, "send", url, str(home / "ca.pem"), str(options.events), str(options.threads)],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    sender.stdin.write(tokens)
    sender.stdin.close()
    sender.stdout.readline()  # "ready"
    wanted = options.devices * options.events * STEPS
    for kill in range(1, options.kills + 1):
        while sender.poll() is None and stored(database) < wanted * kill / (options.kills + 1):
            time.sleep(0.05)
        server.end(signal.SIGKILL)
        server.start()
    result = json.loads(sender.stdout.readline())
    if sender.wait() != 0:
        sys.exit("probe_load.py: a batch was refused")
    server.end(signal.SIGTERM)
    return server, result, database, program


def stored(database):
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=30) as connection:
        return connection.execute("SELECT ifnull(sum(steps), 0) FROM usage").fetchone()[0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--devices", type=int, default=1000)
    parser.add_argument("--events", type=int, default=100)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--threads", type=int, default=16)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        server, result, database, program = measure(options.build, home, options)
        verified = subprocess.run([program, "verify", "--config", str(home / "probe-server.toml")], check=False,
                                  capture_output=True, text=True)
        with sqlite3.connect(database) as connection:
            events, = connection.execute("SELECT count(*) FROM event").fetchone()
            hits, distinct = connection.execute(
                "SELECT count(*), count(DISTINCT event || '.' || ns || '.' || thread || '.' || sequence) FROM hit"
            ).fetchone()
        size = database.stat().st_size
    wanted = options.devices * options.events * STEPS
    right = hits == distinct == wanted and events == options.devices * options.events and verified.returncode == 0
    result |= {"once": right, "events": events, "hits": hits, "wanted": wanted, "kills": options.kills,
               "steps_per_second": round(wanted / result["seconds"]),
               "server_cpu_seconds": round(server.cpu, 2), "steps_per_cpu_second": round(wanted / server.cpu),
               "peak_mib": server.peak_mib, "bytes_per_step": round(size / wanted, 1),
               "load_average": os.getloadavg()[0]}
    print(json.dumps(result, indent=1))
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
