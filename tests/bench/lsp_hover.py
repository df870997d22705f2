"""Row 10's hover: fieldcost-lsp over its pipes, as an editor uses it.

hover(program, home) returns the sorted milliseconds of all hovers, the same for hovers on a comment (the floor:
everything except the look-up), and the mean CPU milliseconds that the server takes for one of each plus the edits
before them. Each hover is for another random API of the catalogue, in a document of 2,000 lines in which one character
was typed just before, so that the text has to be parsed again.
"""

import json
import os
import random
import sqlite3
import subprocess
import time
from pathlib import Path

LINES = 2000
HOVERS = 2000


class Client:
    def __init__(self, program, home):
        self.process = subprocess.Popen([str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env={**os.environ, "FIELDCOST_HOME": str(home)})
        self.last = 0
        self.request("initialize", {"capabilities": {"textDocument": {"hover": {"contentFormat": ["markdown"]}}}})
        self.notify("initialized", {})

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def notify(self, method, params):
        self.send({"method": method, "params": params})

    def request(self, method, params):
        self.last += 1
        self.send({"id": self.last, "method": method, "params": params})
        while True:
            length = int(self.process.stdout.readline().split(b":")[1])
            self.process.stdout.readline()
            answer = json.loads(self.process.stdout.read(length))
            if answer.get("id") == self.last and "method" not in answer:
                return answer["result"]

    def cpu_ms(self):
        """CPU time of all its threads (proc(5), schedstat: nanoseconds)."""
        tasks = Path(f"/proc/{self.process.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e6

    def close(self):
        self.request("shutdown", None)
        self.notify("exit", None)
        self.process.wait(timeout=60)


def names(home, count):
    """Returns symbols spread over the catalogue."""
    database = sqlite3.connect(f"file:{home}/catalog.db?mode=ro", uri=True)
    symbols = [row[0] for row in database.execute(
        "SELECT symbol FROM apis INDEXED BY apis_by_hash WHERE hash % 16 = 3 LIMIT 200000")]
    database.close()
    return random.Random(12).sample(symbols, count)


def hover(program, home):
    symbols = names(home, HOVERS)
    client = Client(program, home)
    document = {"uri": "file:///bench/document.c"}
    lines = [f"  /* comment */ int r{i} = {symbol}(argument, \"text\", {i});" for i, symbol in
             enumerate(symbols[i % len(symbols)] for i in range(LINES))]
    text = "int function(int argument) {\n" + "\n".join(lines) + "\n}\n"
    client.notify("textDocument/didOpen", {"textDocument": {**document, "languageId": "c", "version": 1, "text": text}})
    hovers, floors = [], []
    before = client.cpu_ms()
    for i, symbol in enumerate(symbols):
        for times, character in ((floors, 7), (hovers, lines[i].index(symbol) + 2)):
            end = {"line": LINES + 1, "character": 0}
            client.notify("textDocument/didChange", {"textDocument": {**document, "version": i + 2}, "contentChanges": [
                {"range": {"start": end, "end": end}, "text": " "}]})
            began = time.perf_counter()
            result = client.request("textDocument/hover", {"textDocument": document,
                                                           "position": {"line": i + 1, "character": character}})
            times.append((time.perf_counter() - began) * 1000)
            if (result is None) != (times is floors):
                raise RuntimeError(f"hover on line {i + 1}, character {character}: {result}")
    cpu_ms = (client.cpu_ms() - before) / len(symbols)
    client.close()
    return sorted(hovers), sorted(floors), cpu_ms
