"""Counts the tests that were skipped, and fails if one had no reason to be.

Usage: skips.py RESULTS [--strict]

RESULTS is what `ctest --output-junit` wrote. Each skipped test is printed with its reason. With --strict those that
are not in skips_expected.txt beside this file are an error: a machine that has all that tests ask for (root, BPF,
namespaces, network) has no reason to skip them, and a test that did not run proves nothing. Two
reasons are accepted on such a machine:
- Other processes used all CPUs, so that recordings of idle time had nothing to record: the test gives the share of idle
  time that the kernel counted meanwhile, which must be below 1 %.
- The kernel does not report how long a CPU is idle: neither of the files that report it may exist.
"""

import re
import sys
import xml.etree.ElementTree as xml
from pathlib import Path


def expected():
    lines = (Path(__file__).parent / "skips_expected.txt").read_text().split("\n")
    return {line.split()[0] for line in lines if line.strip() and not line.startswith("#")}


def reason_of(case):
    """The reason of the skip: GoogleTest prints it after the place of the GTEST_SKIP."""
    found = re.search(r"Skipped\n(.*?)\n\[", case.findtext("system-out") or "", re.DOTALL)
    return " ".join(found.group(1).split()) if found else "no reason given"


def had_no_idle_cpu(reason):
    found = re.search(r"all CPUs were idle for ([0-9.]+) % of the time", reason)
    return found is not None and float(found.group(1)) < 1


def lacks_idle_files(reason, root=Path("/")):
    files = ("proc/schedstat", "sys/devices/system/cpu/cpu0/cpuidle/state0/time")
    return "idle: the kernel does not report it" in reason and not any((root / file).exists() for file in files)


def has_accepted_reason(reason):
    return had_no_idle_cpu(reason) or lacks_idle_files(reason)


def main():
    skipped = [case for case in xml.parse(sys.argv[1]).getroot().iter("testcase") if case.get("status") == "notrun"]
    known = expected()
    surprises = 0
    for case in skipped:
        is_expected = case.get("name") in known or has_accepted_reason(reason_of(case))
        is_surprise = "--strict" in sys.argv and not is_expected
        surprises += is_surprise
        unexpected = " without a reason that holds here" if is_surprise else ""
        print(f"skipped{unexpected}: {case.get('name')}: {reason_of(case)}")
    print(f"{len(skipped)} tests were skipped")
    return 1 if surprises else 0


if __name__ == "__main__":
    sys.exit(main())
