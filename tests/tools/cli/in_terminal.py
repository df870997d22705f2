"""Runs a command on a terminal of its own and prints what it shows there.

Usage: in_terminal.py [--type LINES] ROWS COLUMNS COMMAND...  Exits as the command does. Each line is
typed when the command has shown another "ready> ".
"""

import fcntl
import os
import pty
import struct
import sys
import termios


def main():
    arguments = sys.argv[1:]
    lines = []
    if arguments[0] == "--type":
        lines = arguments[1].splitlines(keepends=True)
        arguments = arguments[2:]
    rows, columns, command = int(arguments[0]), int(arguments[1]), arguments[2:]
    pid, terminal = pty.fork()
    if pid == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.execvp(command[0], command)
    shown = b""
    typed = 0
    while True:
        try:
            some = os.read(terminal, 65536)
        except OSError:  # Linux's end of a terminal
            some = b""
        if not some:
            break
        shown += some
        if typed < min(shown.count(b"ready> "), len(lines)):
            os.write(terminal, lines[typed].encode())
            typed += 1
    _, status = os.waitpid(pid, 0)
    sys.stdout.buffer.write(shown.replace(b"\r\n", b"\n"))
    sys.stdout.flush()
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
