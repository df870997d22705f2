// The rules that the sums of a row must satisfy (common/stats/SUMS.md). Pure; exact integers.

import { corrupt } from './errors.mjs';
import { MAX_SLOT } from './limits.mjs';

/** @typedef {{ slot: number, count: bigint, sum: bigint, sumOfSquares: bigint }} Bucket */
/** @typedef {import('./fragment.mjs').Scalars} Scalars */

const LOWEST_LOG = -(1n << 16n);  // the mean of a contribution, in 1/65536: a cost of 0 ...
const HIGHEST_LOG = (64n << 16n) - 1n;  // ... and just below 2^64
const ONE = 1n << 32n;  // in the fixed point of weights and inverse calls
const MOST_CONTRIBUTIONS = 1n << 56n;
const MOST_U64 = (1n << 64n) - 1n;
const MOST_U128 = (1n << 128n) - 1n;

/**
 * @param {number} slot
 * @returns {[bigint, bigint]} the least and the greatest value
 */
export function rangeOf(slot) {
  if (slot === 0) return [0n, 0n];
  const least = 1n << BigInt(slot - 1);
  return [least, 2n * least - 1n];
}

/** @param {Bucket} bucket */
function checkBucket({ slot, count, sum, sumOfSquares }) {
  if (slot > MAX_SLOT) corrupt(`a bucket of slot ${slot}`);
  const at = `bucket of slot ${slot}:`;
  if (count === 0n) {
    if (sum !== 0n || sumOfSquares !== 0n) corrupt(`${at} sums without a count`);
    return;
  }
  const [least, most] = rangeOf(slot);
  if (sum < count * least || sum > count * most) corrupt(`${at} a sum out of range`);
  const q = sum / count;
  if (sumOfSquares + count * q * (q + 1n) < (2n * q + 1n) * sum) {
    corrupt(`${at} a sum of squares below that of equal values`);
  }
  if (sumOfSquares > (least + most) * sum - count * least * most) {
    corrupt(`${at} a sum of squares above that of extreme values`);
  }
  if (((sum ^ sumOfSquares) & 1n) !== 0n) corrupt(`${at} sums of different parity`);
}

/**
 * @param {Bucket[]} buckets each slot once
 * @param {bigint} untimed
 * @returns {{ count: bigint, sum: bigint }} the totals
 */
export function checkHistogram(buckets, untimed) {
  let [count, sum, squares, used] = [0n, 0n, 0n, 0n];
  for (const bucket of buckets) {
    checkBucket(bucket);
    count += bucket.count;
    sum += bucket.sum;
    squares += bucket.sumOfSquares;
    if (bucket.count !== 0n) ++used;
  }
  if (count > MOST_U64 || sum > MOST_U128 || squares > MOST_U128) corrupt('the totals of a histogram overflow');
  if (untimed > count || count - untimed < used) corrupt('fewer calls were timed than there are buckets');
  return { count, sum };
}

/**
 * @param {Scalars} s
 */
function checkCubes(s) {
  const n = s.contributions;
  if (s.sumMeanCubed < n * LOWEST_LOG ** 3n || s.sumMeanCubed > n * HIGHEST_LOG ** 3n) {
    corrupt('scalars: a cube out of range');
  }
  if ((s.sumMeanCubed - s.sumMean) % 6n !== 0n) corrupt('scalars: means and their cubes differ by no multiple of 6');
  for (const end of [LOWEST_LOG, HIGHEST_LOG]) {
    const first = s.sumMean - n * end;
    const second = s.sumMeanSquared - 2n * end * s.sumMean + n * end * end;
    const third = s.sumMeanCubed - 3n * end * s.sumMeanSquared + 3n * end * end * s.sumMean - n * end ** 3n;
    if (first * third < second * second) corrupt('scalars: cubes that the squares do not allow');
  }
}

/** @param {Scalars} s */
export function checkScalars(s) {
  const n = s.contributions;
  if (n === 0n) {
    if (Object.values(s).some((value) => value !== 0n)) corrupt('scalars without a contribution');
    return;
  }
  if (n > MOST_CONTRIBUTIONS) corrupt('scalars: more contributions than 2^56');
  if (s.sumMean < n * LOWEST_LOG || s.sumMean > n * HIGHEST_LOG) corrupt('scalars: a mean out of range');
  if (s.sumMean * s.sumMean > n * s.sumMeanSquared) corrupt('scalars: squares below those of equal means');
  if (s.sumMeanSquared > (LOWEST_LOG + HIGHEST_LOG) * s.sumMean - n * LOWEST_LOG * HIGHEST_LOG) {
    corrupt('scalars: squares above those of extreme means');
  }
  if (((s.sumMean ^ s.sumMeanSquared) & 1n) !== 0n) corrupt('scalars: means and their squares of different parity');
  if (s.sumInverseCalls > n * ONE) corrupt('scalars: more inverse calls than 1 for each contribution');
  if ((s.sumWithinFreedom === 0n) !== (s.sumInverseCalls === n * ONE)) {
    corrupt('scalars: degrees of freedom and inverse calls disagree');
  }
  if (s.sumWithinFreedom > n * (MOST_U64 - 1n)) corrupt('scalars: more degrees of freedom than calls');
  if (s.sumWithinSquares > (s.sumWithinFreedom + n) * (HIGHEST_LOG - LOWEST_LOG) ** 2n ||
      (s.sumWithinFreedom === 0n && s.sumWithinSquares !== 0n)) {
    corrupt('scalars: more variance than the range allows');
  }
  checkCubes(s);
}

/**
 * @param {Scalars} scalars
 * @param {Scalars} other
 * @returns {Scalars} the difference
 */
export function lessScalars(scalars, other) {
  const entries = Object.entries(scalars).map(([name, value]) =>
    [name, value - other[/** @type {keyof Scalars} */ (name)]]);
  return Object.fromEntries(entries);
}

/**
 * A fullest quarter must be possible, and a part of the row's scalars.
 * @param {number} week
 * @param {Scalars} scalars
 * @param {Scalars} row
 */
export function checkQuarter(week, scalars, row) {
  if ((week === 0) !== (scalars.contributions === 0n)) corrupt('a fullest quarter without contributions or week');
  checkScalars(scalars);
  const rest = lessScalars(row, scalars);
  const { sumMean: _, sumMeanCubed: __, ...unsigned } = rest;
  if (Object.values(unsigned).some((value) => value < 0n)) corrupt('a fullest quarter that is no part of its row');
  checkScalars(rest);
}

/**
 * @param {{ calls: bigint, sum: bigint }} bounded
 * @param {{ count: bigint, sum: bigint }} totals
 * @param {bigint} contributions
 */
export function checkBounded(bounded, totals, contributions) {
  if (bounded.calls === 0n && bounded.sum === 0n) return;
  if (contributions === 0n || bounded.calls < contributions) corrupt('bounded sums: a contribution without a call');
  if (bounded.calls > totals.count || bounded.sum > totals.sum) corrupt('bounded sums: more than the row has');
}
