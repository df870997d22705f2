"""Row 7's peers: databases from Debian packages, each in a temporary directory, reached over a Unix
socket or loopback, with settings that lose no acknowledged data, and stopped by its pid.

Every peer gets the same keys and buckets as our service, in the form that its own bulk client reads,
prepared before the measurement; but no contribution scalars, and sums of squares in 64 bits. Each
run() returns {"adds", "seconds", "cpu_seconds"}: seconds last from the first batch until all are
acknowledged and summed; CPU seconds cover only the database's processes. None if the peer is missing.
"""

import ctypes
import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from service import children, cpu_seconds, run_json

SECONDS = 20  # approximate time to feed a peer


class Peer:
    """Shared by all peers: their data, paced so that a run takes no longer than SECONDS."""

    form = None

    def __init__(self, bench, traffic, directory):
        self.bench, self.traffic, self.directory = bench, traffic, directory
        self.process = None

    def data(self, batches, skip=0):
        """Returns a file with these batches in the peer's form, and its numbers of bucket-adds and calls."""
        path = self.directory / f"{self.form}.{skip}"
        made = run_json([self.bench, "format", "--peer", self.form, "--traffic", self.traffic, "--batches",
                         batches, "--skip", skip, "--out", path])
        return path, made

    def measure(self, feed, batches, most, finish=lambda: None):
        """Feeds a few batches, then as many as fit into SECONDS, extrapolating from the first ones."""
        result = {"adds": 0, "seconds": 0.0, "cpu_seconds": 0.0, "calls": 0}
        fed = 0
        while fed < most and result["seconds"] < SECONDS * 0.8:
            path, made = self.data(min(batches, most - fed), fed)
            cpu, start = cpu_seconds(children(self.process.pid)), time.monotonic()
            feed(path)
            fed += made["batches"]
            result["seconds"] += time.monotonic() - start
            result["cpu_seconds"] += cpu_seconds(children(self.process.pid)) - cpu
            result["adds"] += made["adds"]
            result["calls"] += made["calls"]
            path.unlink()
            left = SECONDS - result["seconds"]
            batches = max(batches, int(min(left, 2 + result["seconds"]) * fed / result["seconds"]))
        cpu, start = cpu_seconds(children(self.process.pid)), time.monotonic()
        finish()
        result["seconds"] += time.monotonic() - start
        result["cpu_seconds"] += cpu_seconds(children(self.process.pid)) - cpu
        return result

    def check(self, result, calls):
        if int(calls) != result["calls"]:
            raise subprocess.SubprocessError(f"{self.form}: {calls} calls are stored, not {result['calls']}")
        return result

    def start(self, command, ready, **more):
        log = open(self.directory / "log", "wb")  # pylint: disable=consider-using-with
        self.process = subprocess.Popen([str(c) for c in command], stdout=log, stderr=log,
                                        stdin=subprocess.DEVNULL, **more)
        deadline = time.monotonic() + 60
        while not ready():
            if self.process.poll() is not None or time.monotonic() > deadline:
                text = (self.directory / "log").read_text(errors="replace")
                raise subprocess.SubprocessError(f"{self.form} did not start: {text[-300:]}")
            time.sleep(0.05)

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def run(self, most):
        """Runs at most `most` batches."""
        try:
            return self.ingest(most)
        finally:
            self.stop()
            shutil.rmtree(self.directory, ignore_errors=True)


def runs(*command):
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, check=False, timeout=60)
    return done.returncode == 0


class Postgres(Peer):
    """COPY into a temporary table, then INSERT ... ON CONFLICT DO UPDATE, one transaction per batch."""

    form = "postgres"

    def ingest(self, most):
        found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres")) or sorted(
            Path("build/packages").glob("postgresql-*/usr/lib/postgresql/*/bin/postgres"))
        if not found or not shutil.which("psql"):
            return None
        programs = found[-1].resolve().parent
        self.directory.chmod(0o755)
        data = self.directory / "data"
        data.mkdir()
        # The server refuses to run as root.
        user = []
        if os.geteuid() == 0:
            user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
            os.chown(data, 65534, 65534)
        subprocess.run([*user, programs / "initdb", "-D", data, "-U", "bench", "-A", "trust", "-E", "UTF8",
                        "--no-instructions"], check=True, timeout=120, stdout=subprocess.DEVNULL)
        self.start([*user, programs / "postgres", "-D", data, "-k", data, "-c", "listen_addresses=",
                    "-c", "fsync=on", "-c", "synchronous_commit=on", "-c", "shared_buffers=1GB",
                    "-c", "max_wal_size=4GB", "-c", "work_mem=64MB"],
                   lambda: runs("psql", "-h", data, "-U", "bench", "-d", "postgres", "-c", "select 1"))
        psql = ["psql", "-h", data, "-U", "bench", "-d", "postgres", "-v", "ON_ERROR_STOP=1", "-qAtX"]
        columns = 'key text collate "C", slot smallint, calls bigint, total bigint, squares bigint'
        # Leaves space in pages, so that updated rows stay in their page and the index need not change.
        subprocess.run([*psql, "-c", f"create table sums ({columns}, primary key (key, slot)) "
                        "with (fillfactor = 50)"], check=True, timeout=60)

        def feed(path):
            with open(path, "rb") as batches:
                head = f"create temporary table incoming ({columns}) on commit delete rows;\n".encode()
                with subprocess.Popen(psql, stdin=subprocess.PIPE) as client:
                    client.stdin.write(head)
                    shutil.copyfileobj(batches, client.stdin, 1 << 20)
                    client.stdin.close()
                    if client.wait(timeout=300) != 0:
                        raise subprocess.SubprocessError("psql failed")

        result = self.measure(feed, 40, most)
        calls = subprocess.run([*psql, "-c", "select sum(calls) from sums"], check=True, timeout=120,
                               stdout=subprocess.PIPE).stdout
        return self.check(result, calls)


