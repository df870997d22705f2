"""Runs a command on a terminal of its own and prints what it shows there.

Usage: in_terminal.py ROWS COLUMNS COMMAND...  Exits as the command does.
"""

import fcntl
import os
import pty
import struct
import sys
import termios


def main():
    rows, columns, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    pid, terminal = pty.fork()
    if pid == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.execvp(command[0], command)
    shown = b""
    while True:
        try:
            some = os.read(terminal, 65536)
        except OSError:  # Linux's end of a terminal
            some = b""
        if not some:
            break
        shown += some
    _, status = os.waitpid(pid, 0)
    sys.stdout.buffer.write(shown.replace(b"\r\n", b"\n"))
    sys.stdout.flush()
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
