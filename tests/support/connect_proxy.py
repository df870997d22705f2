"""A small HTTP proxy for tests, CONNECT only: prints its port, then "host:port" of every tunnel.

Usage: connect_proxy.py [ADDRESS].  It connects from that address, e.g. another loopback address.
Ends after a minute at the latest.
"""

import socket
import sys
import threading


SOURCE = (sys.argv[1], 0) if len(sys.argv) > 1 else None


def relay(source, target):
    while data := source.recv(65536):
        target.sendall(data)
    target.shutdown(socket.SHUT_WR)


def tunnel(client):
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += client.recv(1)
    method, where, _ = head.split(b"\r\n")[0].decode().split(" ")
    assert method == "CONNECT"
    host, _, port = where.rpartition(":")
    server = socket.create_connection((host, int(port)), timeout=30, source_address=SOURCE)
    client.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
    print(f"tunnel to {where}", flush=True)
    threading.Thread(target=relay, args=(client, server), daemon=True).start()
    relay(server, client)


def serve(listener):
    while True:
        client, _ = listener.accept()
        client.settimeout(30)
        threading.Thread(target=tunnel, args=(client,), daemon=True).start()


listening = socket.create_server(("127.0.0.1", 0))
print(f"port {listening.getsockname()[1]}", flush=True)
threading.Thread(target=serve, args=(listening,), daemon=True).start()
threading.Event().wait(60)
