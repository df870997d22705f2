"""Checks that programs are hardened, however they were built, and that each starts without the libraries that take
long to load.

Usage: hardening.py [--sanitized] PROGRAM...

Of each: position-independent, bound at its start, its tables of addresses read-only from then on, its stack not
executable, its stack guarded, libc's functions called in their checked forms. Heavy libraries are needed only by the
programs that are there for them. Prints what is missing, one line each; exit status 1 if something is.
"""

import re
import subprocess
import sys
from pathlib import Path


# Library -> the programs that may need it.
HEAVY = {
    "libbpf.so": {"fieldcost-idle"},
    "libclang": set(),
    "libdw.so": {"fieldcost-idle", "fieldcost-probe", "fieldcost-trace"},
    "libelf.so": {"fieldcost-idle", "fieldcost-probe", "fieldcost-trace"},
    "librocksdb.so": {"fieldcost-aggregator"},
    "libZydis.so": {"fieldcost-idle", "fieldcost-probe", "fieldcost-trace"},
}


def read(option, program):
    return subprocess.run(["readelf", "--wide", *option.split(), program], check=True, text=True,
                          capture_output=True).stdout


def problems_of(program, is_sanitized):
    header, segments, dynamic = read("-h", program), read("-l", program), read("-d", program)
    if not re.search(r"Type:\s+DYN", header):
        yield "is not position-independent"
    if "GNU_RELRO" not in segments:
        yield "has no read-only relocations"
    if not re.search(r"BIND_NOW|Flags:.*\bNOW\b", dynamic):
        yield "is not bound at its start"
    if re.search(r"GNU_STACK.*RWE", segments) or "GNU_STACK" not in segments:
        yield "has an executable stack"
    symbols = read("--dyn-syms", program)
    if "__stack_chk_fail" not in symbols:
        yield "has no stack protector"
    if not is_sanitized and not re.search(r"UND \w+_chk@", symbols):
        yield "calls no checked function of libc"
    for needed in re.findall(r"NEEDED.*\[(.*)\]", dynamic):
        for library, owners in HEAVY.items():
            if needed.startswith(library) and Path(program).name not in owners:
                yield f"needs {needed}, which only {', '.join(sorted(owners)) or 'none'} may"


def main():
    arguments = sys.argv[1:]
    is_sanitized = "--sanitized" in arguments
    programs = [a for a in arguments if a != "--sanitized"]
    if not programs:
        sys.exit(__doc__)
    bad = [f"{Path(program).name} {problem}" for program in programs
           for problem in problems_of(program, is_sanitized)]
    print("\n".join(bad) if bad else f"{len(programs)} programs are hardened")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