class Redis(Peer):
    """HINCRBY from one script call per batch; the append-only file is synced before each reply."""

    form = "redis"

    def ingest(self, most):
        server = shutil.which("redis-server") or shutil.which("redis-check-rdb")  # the same program
        if not server or not shutil.which("redis-cli"):
            return None
        program = self.directory / "redis-server"
        program.symlink_to(server)
        socket = self.directory / "socket"
        self.start([program, "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "yes",
                    "--appendfsync", "always", "--dir", self.directory],
                   lambda: runs("redis-cli", "-s", socket, "ping") and socket.exists())

        def feed(path):
            with open(path, "rb") as batches:
                done = subprocess.run(["redis-cli", "-s", str(socket), "--pipe"], stdin=batches,
                                      stdout=subprocess.PIPE, check=True, timeout=600)
            if b"errors: 0" not in done.stdout:
                raise subprocess.SubprocessError(f"redis-cli: {done.stdout[-200:]}")

        result = self.measure(feed, 20, most)
        script = ("local n = 0 for _, k in ipairs(redis.call('KEYS', '*')) do local h = redis.call('HGETALL', k) "
                  "for i = 1, #h, 2 do if tonumber(h[i]) then n = n + h[i + 1] end end end "
                  "return string.format('%.0f', n)")
        calls = subprocess.run(["redis-cli", "-s", str(socket), "EVAL", script, "0"], check=True, timeout=120,
                               stdout=subprocess.PIPE).stdout
        return self.check(result, calls)


CLICKHOUSE_CONFIG = """<yandex>
<logger><level>warning</level><log>{0}/server.log</log><errorlog>{0}/error.log</errorlog></logger>
<http_port>{1}</http_port><listen_host>127.0.0.1</listen_host>
<path>{0}/data/</path><tmp_path>{0}/tmp/</tmp_path><users_config>{0}/users.xml</users_config>
<default_profile>default</default_profile><default_database>default</default_database>
<mark_cache_size>268435456</mark_cache_size>
</yandex>
"""
CLICKHOUSE_USERS = """<yandex><profiles><default></default></profiles><quotas><default></default></quotas>
<users><default><password></password><networks><ip>::/0</ip></networks><profile>default</profile>
<quota>default</quota></default></users></yandex>
"""


class ClickHouse(Peer):
    """SummingMergeTree; `group` batches per INSERT over HTTP; the merge at the end adds. This version does
    not sync its writes, so the file system is synced after every INSERT, within the measured time."""

    form = "clickhouse"
    group = 1

    def ingest(self, most):
        server = next(iter(Path("build/packages").glob("clickhouse-server/usr/sbin/clickhouse-server")), None)
        server = shutil.which("clickhouse-server") or (server and server.resolve())
        if not server:
            return None
        directory = self.directory
        import socket as sockets  # pylint: disable=import-outside-toplevel
        with sockets.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        (directory / "config.xml").write_text(CLICKHOUSE_CONFIG.format(directory, port))
        (directory / "users.xml").write_text(CLICKHOUSE_USERS)

        def ask(query, body=None):
            self.connection.request("POST", "/?query=" + query.replace(" ", "%20"), body)
            answer = self.connection.getresponse()
            text = answer.read()
            if answer.status != 200:
                raise subprocess.SubprocessError(f"clickhouse: {text[:300]}")
            return text

        def ready():
            try:
                self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
                return ask("select 1") == b"1\n"
            except OSError:
                return False

        try:
            self.start([server, f"--config-file={directory}/config.xml"], ready, cwd=directory)
        except subprocess.SubprocessError as error:
            print(f"bench: {error}", file=sys.stderr)
            return None
        ask("create table sums (key String, slot UInt8, calls UInt64, total UInt64, squares UInt64) "
            "engine = SummingMergeTree((calls, total, squares)) order by (key, slot)")
        sync = ctypes.CDLL(None, use_errno=True).syncfs
        place = os.open(directory, os.O_RDONLY)

        def feed(path):
            with open(path, "rb") as file:
                while True:
                    bodies = []
                    while len(bodies) < self.group and (size := file.readline()):
                        bodies.append(file.read(int(size)))
                    if not bodies:
                        return
                    ask("insert into sums format RowBinary", b"".join(bodies))
                    if sync(place) != 0:
                        raise OSError(ctypes.get_errno(), "syncfs")

        try:
            result = self.measure(feed, self.group, most, lambda: ask("optimize table sums final"))
            return self.check(result, ask("select sum(calls) from sums"))
        finally:
            os.close(place)


class ClickHouse64(ClickHouse):
    """The same, with 64 batches per INSERT."""

    group = 64


class RocksDbMerge(Peer):
    """RocksDB in the benchmark's own process: decodes batches as in the floor, then one Merge per row with an
    adding operator, one synced write per batch, and a compaction at the end, which adds. Nothing is
    verified or acknowledged."""

    form = "merge"

    def ingest(self, most):
        del most
        return json.loads(subprocess.run(
            [str(c) for c in (self.bench, "merge", "--traffic", self.traffic, "--directory",
                              self.directory / "db", "--seconds", SECONDS)],
            stdout=subprocess.PIPE, check=True, timeout=600).stdout)


# With the factor by which ours must be faster; None: for comparison only.
PEERS = {"PostgreSQL": (Postgres, 40), "Redis": (Redis, 40), "RocksDB Merge": (RocksDbMerge, 6),
         "ClickHouse, 64 batches": (ClickHouse64, 6), "ClickHouse, 1 batch": (ClickHouse, None)}
