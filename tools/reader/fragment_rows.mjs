// The rows of a fragment from its columns of numbers (common/wire/FRAGMENTS.md, "Rows").

import { corrupt } from './errors.mjs';
import { MAX_SLOT } from './limits.mjs';
import {
  COLUMNS, MOD_128, MOD_64, NumberReader, below64, bitLength, floorDivide, s128, u128,
} from './number_columns.mjs';
import { rangeOf } from './row_rules.mjs';

/** @typedef {import('./fragment.mjs').Scalars} Scalars */

// Bits of a row's kind.
const WITHOUT_PARTS = 1;
const HAS_QUARTER = 2;
const HAS_UNTIMED = 4;
const HAS_WEIGHTS = 8;
const HAS_BOUNDED = 16;
const ALL_KINDS = 31;

const WHOLE_SHARE = 65536n;

/**
 * @typedef {object} Bucket
 * @property {number} slot
 * @property {bigint} count
 * @property {bigint} sum
 * @property {bigint} sumOfSquares
 * @property {bigint} share of the row's weight, in 1/65536
 */

/**
 * A row's place in the table.
 * @typedef {{ api: number, metric: number, hardware: number, isAllClasses: boolean, week: number }} Place
 */

/**
 * @typedef {object} Sums
 * @property {number} kind
 * @property {number} quarterWeek 0: none
 * @property {Scalars} quarter all 0 if there is none
 * @property {Scalars} scalars of the whole row
 * @property {bigint} untimed
 * @property {Bucket[]} buckets ascending by slot
 * @property {{ calls: bigint, sum: bigint }} bounded both 0 if there are none
 */

const column = Object.fromEntries(COLUMNS.map((name, i) => [name, i]));

/** @type {Scalars} */
const NO_SCALARS = {
  contributions: 0n, sumMean: 0n, sumMeanSquared: 0n, sumInverseCalls: 0n, sumWithinSquares: 0n, sumWithinFreedom: 0n,
  sumMeanCubed: 0n,
};
const SIGNED = new Set(['sumMean', 'sumMeanCubed']);

/**
 * The sums, which may have more bits than scalars can.
 * @param {Scalars} left
 * @param {Scalars} right
 * @returns {Scalars}
 */
function addScalars(left, right) {
  const sums = Object.entries(left).map(([name, value]) => [name, value + right[/** @type {keyof Scalars} */ (name)]]);
  return Object.fromEntries(sums);
}

/**
 * Refuses scalars of more bits than they can have.
 * @param {Scalars} scalars
 */
function boundedScalars(scalars) {
  for (const [name, value] of Object.entries(scalars)) {
    if (SIGNED.has(name) ? s128(value) !== value : value >= MOD_128) corrupt('scalars overflow');
  }
  below64(scalars.contributions, 'contributions');
  return scalars;
}

/**
 * Whether the difference is one of scalars: nothing negative, and nothing without contributions.
 * @param {Scalars} left
 * @param {Scalars} right
 */
function canSubtract(left, right) {
  const rest = Object.entries(left).map(([name, value]) =>
    /** @type {const} */ ([name, value - right[/** @type {keyof Scalars} */ (name)]]));
  if (rest.some(([name, value]) => value < 0n && !SIGNED.has(name))) return false;
  return left.contributions !== right.contributions || rest.every(([, value]) => value === 0n);
}

/** Reads the sums of all rows of a fragment. */
class RowReader {
  #numbers;
  #quarterWeek = 0n;
  #api = -1;
  // The sets of the API's last row of each hardware class, as read.
  /** @type {Map<number, { quarter: Scalars, rest: Scalars }>} */
  #before = new Map();
  // Of the last set of the group.
  #meanBefore = 0n;

  /** @param {NumberReader} numbers */
  constructor(numbers) {
    this.#numbers = numbers;
  }

