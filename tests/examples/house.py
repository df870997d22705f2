"""Boxes in which examples run, their equipment, and the processes that run alongside.

A box is a directory: `work` is the current directory, `home` the user's. An example runs as documented, except that
system directories which it names (/srv, /media, /etc/fieldcost …) are inside the box, and addresses of servers are
replaced by those of the servers here.
"""

import fcntl
import os
import pty
import re
import shutil
import signal
import subprocess
import termios
import threading
from pathlib import Path

LIMIT = 150  # seconds until a hanging process is killed
MEMORY = f"/dev/shm/fieldcost-{os.getuid()}"  # of run files: agent/settings/memory_dir.h
SYSTEM = re.compile(r"(?<![\w.$}/])(?=/(?:srv|media|etc/fieldcost|etc/letsencrypt|var/lib/fieldcost-aggregator)\b)")


def in_terminal(command, directory, environment, typed):
    """Runs a command on a terminal. Each line of `typed` answers a prompt, which is an incomplete line."""
    terminal, inside = pty.openpty()
    with subprocess.Popen(command, cwd=directory, env=environment, stdin=inside, stdout=inside, stderr=inside,
                          start_new_session=True,
                          preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)) as process:
        os.close(inside)
        watchdog = threading.Timer(LIMIT, process.kill)
        watchdog.start()
        shown = b""
        while True:
            try:
                shown += os.read(terminal, 65536)
            except OSError:  # how Linux reports the end of a terminal
                break
            if typed and re.search(rb"[:?\])>] ?$", shown):
                os.write(terminal, typed.pop(0).encode() + b"\n")
        process.wait()
        watchdog.cancel()
    os.close(terminal)
    return process.returncode, shown.decode(errors="replace").replace("\r\n", "\n")


class Box:
    def __init__(self, path):
        self.path = path
        for name in ("work", "home", "tmp", "run"):
            (path / name).mkdir(parents=True, exist_ok=True)
        (path / "run").chmod(0o700)
        self.work, self.home = path / "work", path / "home"

    def write(self, name, text, mode=0o644):
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        return path


class House:
    def __init__(self, source, build, directory):
        self.source, self.build, self.directory = source, build, directory
        self.here = source / "tests" / "examples"
        self.binaries = build / "bin"
        self.made, self.processes, self.servers, self.addresses = {}, [], [], {}

    def environment(self, box):
        kept = {name: value for name, value in os.environ.items() if name.startswith(("ASAN_", "UBSAN_", "TSAN_"))}
        return kept | {
            "HOME": str(box.home), "BOX": str(box.path), "TMPDIR": str(box.path / "tmp"), "USER": "ann",
            "XDG_RUNTIME_DIR": str(box.path / "run"), "LC_ALL": "C.UTF-8", "TERM": "dumb", "DISPLAY": ":0",
            "PATH": f"{box.path}/bin:{self.here}/outside:{self.binaries}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "GIT_CONFIG_NOSYSTEM": "1", "BUILD": str(self.build), "SOURCE": str(self.source),
        } | self.addresses.get("environment", {})

    def here_text(self, text):
        """Returns `text` with this box's directories and this house's servers."""
        text = SYSTEM.sub("${BOX}", text)
        for documented, actual in self.addresses.items():
            if isinstance(actual, str):
                text = text.replace(documented, actual)
        return text

    def run(self, box, script, typed=(), limit=LIMIT):
        """Runs a bash script to its end; returns status and output (both streams). With `typed`, on a terminal."""
        if typed:
            return in_terminal(["bash", "-c", script], box.work, self.environment(box), list(typed))
        with subprocess.Popen(["bash", "-c", script], cwd=box.work, env=self.environment(box), text=True,
                              errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, start_new_session=True) as process:
            try:
                output, _ = process.communicate(timeout=limit)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                return None, process.communicate()[0] + f"\n(not ended after {limit} s)"
        return process.returncode, output

    def must(self, box, *commands):
        """Runs commands one after the other to create equipment; they must succeed."""
        script = " && ".join(commands)
        status, output = self.run(box, script)
        if status != 0:
            raise RuntimeError(f"equipping failed with status {status}:\n{script}\n{output}")
        return output

    def start(self, box, command, line):
        """Starts `command`; returns it with its first line that matches `line`. `stop()` ends it."""
        process = subprocess.Popen(["bash", "-c", "exec " + command], cwd=box.work, env=self.environment(box),
                                   text=True, errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT)
        self.processes.append(process)
        watchdog = threading.Timer(LIMIT, process.kill)
        watchdog.start()
        seen = ""
        for text in process.stdout:
            seen += text
            if re.search(line, text):
                watchdog.cancel()
                process.seen = seen
                return process, text.rstrip("\n")
        watchdog.cancel()
        raise RuntimeError(f"{command}: no line like {line!r}:\n{seen}")

    def stop(self, process):
        """Stops a started process normally; returns its status and everything that it printed."""
        if process.poll() is None:
            process.terminate()
        try:
            output, _ = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            output, _ = process.communicate()
        if process in self.processes:
            self.processes.remove(process)
        return process.returncode, process.seen + output

    def box(self, names, makers):
        """Returns an empty box with this equipment. All boxes use the same path, one after the other, because an
        agent's state contains the paths of its directories."""
        for name in names:
            self.make(name, makers)
        box = self.empty_box()
        self.equip(box, names, makers)
        return box

    def empty_box(self):
        path = self.directory / "box"
        shutil.rmtree(path, ignore_errors=True)
        shutil.rmtree(f"{MEMORY}{path}", ignore_errors=True)
        return Box(path)

    def make(self, name, makers):
        """Creates this equipment once: its maker fills a box, which is kept, unless each box needs its own."""
        if name in self.made:
            if isinstance(self.made[name], RuntimeError):
                raise self.made[name]
            return
        for below in makers[name].needs:
            self.make(below, makers)
        if makers[name].each:
            self.made[name] = None
            return
        box = self.empty_box()
        self.equip(box, makers[name].needs, makers)
        try:
            makers[name](self, box)
        except RuntimeError as error:
            self.made[name] = error
            raise
        kept = self.directory / "made" / name
        kept.parent.mkdir(exist_ok=True)
        box.path.rename(kept)
        self.made[name] = kept

    def equip(self, box, names, makers):
        for name in names:
            if self.made[name]:
                subprocess.run(["cp", "-a", f"{self.made[name]}/.", str(box.path)], check=True)
            else:
                self.equip(box, makers[name].needs, makers)
                makers[name](self, box)

    def close(self):
        for process in list(self.processes):
            self.stop(process)
        for server in self.servers:
            server.shutdown()
        shutil.rmtree(f"{MEMORY}{self.directory}", ignore_errors=True)
