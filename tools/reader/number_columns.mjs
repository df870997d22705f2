// The numbers of a fragment (common/wire/FRAGMENTS.md, "Numbers"): the length of each is a byte in its column, and its
// bits, without the highest, are in a stream that all columns share.

import { corrupt } from './errors.mjs';

/** The columns, in the order of their field numbers. */
export const COLUMNS = /** @type {const} */ ([
  'row_kind', 'quarter_week', 'contributions', 'mean', 'mean_squared', 'mean_cubed', 'inverse_calls', 'within_freedom',
  'within_squares', 'bucket_count', 'untimed', 'bucket_gap', 'count', 'sum', 'squares', 'share', 'bounded_calls',
  'bounded_sum',
]);
/** The field number of the first. */
export const FIRST_COLUMN = 5;

/** @typedef {(typeof COLUMNS)[number]} ColumnName */

export const MOD_64 = 1n << 64n;
export const MOD_128 = 1n << 128n;

/** @param {bigint} number */
export const u128 = (number) => BigInt.asUintN(128, number);
/** @param {bigint} number */
export const s128 = (number) => BigInt.asIntN(128, number);

/**
 * ⌊numerator / denominator⌋; `denominator` is positive.
 * @param {bigint} numerator
 * @param {bigint} denominator
 */
export function floorDivide(numerator, denominator) {
  const quotient = numerator / denominator;
  return numerator < 0n && quotient * denominator !== numerator ? quotient - 1n : quotient;
}

/** How many bits a number has; 0 for 0. @param {bigint} number */
export const bitLength = (number) => (number === 0n ? 0 : number.toString(2).length);

/**
 * The length that a number is expected to have, where the byte depends on it.
 * @param {number} expected
 */
export const clampExpected = (expected) => Math.min(Math.max(expected, 1), 120);

/** The byte of a number of the expected length. */
export const EXPECTED_BYTE = 128;

/** A number of 64 bits, or a refusal. @param {bigint} number @param {string} what */
export function below64(number, what) {
  return number < MOD_64 ? number : corrupt(`${what} of more than 64 bits`);
}

/** Reads numbers in the order in which they were written. */
export class NumberReader {
  #columns;
  #positions;
  #bits;
  #bit = 0;

  /** @param {Record<string, any>} fragment the message */
  constructor(fragment) {
    /** @type {Uint8Array[]} */
    this.#columns = COLUMNS.map((name) => fragment[name]);
    this.#positions = COLUMNS.map(() => 0);
    /** @type {Uint8Array} */
    this.#bits = fragment.bits;
  }

  /**
   * The next byte of a column.
   * @param {number} column its index in COLUMNS
   */
  byte(column) {
    const bytes = this.#columns[column];
    const position = this.#positions[column]++;
    return position < bytes.length ? bytes[position] : corrupt(`the column ${COLUMNS[column]} ends early`);
  }

  /**
   * @param {number} column
   * @param {number} [maxBits]
   */
  number(column, maxBits = 128) {
    return this.#ofLength(this.byte(column), maxBits);
  }

  /** @param {number} column */
  signed(column) {
    return unfold(this.number(column));
  }

  /**
   * A number of about `expected` bits.
   * @param {number} column
   * @param {number} expected
   */
  signedNear(column, expected) {
    return this.signedNearOf(this.byte(column), expected, 128);
  }

  /**
   * The same of a byte that has been read before.
   * @param {number} byte
   * @param {number} expected
   * @param {number} maxBits
   */
  signedNearOf(byte, expected, maxBits) {
    return unfold(this.#ofLength(byte - EXPECTED_BYTE + clampExpected(expected), maxBits));
  }

  /** Refuses what is left. */
  checkEnd() {
    this.#columns.forEach((column, i) => {
      if (this.#positions[i] !== column.length) corrupt(`the column ${COLUMNS[i]} has bytes left`);
    });
    const whole = this.#bit >>> 3;
    const used = this.#bit & 7;
    if (this.#bits.length !== whole + (used === 0 ? 0 : 1)) corrupt('bits are left');
    if (used !== 0 && this.#bits[whole] >>> used !== 0) corrupt('an unused bit is not 0');
  }

  /**
   * @param {number} length
   * @param {number} maxBits
   */
  #ofLength(length, maxBits) {
    if (length < 0 || length > maxBits) corrupt(`a number of ${length} bits`);
    if (length <= 1) return BigInt(length);
    let left = length - 1;
    if (left > this.#bits.length * 8 - this.#bit) corrupt('the bits end early');
    let number = 0n;
    for (let shift = 0n; left > 0;) {
      const take = Math.min(left, 24);
      number |= BigInt(this.#few(take)) << shift;
      shift += BigInt(take);
      left -= take;
    }
    return number | (1n << BigInt(length - 1));
  }

  // The next bits, at most 24.
  /** @param {number} count */
  #few(count) {
    const at = this.#bit >>> 3;
    const word = this.#bits[at] | (this.#bits[at + 1] << 8) | (this.#bits[at + 2] << 16) | (this.#bits[at + 3] << 24);
    const bits = (word >>> (this.#bit & 7)) & ((1 << count) - 1);
    this.#bit += count;
    return bits;
  }
}

/** @param {bigint} number */
function unfold(number) {
  return (number & 1n) === 0n ? number >> 1n : -((number + 1n) >> 1n);
}
