#!/usr/bin/env python3
"""Creates the golden files of the tests of common/inference with scipy (Debian: python3-scipy).

Usage: make_golden.py DIRECTORY.  Takes less than a minute. Was run once with scipy 1.10.1; the tests only
read the files. Counts are written as slot:calls; slot 0 holds zeros, slot k + 1 the values from 2^k.
"""

import sys
from pathlib import Path

import numpy as np
from scipy import stats

MOST_PERMUTATIONS = 400_000  # up to this many, scipy tries all
RESAMPLES = 49_999


def text(counts):
    return " ".join(f"{slot}:{calls}" for slot, calls in sorted(counts.items()))


def expanded(counts):
    return np.concatenate([np.full(calls, slot) for slot, calls in sorted(counts.items())])


def draw(random, calls, centre, deviation):
    slots = np.clip(np.floor(random.normal(centre, deviation, calls)), 0, 64).astype(int)
    return {int(slot): int(count) for slot, count in zip(*np.unique(slots, return_counts=True))}


def permuted(x, y, **options):
    """p of the mean bucket index and of the mean rank."""
    ranks = stats.rankdata(np.concatenate([x, y]))
    return [stats.permutation_test((a, b), lambda a, b, axis: np.mean(a, axis=axis) - np.mean(b, axis=axis),
                                   vectorized=True, alternative="greater", batch=2000, **options).pvalue
            for a, b in ((x, y), (ranks[:len(x)], ranks[len(x):]))]


def normal_bucket(x, y):
    """The normal approximation for the sum of bucket indices, half a bucket as continuity correction."""
    both = np.concatenate([x, y]).astype(float)
    n, m, total = len(x), len(y), len(both)
    variance = n * m / (total - 1) * both.var()
    return stats.norm.sf((x.sum() - n * both.mean() - 0.5) / np.sqrt(variance))


def call_cases(random):
    small = {
        "two_against_many": ({9: 1, 4: 1}, {3: 20, 4: 30, 9: 2}),
        "two_buckets": ({4: 2, 5: 3}, {4: 9, 5: 2}),
        "ties": ({3: 1, 4: 2, 7: 2}, {3: 6, 4: 7, 5: 2, 7: 1}),
        "all_above": ({20: 4}, {1: 5, 2: 8}),
        "all_below": ({1: 3, 2: 1}, {20: 6, 21: 5}),
        "same": ({5: 4, 6: 4}, {5: 4, 6: 4}),
        "gaps": ({0: 1, 30: 2, 64: 1}, {0: 7, 30: 5, 40: 2, 64: 2}),
        "more_mine": ({6: 10, 7: 6}, {5: 2, 6: 2}),
    }
    for name, (mine, field) in small.items():
        x, y = expanded(mine), expanded(field)
        exact = permuted(x, y, n_resamples=MOST_PERMUTATIONS)
        yield name, mine, field, {"exact_bucket": exact[0], "exact_rank": exact[1]}
    for name, calls, others, shift in (("drawn_alike", 100, 500, 0.0), ("drawn_wide", 150, 400, 0.3),
                                       ("drawn_lower", 120, 300, -0.4), ("drawn_more_mine", 400, 150, 0.2),
                                       ("drawn_higher", 200, 600, 0.15)):
        mine, field = draw(random, calls, 12 + shift, 1.6), draw(random, others, 12, 1.6)
        x, y = expanded(mine), expanded(field)
        drawn = permuted(x, y, n_resamples=RESAMPLES, random_state=random)
        yield name, mine, field, {"drawn_bucket": drawn[0], "drawn_rank": drawn[1]}
    for name, calls, others, shift in (("normal_far", 300, 2000, 0.9), ("normal_near", 1000, 3000, 0.05),
                                       ("normal_below", 500, 800, -0.5)):
        yield name, draw(random, calls, 10 + shift, 1.2), draw(random, others, 10, 1.2), {}


def mean_and_squares(counts):
    logs = expanded(counts) - 1.0  # of values 2^(slot - 1); zero counts as -1
    return logs.mean(), ((logs - logs.mean()) ** 2).sum()


def machine_cases(random):
    """Calls by powers of two and values of powers of two: all means are exact in the scalars."""
    def machines(number, between, within):
        return [draw(random, int(2 ** random.integers(3, 9)), random.normal(12, between), within)
                for _ in range(number)]

    yield "no_spread_between", {11: 20, 12: 44, 13: 64}, machines(40, 0, 1.1)
    yield "wide_between", {11: 6, 12: 10, 14: 16}, machines(31, 1.5, 1.0)
    yield "far_above", {19: 60, 20: 68}, machines(200, 0.4, 0.7)
    yield "below", {8: 100, 9: 156}, machines(64, 0.4, 0.7)
    yield "two_machines", {15: 8}, machines(2, 1, 0.5)
    yield "one_bucket_each", {16: 32}, [{int(slot): 16} for slot in random.integers(9, 16, 50)]


