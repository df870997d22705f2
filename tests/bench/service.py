"""Runs the aggregator as a process and measures its costs."""

import json
import os
import re
import signal
import subprocess
import threading
import time


def run_json(command, timeout=600):
    """Returns the one JSON object that a part of bench_aggregator prints."""
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, check=True, timeout=timeout)
    return json.loads(done.stdout)


def split_cores():
    """Returns two lists of cores for taskset: the last one alone, and all others. The same list twice if there is only
    one."""
    cores = [str(core) for core in sorted(os.sched_getaffinity(0))]
    return ",".join(cores[-1:]), ",".join(cores[:-1] or cores)


def on_cores(cores, command):
    """Returns the command, restricted to these cores if there are any."""
    return ["taskset", "--cpu-list", cores, *command] if cores else list(command)


def written_bytes(pid):
    """Returns how many bytes the process has caused to be written to disks so far, less those whose file was removed
    first. None if the kernel does not report this."""
    try:
        with open(f"/proc/{pid}/io") as file:
            counts = dict(line.split(": ") for line in file)
        return int(counts["write_bytes"]) - int(counts["cancelled_write_bytes"]) or None
    except (OSError, KeyError):
        return None


def cpu_seconds(pids):
    """Returns the CPU time that processes have used so far, user and system."""
    ticks = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/stat") as stat:
                fields = stat.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        ticks += sum(int(field) for field in fields[11:15])  # including children that have ended
    return ticks / os.sysconf("SC_CLK_TCK")


def children(pid):
    """Returns the process and all its descendants."""
    found = [pid]
    for process in found:
        try:
            for task in os.listdir(f"/proc/{process}/task"):
                with open(f"/proc/{process}/task/{task}/children") as file:
                    found += [int(child) for child in file.read().split()]
        except OSError:
            pass
    return found


def make_certificates(directory):
    """Creates a throw-away certificate authority and a certificate for 127.0.0.1."""
    new = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
           "-days", "30"]
    ca, ca_key = directory / "ca.pem", directory / "ca.key"
    for more in (["-subj", "/CN=bench CA", "-keyout", ca_key, "-out", ca],
                 ["-subj", "/CN=localhost", "-CA", ca, "-CAkey", ca_key, "-addext",
                  "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=CA:FALSE",
                  "-keyout", directory / "server.key", "-out", directory / "server.pem"]):
        subprocess.run([str(c) for c in new + more], check=True, timeout=60, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)


class Service:
    """A running fieldcost-aggregator with its own directory, stopped by its pid."""

    def __init__(self, build, directory, data="data", threshold=5, threads=2, more="", cores=""):
        self.directory = directory
        self.ca = directory / "ca.pem"
        if not self.ca.exists():
            make_certificates(directory)
        address = directory / "address"
        address.unlink(missing_ok=True)
        config = directory / "aggregator.toml"
        # All agents are past their probation and come from one address.
        config.write_text(
            f'[server]\nport = 0\ncertificate = "server.pem"\nprivate_key = "server.key"\n'
            f'address_file = "{address}"\nmax_connections_per_address = 0\n'
            f'requests_per_minute_per_address = 0\nthreads = {threads}\n'
            f'[store]\ndata_dir = "{data}"\n'
            f'[ingest]\nprobation_batches = 0\nthreads = {8 * threads}\n'
            f'[publish]\ninterval_seconds = 0\ncontribution_threshold = {threshold}\n{more}')
        self.root = directory / data / "publish" / "root" / "1"
        self.program = build / "bin" / "fieldcost-aggregator"
        self.config = config
        self.written = None  # bytes, once it is stopped
        self.process = subprocess.Popen(on_cores(cores, [self.program, "--config", config]), stdout=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE, text=True)
        self.lines = []
        self.changed = threading.Condition()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        self.url = re.search(r"https://\S+", self.wait_for("listening on")).group()
        self.started_with = cpu_seconds([self.process.pid])

    def _read(self):
        for line in self.process.stderr:
            with self.changed:
                self.lines.append(line.rstrip())
                self.changed.notify_all()
        with self.changed:
            self.lines.append(None)
            self.changed.notify_all()

    def wait_for(self, text, first=0, seconds=300):
        """Waits for a log line with that text, from line `first` on, and returns it."""
        deadline = time.monotonic() + seconds
        with self.changed:
            while True:
                for line in self.lines[first:]:
                    if line is None:
                        raise subprocess.SubprocessError(
                            "fieldcost-aggregator ended: " + " | ".join(l for l in self.lines if l))
                    if text in line:
                        return line
                if not self.changed.wait(deadline - time.monotonic()):
                    raise subprocess.SubprocessError(f"fieldcost-aggregator did not print {text!r}")

    def peak_mib(self):
        """Returns the peak of resident memory since forget_peak()."""
        with open(f"/proc/{self.process.pid}/status") as status:
            return int(re.search(r"VmHWM:\s+(\d+)", status.read()).group(1)) / 1024

    def forget_peak(self):
        with open(f"/proc/{self.process.pid}/clear_refs", "w") as file:
            file.write("5")

    def publish(self):
        """Requests a publication; returns the seconds it took and its log line."""
        first, start = len(self.lines), time.monotonic()
        self.process.send_signal(signal.SIGUSR1)
        line = self.wait_for("published snapshot", first)
        return time.monotonic() - start, line

    def stop(self):
        """Stops the service; returns its CPU seconds since it was ready, including the last checkpoint."""
        self.process.send_signal(signal.SIGTERM)
        os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOWAIT)
        self.written = written_bytes(self.process.pid)
        _, status, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        if self.process.returncode != 0:
            raise subprocess.SubprocessError("fieldcost-aggregator: " + " | ".join(l for l in self.lines if l))
        return usage.ru_utime + usage.ru_stime - self.started_with

    def kill(self):
        if self.process.returncode is None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def verify(self):
        """Returns the output of `verify` on the stopped store; raises an error if it finds a problem."""
        return subprocess.run([self.program, "verify", "--config", self.config], check=True, timeout=300,
                              stdout=subprocess.PIPE, text=True).stdout
