"""Whether times are true: functions of known cost (known_cost_library.cc), timed from outside and as recorded.

The machine may be busy and virtual. What a function takes is the least of many short batches of calls; what is recorded
of it is, for each of RUNS short runs, the mean of its calls without those that something interrupted, and of the runs
the first decile (quiet) and the median.
"""

import os
import statistics
import struct
import subprocess

RUNS = 30
TARGET_NS = (5, 10, 20, 35, 50, 100, 1000)
STEPS_TO_LEARN_FROM = 4000
BUCKETS = 65
SLOT_BELOW_64_NS = 6


def mean_of_quiet_calls(run):
    """Of the only pick's first cell on the first thread (common/wire/README.md). Buckets above the median's and the
    next hold calls of more than twice the time: those were interrupted. (Below 64 ns that may be the counter's steps.)"""
    cells, = struct.unpack_from("<Q", run, 88)
    buckets = [struct.unpack_from("<2Q", run, cells + 64 + 32 * i) for i in range(BUCKETS)]
    calls, seen, kept = sum(count for count, _ in buckets), 0, [0, 0]
    for slot, (count, total) in enumerate(buckets):
        kept[0] += count
        kept[1] += total
        if seen * 2 >= calls and slot >= SLOT_BELOW_64_NS:
            break
        seen += count
    return kept[1] / kept[0]


def rows(bench):
    program = bench.bench / "bench_known_cost"

    def direct(function, steps):
        return min(bench.number([program, function, steps, "direct"]) for _ in range(3))

    def recorded(function, steps, how):
        bench.policy(65536, ["libbench_known_library.so"])
        subprocess.run([str(program), function, str(steps), how], check=True, timeout=60,
                       env={**os.environ, **bench.agent(f"libbench_known_library.so!bench_{function}")})
        run, = (bench.memory / "runs").iterdir()
        content = run.read_bytes()
        return mean_of_quiet_calls(content), *(ps / 1000 for ps in struct.unpack_from("<2I", content, 128))

    cases = [("empty", 0, 0, "measured")]
    for function, how in (("chain", "measured"), ("chain", "behind"), ("spin", "measured"), ("fill", "measured")):
        step_ns = direct(function, STEPS_TO_LEARN_FROM) / STEPS_TO_LEARN_FROM
        cases += [(function, max(1, round(ns / step_ns)), ns, how) for ns in TARGET_NS]
    for function, steps, about_ns, how in cases:
        before = direct(function, steps)
        runs = sorted(recorded(function, steps, how) for _ in range(RUNS))
        floor = min(before, direct(function, steps))
        value = runs[RUNS // 10][0]
        limit = max(3, 0.05 * floor)
        yield {"row": 1, "name": f"{function} of {about_ns} ns{', caller busy' * (how == 'behind')}", "unit": "ns",
               "value": value, "floor": floor, "ratio": value / floor, "target": f"direct +- {limit:.0f} ns",
               "ok": abs(value - floor) <= limit,
               "peers": {"median": runs[RUNS // 2][0], "bias": statistics.median(run[1] for run in runs),
                         "its spread": statistics.median(run[2] for run in runs)}}
