"""Runs a command on its own terminal and prints what it shows there.

Usage: in_terminal.py [--type LINES [--prompt TEXT]] ROWS COLUMNS COMMAND... Exits with the command's status. Types one
line each time the command shows another prompt, which is "ready> " by default.
"""

import fcntl
import os
import pty
import struct
import sys
import termios


def shown(rows, columns, command, lines=(), directory=None, environment=None, prompt=b"ready> "):
    """Runs a command on a terminal of this size; returns its exit status (128 + signal) and the bytes that it shows
    there. Types one of `lines` each time the command shows another `prompt`."""
    pid, terminal = pty.fork()
    if pid == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        if directory:
            os.chdir(directory)
        os.execvpe(command[0], command, environment or os.environ)
    text = b""
    typed = 0
    while True:
        try:
            some = os.read(terminal, 65536)
        except OSError:  # how Linux reports the end of a terminal
            some = b""
        if not some:
            break
        text += some
        if typed < min(text.count(prompt), len(lines)):
            os.write(terminal, lines[typed].encode())
            typed += 1
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code, text.replace(b"\r\n", b"\n")


def main():
    arguments = sys.argv[1:]
    lines = []
    prompt = "ready> "
    if arguments[0] == "--type":
        lines = arguments[1].splitlines(keepends=True)
        arguments = arguments[2:]
    if arguments[0] == "--prompt":
        prompt = arguments[1]
        arguments = arguments[2:]
    status, text = shown(int(arguments[0]), int(arguments[1]), arguments[2:], lines, prompt=prompt.encode())
    sys.stdout.buffer.write(text)
    sys.stdout.flush()
    return status


if __name__ == "__main__":
    sys.exit(main())