  /**
   * @param {Place[]} places of a group
   * @returns {Sums[]}
   */
  readGroup(places) {
    this.#meanBefore = 0n;
    if (places[0].api !== this.#api) {
      this.#api = places[0].api;
      this.#before.clear();
    }
    const rows = places.map((place) => this.#readRow(place));
    const [total] = rows;
    const isTotal = places[0].isAllClasses && places[0].week === 0;
    const parts = isTotal ? rows.filter((_, i) => i > 0 && !places[i].isAllClasses && places[i].week === 0) : [];
    if (rows.some(({ kind }, i) => (kind & WITHOUT_PARTS) !== 0 && (i > 0 || parts.length === 0))) {
      corrupt('a row that is no total of parts is read without them');
    }
    if ((total.kind & WITHOUT_PARTS) !== 0) addParts(total, parts);
    else if (parts.length > 0 && canSubtractParts(total, parts)) corrupt('a total is read with its parts');
    for (const row of rows) {
      if ((row.kind & WITHOUT_PARTS) === 0) this.#readShares(row, expectedOfRow);
    }
    if ((total.kind & WITHOUT_PARTS) !== 0) this.#readShares(total, (row) => expectedOfParts(row, parts));
    return rows;
  }

  /**
   * @param {Place} place
   * @returns {Sums}
   */
  #readRow(place) {
    const numbers = this.#numbers;
    const kind = numbers.byte(column.row_kind);
    if ((kind & ~ALL_KINDS) !== 0) corrupt(`a row of kind ${kind}`);
    const before = this.#before.get(place.hardware);
    const quarterWeek = (kind & HAS_QUARTER) === 0 ? 0 : this.#readWeek();
    const quarter = (kind & HAS_QUARTER) === 0 ? NO_SCALARS : this.#readSet(before?.quarter);
    const rest = this.#readSet(before?.rest);
    this.#before.set(place.hardware, { quarter, rest });
    const bucketCount = numbers.byte(column.bucket_count);
    let untimed = 0n;
    if ((kind & HAS_UNTIMED) !== 0) {
      untimed = below64(numbers.number(column.untimed), 'untimed calls');
      if (untimed === 0n) corrupt('no untimed calls, although they are announced');
    }
    const buckets = [];
    for (let slot = -1; buckets.length < bucketCount;) {
      slot += 1 + numbers.byte(column.bucket_gap);
      if (slot > MAX_SLOT) corrupt(`a bucket of slot ${slot}`);
      buckets.push(this.#readBucket(slot));
    }
    // A total without its parts has no contributions in common with its quarter.
    const scalars = (kind & WITHOUT_PARTS) !== 0 ? rest : boundedScalars(addScalars(quarter, rest));
    return { kind, quarterWeek, quarter, scalars, untimed, buckets, bounded: { calls: 0n, sum: 0n } };
  }

  #readWeek() {
    const week = u128(this.#quarterWeek + this.#numbers.signed(column.quarter_week));
    if (week === 0n || week >= 1n << 32n) corrupt(`a quarter of week ${week}`);
    this.#quarterWeek = week;
    return Number(week);
  }

  /**
   * @param {Scalars} [before]
   * @returns {Scalars}
   */
  #readSet({ contributions, sumInverseCalls, sumWithinFreedom } = NO_SCALARS) {
    const numbers = this.#numbers;
    const n = below64(u128(contributions + numbers.signed(column.contributions)), 'contributions');
    if (n === 0n) return NO_SCALARS;
    const m = s128(this.#meanBefore * n + numbers.signed(column.mean));
    const q = floorDivide(m, n);
    this.#meanBefore = q;
    const m2 = u128((2n * q + 1n) * m - n * q * (q + 1n) + 2n * numbers.number(column.mean_squared, 127));
    const m3 = s128(3n * q * m2 - 3n * q * q * m + n * q * q * q + numbers.signed(column.mean_cubed));
    return {
      contributions: n,
      sumMean: m,
      sumMeanSquared: m2,
      sumMeanCubed: m3,
      sumInverseCalls: u128(sumInverseCalls + numbers.signed(column.inverse_calls)),
      sumWithinFreedom: u128(sumWithinFreedom + numbers.signed(column.within_freedom)),
      sumWithinSquares: numbers.number(column.within_squares),
    };
  }

  /**
   * @param {number} slot
   * @returns {Bucket}
   */
  #readBucket(slot) {
    const numbers = this.#numbers;
    const n = below64(numbers.number(column.count), 'a count');
    if (n === 0n) corrupt('a bucket without values');
    const half = Math.floor(bitLength(n) / 2);
    const [least, most] = rangeOf(slot);
    const sum = u128((u128(n * (least + most)) >> 1n) + numbers.signedNear(column.sum, slot + half - 3));
    const t = sum / n;
    const leastSquares = u128((2n * t + 1n) * sum - n * t * (t + 1n));
    let sumOfSquares = leastSquares;
    const byte = numbers.byte(column.squares);
    if (byte !== 0) {
      const range = u128((least + most) * sum - n * least * most - leastSquares);
      const p = u128(leastSquares + (range >> 2n) + (range >> 4n) + (range >> 6n));
      sumOfSquares = u128(p - ((p ^ sum) & 1n) + 2n * numbers.signedNearOf(byte, 2 * slot + half - 4, 127));
      if (sumOfSquares === leastSquares) corrupt('the least sum of squares in a longer form');
    }
    return { slot, count: n, sum, sumOfSquares, share: 0n };
  }