def machine_test(mine, field):
    n = np.array([sum(counts.values()) for counts in field], dtype=float)
    means, squares = map(np.array, zip(*(mean_and_squares(counts) for counts in field)))
    machines = len(field)
    within = squares.sum() / (n - 1).sum()
    inverse = (1 / n).mean()
    between = max(means.var(ddof=1) - within * inverse, 0)
    mean, _ = mean_and_squares(mine)
    t = (mean - means.mean()) / np.sqrt(between * (1 + 1 / machines) + within / sum(mine.values())
                                        + within * inverse / machines)
    p = stats.t.sf(t, machines - 1)
    if within == 0:  # then it is Student's test with one sample of size 1
        test = stats.ttest_ind_from_stats(mean, 0, 1, means.mean(), means.std(ddof=1), machines,
                                          alternative="greater")
        assert np.isclose(test.pvalue, p, rtol=1e-10) and np.isclose(test.statistic, t, rtol=1e-10)
        t, p = test.statistic, test.pvalue
    return t, p


def version_cases(random):
    """Machines of two versions, by strata; as above."""
    def machines(number, centre, between, within):
        return [draw(random, int(2 ** random.integers(5, 9)), random.normal(centre, between), within)
                for _ in range(number)]

    yield "alike", [(machines(40, 12, 0.5, 0.9), machines(35, 12, 0.5, 0.9))]
    yield "dearer", [(machines(30, 12, 0.6, 1.0), machines(50, 12.6, 0.9, 1.0))]
    yield "cheaper_few", [(machines(4, 14, 0.4, 0.6), machines(3, 12, 0.8, 0.6))]
    yield "three_strata", [(machines(60, 10, 0.5, 0.8), machines(8, 10.3, 0.5, 0.8)),
                           (machines(7, 14, 0.7, 0.8), machines(70, 14.3, 0.4, 0.8)),
                           (machines(20, 12, 0.2, 0.8), machines(20, 12.3, 0.3, 0.8))]
    yield "one_machine_is_none", [(machines(25, 11, 0.5, 0.8), machines(30, 11.2, 0.5, 0.8)),
                                  (machines(1, 16, 0.5, 0.8), machines(30, 9, 0.5, 0.8))]
    yield "constant_machines", [([{10: 32}, {11: 32}, {10: 64}, {12: 32}], [{12: 32}, {13: 32}, {12: 16}])]


def version_test(strata):
    distance = variance = weights = freedom = 0
    used = 0
    for before, after in strata:
        if min(len(before), len(after)) < 2:
            continue
        used += 1
        sides, weight = [], len(before) * len(after) / (len(before) + len(after))
        for machines in (before, after):
            means, squares = map(np.array, zip(*(mean_and_squares(counts) for counts in machines)))
            n = np.array([sum(counts.values()) for counts in machines], dtype=float)
            lifted = max(means.var(ddof=1), squares.sum() / (n - 1).sum() * (1 / n).mean())
            assert lifted == means.var(ddof=1), "the golden cases are Welch's"
            sides.append((means, lifted / len(machines)))
        weights += weight
        distance += weight * (sides[1][0].mean() - sides[0][0].mean())
        for means, v in sides:
            variance += weight ** 2 * v
            freedom += (weight ** 2 * v) ** 2 / (len(means) - 1)
        one = stats.ttest_ind(sides[1][0], sides[0][0], equal_var=False)
    freedom = variance ** 2 / freedom
    t = distance / np.sqrt(variance)
    p = 2 * stats.t.sf(abs(t), freedom)
    reach = stats.t.ppf(0.975, freedom) * np.sqrt(variance) / weights
    if used == 1:
        assert np.isclose(one.statistic, t, rtol=1e-10) and np.isclose(one.pvalue, p, rtol=1e-8)
        t, p = one.statistic, one.pvalue
    return {"t": t, "p": p, "octaves": distance / weights, "low": distance / weights - reach}


def main():
    directory = Path(sys.argv[1])
    random = np.random.default_rng(20)
    with open(directory / "calls.txt", "w") as out:
        for name, mine, field, values in call_cases(random):
            x, y = expanded(mine), expanded(field)
            values["normal_bucket"] = normal_bucket(x, y)
            values["normal_rank"] = stats.mannwhitneyu(x, y, alternative="greater", use_continuity=True,
                                                       method="asymptotic").pvalue
            print(f"case {name}\nmine {text(mine)}\nfield {text(field)}", file=out)
            for key, value in values.items():
                print(f"{key} {value:.15g}", file=out)
    with open(directory / "machines.txt", "w") as out:
        for name, mine, field in machine_cases(random):
            print(f"case {name}\nmine {text(mine)}", file=out)
            for counts in field:
                print(f"machine {text(counts)}", file=out)
            t, p = machine_test(mine, field)
            print(f"t {t:.15g}\np {p:.15g}", file=out)
    with open(directory / "versions.txt", "w") as out:
        random = np.random.default_rng(21)
        for name, strata in version_cases(random):
            print(f"case {name}", file=out)
            for number, (before, after) in enumerate(strata):
                for side, machines in (("before", before), ("after", after)):
                    for counts in machines:
                        print(f"{side}{number} {text(counts)}", file=out)
            for key, value in version_test(strata).items():
                print(f"{key} {value:.15g}", file=out)
    with open(directory / "tails.txt", "w") as out:
        for z in (-9, -1.5, 0, 0.3, 1.644853626951473, 4, 12, 37):
            print(f"normal {z} {stats.norm.sf(z):.15g}", file=out)
        for t in (-6, -0.5, 0, 1, 2.5, 8, 30):
            for freedom in (1, 2, 29, 199.0, 1e6):
                print(f"student {t} {freedom:.15g} {stats.t.sf(t, freedom):.15g}", file=out)


if __name__ == "__main__":
    main()
