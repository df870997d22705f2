// Small valid rows, in the form that encode_fragment.mjs takes.

import { NO_SCALARS, plus } from './encode_fragment.mjs';

const API = { soname: 'libz.so.1', packageVersion: '1.2.13', buildId: '00ff', symbol: 'deflate', symbolVersion: 'V1' };
const ALL = null;
export const FIRST_CLASS = {
  architecture: 'x86_64', cpuFamily: 'AuthenticAMD-25', log2Cores: 3, log2MemoryMib: 14, osRelease: 'debian-12',
};
export const SECOND_CLASS = { ...FIRST_CLASS, cpuFamily: 'GenuineIntel-6' };

/** The scalars of machines of `calls` calls each, of a mean of 2^(mean / 65536). */
export function scalarsOf(machines, mean, calls) {
  return Array.from({ length: machines }, () => ({
    contributions: 1n,
    sumMean: mean,
    sumMeanSquared: mean ** 2n,
    sumInverseCalls: (1n << 32n) / calls,
    sumWithinSquares: 0n,
    sumWithinFreedom: calls - 1n,
    sumMeanCubed: mean ** 3n,
  })).reduce(plus, NO_SCALARS);
}

const sumsOf = (values) => ({
  count: BigInt(values.length),
  sum: values.reduce((sum, value) => sum + value, 0n),
  sumOfSquares: values.reduce((sum, value) => sum + value ** 2n, 0n),
});

/** A bucket of these values. */
export const bucketOf = (slot, values, share = 0n) => ({ slot, ...sumsOf(values), share });

const machines = (count, hardware) => ({
  ...API,
  metric: 1,
  hardware,
  week: 0,
  untimed: 0n,
  buckets: [
    bucketOf(3, Array.from({ length: count }, () => [4n, 5n, 7n]).flat(), 49152n),
    bucketOf(10, Array.from({ length: count }, () => 1000n), 16384n),
  ],
  scalars: scalarsOf(count, 300_000n, 4n),
  bounded: { calls: 4n * BigInt(count), sum: 1016n * BigInt(count) },
  fullestQuarter: { week: 2912, scalars: scalarsOf(count - 1, 300_000n, 4n) },
});

/** A total, its two parts with quarters, and a row of a week. */
export const SIMPLE_ROWS = [
  machines(7, ALL),
  machines(4, FIRST_CLASS),
  machines(3, SECOND_CLASS),
  { ...machines(2, SECOND_CLASS), week: 2915, fullestQuarter: null, bounded: null },
];