  /**
   * @param {Sums} row
   * @param {(row: Sums) => Expected} expected
   */
  #readShares(row, expected) {
    const numbers = this.#numbers;
    const { shares, calls, sum } = expected(row);
    if ((row.kind & HAS_WEIGHTS) !== 0) {
      if (row.buckets.length === 0 || row.scalars.contributions === 0n) corrupt('weights of no contributions');
      let left = WHOLE_SHARE;
      row.buckets.forEach((bucket, i) => {
        const isLast = i === row.buckets.length - 1;
        bucket.share = isLast ? left : s128(shares(bucket) + numbers.signed(column.share));
        if (bucket.share < 0n || bucket.share > left) corrupt(`a share of ${bucket.share} of ${left} left`);
        left -= bucket.share;
      });
    }
    if ((row.kind & HAS_BOUNDED) !== 0) {
      const boundedCalls = below64(u128(calls() + numbers.signed(column.bounded_calls)), 'bounded calls');
      if (boundedCalls === 0n) corrupt('no bounded sums, although they are announced');
      row.bounded = { calls: boundedCalls, sum: u128(sum(boundedCalls) + numbers.signed(column.bounded_sum)) };
    }
  }
}

/**
 * The shares and bounded sums that a row probably has.
 * @typedef {object} Expected
 * @property {(bucket: Bucket) => bigint} shares
 * @property {() => bigint} calls
 * @property {(calls: bigint) => bigint} sum
 */

/**
 * From the row itself.
 * @param {Sums} row
 * @returns {Expected}
 */
function expectedOfRow({ buckets, scalars }) {
  const count = buckets.reduce((total, bucket) => total + bucket.count, 0n);
  return {
    shares: (bucket) => WHOLE_SHARE * bucket.count / count,
    calls: () => scalars.sumWithinFreedom + scalars.contributions,
    sum: (calls) => {
      if (count === 0n) corrupt('bounded sums of a row without calls');
      const sum = buckets.reduce((total, bucket) => total + bucket.sum, 0n);
      return u128(u128(sum << 8n) / count * calls) >> 8n;
    },
  };
}

/**
 * Of a total, from its parts.
 * @param {Sums} total
 * @param {Sums[]} parts
 * @returns {Expected}
 */
function expectedOfParts(total, parts) {
  const bounded = (/** @type {'calls' | 'sum'} */ name) => () =>
    u128(parts.reduce((sum, part) => sum + part.bounded[name], 0n));
  /** @type {Map<number, bigint>} */
  const weights = new Map();
  for (const { buckets, scalars } of parts) {
    for (const { slot, share } of buckets) {
      weights.set(slot, (weights.get(slot) ?? 0n) + share * scalars.contributions);
    }
  }
  return {
    shares: ({ slot }) => (weights.get(slot) ?? 0n) / total.scalars.contributions,
    calls: bounded('calls'),
    sum: bounded('sum'),
  };
}

