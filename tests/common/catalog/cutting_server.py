"""An HTTPS server whose responses to fragment requests are cut off, for tests of resumption.

Usage: cutting_server.py CERTIFICATE KEY DIRECTORY MODE BYTES.  Serves the files in DIRECTORY.
Prints its port, then "PATH RANGE STATUS" for every fragment request.  MODE:
  range     sends at most BYTES of each body, then closes the connection; BYTES < 0: all of it
  once      does so for the first request of each fragment only
  whole     ignores Range, otherwise like "once"
  refuse    responds 416 to Range, otherwise like "once"
  shifted   responds to Range with 206 and another part, otherwise like "once"
  damaged   like "once", and the first part is wrong
  until     sends no byte of a fragment beyond the first N, while the file DIRECTORY/cut contains the number N
Ends after two minutes at the latest.
"""

import http.server
import pathlib
import ssl
import sys
import threading

CERTIFICATE, KEY, DIRECTORY, MODE, BYTES = sys.argv[1:6]
asked = set()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        file = pathlib.Path(DIRECTORY + self.path)
        if not file.is_file():
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        content = file.read_bytes()
        is_fragment = self.path.startswith("/v1/fragment/")
        wanted = self.headers.get("Range", "")
        first, status = 0, 200
        if wanted and MODE != "whole":
            first, status = int(wanted.removeprefix("bytes=").removesuffix("-")), 206
            if MODE == "shifted":
                first -= 1
            if MODE == "refuse" or first >= len(content):
                status = 416
        body = b"" if status == 416 else content[first:]
        if MODE == "damaged" and is_fragment and self.path not in asked:
            body = bytes([body[0] ^ 1]) + body[1:]
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if status == 206:
            self.send_header("Content-Range",
                             f"bytes {first}-{len(content) - 1}/{len(content)}")
        self.end_headers()
        limit = int(BYTES)
        cut = pathlib.Path(DIRECTORY) / "cut"
        if MODE == "until":
            limit = max(0, int(cut.read_text()) - first) if cut.exists() else -1
        is_cut = is_fragment and (MODE in ("range", "until") or self.path not in asked) and limit >= 0
        if is_fragment:
            asked.add(self.path)
            print(f"{self.path} {wanted or '-'} {status}", flush=True)
        self.wfile.write(body[:limit] if is_cut else body)
        if is_cut and limit < len(body):
            self.close_connection = True

    def log_message(self, *arguments):
        pass


context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(CERTIFICATE, KEY)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
server.socket = context.wrap_socket(server.socket, server_side=True,
                                    do_handshake_on_connect=False)
threading.Timer(120, server.shutdown).start()
print(f"port {server.server_port}", flush=True)
server.serve_forever()
