"""Checks recorded times against functions of known cost (known_cost_library.cc), timed from outside.

The machine may be busy and virtual. A function's true cost is the minimum over many short batches of calls. Its
recorded cost is, for each of RUNS short runs, the mean of its calls without the interrupted ones; of the runs, the
first decile (quiet) and the median are reported.
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
    """Reads the only pick's first cell on the first thread (common/shm/LAYOUT.md). Buckets above the median's and the
    next one hold calls of more than twice the time, which were interrupted. (Below 64 ns, the counter's steps may
    also cause this.)"""
    cells, = struct.unpack_from("<Q", run, 88)
    buckets = [struct.unpack_from("<2Q", run, cells + 96 + 32 * i) for i in range(BUCKETS)]
    calls, seen, kept = sum(count for count, _ in buckets), 0, [0, 0]
    for slot, (count, total) in enumerate(buckets):
        kept[0] += count
        kept[1] += total
        if seen * 2 >= calls and slot >= SLOT_BELOW_64_NS:
            break
        seen += count
    return kept[1] / kept[0]


def mean_of_all_calls(run):
    """Reads the same cell; returns the mean, the number of timed calls and the number of all calls."""
    cells, = struct.unpack_from("<Q", run, 88)
    untimed, = struct.unpack_from("<Q", run, cells + 48)
    calls, total = (sum(column) for column in zip(*(struct.unpack_from("<2Q", run, cells + 96 + 32 * i)
                                                    for i in range(BUCKETS))))
    return total / calls, calls - untimed, calls


def change(bench, steps_of):
    """Calls of 4.7 us that become 101 ns: the mean must be that of all calls, although only some of most are timed."""
    program = bench.bench / "bench_known_cost"
    arguments = ["change", "1000", str(steps_of(4700)), str(steps_of(101))]
    directs, recordeds, parts = [], [], []
    for _ in range(RUNS):
        directs.append(bench.number([program, *arguments]))
        # Picking by hand would disable the budget, so draw the library's only function that this program calls.
        for _ in range(50):
            bench.policy(65536, ["libbench_known_library.so"], overhead_per_65536=655)
            subprocess.run([str(program), *arguments], check=True, timeout=60, stdout=subprocess.DEVNULL,
                           env={**os.environ, **bench.agent()})
            runs = [path.read_bytes() for path in (bench.memory / "runs").iterdir()]
            if runs and b"bench_change" in runs[0][192:1208]:
                break
        else:
            raise subprocess.SubprocessError("bench_change is not drawn")
        mean, timed, calls = mean_of_all_calls(runs[0])
        recordeds.append(mean)
        parts.append(timed / calls)
    value, floor = statistics.median(recordeds), statistics.median(directs)
    return {"row": 1, "name": "1,000 calls of 4.7 us, then 2 M of 101 ns", "unit": "ns", "value": value, "floor": floor,
            "ratio": value / floor, "target": "direct +- 5 %", "ok": abs(value / floor - 1) <= 0.05,
            "peers": {"timed, %": 100 * statistics.median(parts)}}


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
    for function, how in (("chain", "measured"), ("chain", "busy"), ("spin", "measured"), ("fill", "measured")):
        step_ns = direct(function, STEPS_TO_LEARN_FROM) / STEPS_TO_LEARN_FROM
        cases += [(function, max(1, round(ns / step_ns)), ns, how) for ns in TARGET_NS]
        if function == "chain" and how == "measured":
            yield change(bench, lambda ns, step_ns=step_ns: round(ns / step_ns))
    for function, steps, about_ns, how in cases:
        before = direct(function, steps)
        runs = sorted(recorded(function, steps, how) for _ in range(RUNS))
        floor = min(before, direct(function, steps))
        value = runs[RUNS // 10][0]
        limit = max(3, 0.05 * floor)
        yield {"row": 1, "name": f"{function} of {about_ns} ns{', caller busy' * (how == 'busy')}", "unit": "ns",
               "value": value, "floor": floor, "ratio": value / floor, "target": f"direct +- {limit:.0f} ns",
               "ok": abs(value - floor) <= limit,
               "peers": {"median": runs[RUNS // 2][0], "bias": statistics.median(run[1] for run in runs),
                         "its spread": statistics.median(run[2] for run in runs)}}