/**
 * The sums of the buckets of the rows, by slot.
 * @param {Sums[]} rows
 * @returns {Map<number, Bucket>}
 */
function sumBuckets(rows) {
  /** @type {Map<number, Bucket>} */
  const sums = new Map();
  for (const { slot, count, sum, sumOfSquares } of rows.flatMap((row) => row.buckets)) {
    const bucket = sums.get(slot) ?? { slot, count: 0n, sum: 0n, sumOfSquares: 0n, share: 0n };
    bucket.count += count;
    bucket.sum += sum;
    bucket.sumOfSquares += sumOfSquares;
    sums.set(slot, bucket);
  }
  return sums;
}

/**
 * The sums of the scalars of the parts, and of those of their quarters in the week.
 * @param {Sums[]} parts
 * @param {number} quarterWeek
 */
function sumScalars(parts, quarterWeek) {
  const quarters = parts.filter((part) => quarterWeek !== 0 && part.quarterWeek === quarterWeek);
  return {
    scalars: parts.map((part) => part.scalars).reduce(addScalars, NO_SCALARS),
    quarter: quarters.map((part) => part.quarter).reduce(addScalars, NO_SCALARS),
  };
}

/**
 * Adds its parts to a total that was read without them.
 * @param {Sums} total
 * @param {Sums[]} parts
 */
function addParts(total, parts) {
  const buckets = sumBuckets([total, ...parts]);
  for (const { count, sum, sumOfSquares } of buckets.values()) {
    if (count >= MOD_64 || sum >= MOD_128 || sumOfSquares >= MOD_128) corrupt('a bucket of a total overflows');
  }
  total.buckets = [...buckets.values()].sort((left, right) => left.slot - right.slot);
  total.untimed = below64(parts.reduce((sum, part) => sum + part.untimed, total.untimed), 'untimed calls');
  const sums = sumScalars(parts, total.quarterWeek);
  total.scalars = boundedScalars(addScalars(total.scalars, sums.scalars));
  total.quarter = boundedScalars(addScalars(total.quarter, sums.quarter));
}

/**
 * Whether nothing becomes negative when the parts are subtracted from the total.
 * @param {Sums} total
 * @param {Sums[]} parts
 */
function canSubtractParts(total, parts) {
  const own = new Map(total.buckets.map((bucket) => [bucket.slot, bucket]));
  for (const { slot, count, sum, sumOfSquares } of sumBuckets(parts).values()) {
    const bucket = own.get(slot);
    if (bucket === undefined || count > bucket.count || sum > bucket.sum || sumOfSquares > bucket.sumOfSquares) {
      return false;
    }
    if (count === bucket.count && (sum !== bucket.sum || sumOfSquares !== bucket.sumOfSquares)) return false;
  }
  if (parts.reduce((sum, part) => sum + part.untimed, 0n) > total.untimed) return false;
  const sums = sumScalars(parts, total.quarterWeek);
  return canSubtract(total.scalars, sums.scalars) && canSubtract(total.quarter, sums.quarter);
}

/**
 * Reads the sums of all rows.
 * @param {Record<string, any>} fragment the message
 * @param {Place[]} places of the rows
 * @returns {Sums[]}
 */
export function readSums(fragment, places) {
  const numbers = new NumberReader(fragment);
  const reader = new RowReader(numbers);
  /** @type {Sums[]} */
  const rows = [];
  for (let begin = 0; begin < places.length;) {
    const { api, metric } = places[begin];
    let end = begin + 1;
    while (end < places.length && places[end].api === api && places[end].metric === metric) ++end;
    for (const row of reader.readGroup(places.slice(begin, end))) rows.push(row);
    begin = end;
  }
  numbers.checkEnd();
  return rows;
}
