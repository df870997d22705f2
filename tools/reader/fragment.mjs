// Decodes a fragment (common/wire/FRAGMENTS.md): every row of the APIs that hash into it, exactly.

import { ReadError, corrupt, rethrowWithin } from './errors.mjs';
import { readSums } from './fragment_rows.mjs';
import * as limits from './limits.mjs';
import { metricName } from './metrics.mjs';
import { COLUMNS, FIRST_COLUMN } from './number_columns.mjs';
import { parseMessage } from './protobuf.mjs';
import { BATCH_COLUMNS, ROW_TABLE, checkIndices, checkLengths, readApis } from './row_table.mjs';
import { checkBounded, checkHistogram, checkQuarter, checkScalars } from './row_rules.mjs';
import { checkedText } from './texts.mjs';
import { decompressFrame } from './zstd_frame.mjs';

/**
 * The values of one power of two: slot 0 has the value 0, slot k + 1 the values from 2^k to 2^(k+1) - 1.
 * @typedef {object} Bucket
 * @property {number} slot 0 to 64
 * @property {bigint} count
 * @property {bigint} sum
 * @property {bigint} sumOfSquares
 * @property {bigint} weight of the contributions, in 2^-32; 0 in every bucket if the row has no weights
 */

/**
 * Additive scalars over the contributions (common/stats/SUMS.md).
 * @typedef {object} Scalars
 * @property {bigint} contributions
 * @property {bigint} sumMean in 2^-16
 * @property {bigint} sumMeanSquared in 2^-32
 * @property {bigint} sumInverseCalls in 2^-32
 * @property {bigint} sumWithinSquares in 2^-32
 * @property {bigint} sumWithinFreedom
 * @property {bigint} sumMeanCubed in 2^-48
 */

/**
 * @typedef {object} Hardware
 * @property {string} architecture
 * @property {string} cpuFamily
 * @property {number} log2Cores
 * @property {number} log2MemoryMib
 * @property {string} osRelease
 */

/**
 * @typedef {object} SumsOfRow
 * @property {bigint} untimed the part of the count that was not timed
 * @property {Bucket[]} buckets ascending by slot, without empty ones
 * @property {Scalars} scalars
 * @property {{ calls: bigint, sum: bigint } | null} bounded null: none
 * @property {{ week: number, scalars: Scalars } | null} fullestQuarter null: none
 */

/**
 * @typedef {object} KeyOfRow besides the API
 * @property {string} metric
 * @property {Hardware | null} hardware null: all classes
 * @property {number} week since 1970-01-01; 0: all weeks
 */

/** @typedef {import('./row_table.mjs').Api & KeyOfRow & SumsOfRow} Row */
/** @typedef {import('./fragment_rows.mjs').Place} Place */
/** @typedef {import('./fragment_rows.mjs').Sums} Sums */

/** @typedef {import('./protobuf.mjs').Definition} Definition */

const FORMAT_VERSION = 1;

/** @type {Definition} */
const HARDWARE = {
  architecture: { number: 1, type: 'bytes' },
  cpu_family: { number: 2, type: 'bytes' },
  log2_cores: { number: 3, type: 'uint32' },
  log2_memory_mib: { number: 4, type: 'uint32' },
  os_release: { number: 5, type: 'bytes' },
};

/** @type {Definition} */
export const FRAGMENT = {
  format_version: { number: 1, type: 'uint32' },
  table: { number: 2, type: 'message', message: ROW_TABLE },
  hardware: { number: 3, type: 'message', repeated: true, message: HARDWARE },
  row_hardware: { number: 4, type: 'uint32', repeated: true },
  ...Object.fromEntries(COLUMNS.map((name, i) => [name, { number: FIRST_COLUMN + i, type: 'bytes' }])),
  bits: { number: FIRST_COLUMN + COLUMNS.length, type: 'bytes' },
};

/**
 * @param {Record<string, any>} message
 * @returns {Hardware | null}
 */
function readHardware(message) {
  const { architecture, cpu_family: family, log2_cores: cores, log2_memory_mib: memory, os_release: os } = message;
  const texts = [architecture, family, os];
  if (texts.some((text) => text.length > limits.MAX_CLASS_TEXT_BYTES)) {
    throw new ReadError('too_large', 'a text of a hardware class is too long');
  }
  if (texts.every((text) => text.length === 0) && cores === 0 && memory === 0) return null;
  if (cores > limits.MAX_LOG2_CORES || memory > limits.MAX_LOG2_MEMORY_MIB) {
    corrupt(`a hardware class of 2^${cores} cores and 2^${memory} MiB`);
  }
  const most = limits.MAX_CLASS_TEXT_BYTES;
  return {
    architecture: checkedText('architecture', architecture, most, { required: true }),
    cpuFamily: checkedText('cpu family', family, most),
    log2Cores: cores,
    log2MemoryMib: memory,
    osRelease: checkedText('os release', os, most),
  };
}

// Code units in the order of UTF-8: surrogates after all others.
/** @param {number} unit */
const rank = (unit) => (unit < 0xd800 ? unit : unit < 0xe000 ? unit + 0x2000 : unit - 0x800);

/**
 * The order of UTF-8 bytes.
 * @param {string} left
 * @param {string} right
 */
export function compareTexts(left, right) {
  if (left === right) return 0;
  const length = Math.min(left.length, right.length);
  for (let i = 0; i < length; ++i) {
    const difference = rank(left.charCodeAt(i)) - rank(right.charCodeAt(i));
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

/**
 * The order of keys: the API's texts, metric, hardware class, week.
 * @param {any} row
 * @param {number} metric its number
 */
function keyOf({ soname, packageVersion, buildId, symbol, symbolVersion, hardware, week }, metric) {
  const { architecture = '', cpuFamily = '', log2Cores = 0, log2MemoryMib = 0, osRelease = '' } = hardware ?? {};
  return [soname, packageVersion, buildId, symbol, symbolVersion, metric, architecture, cpuFamily, log2Cores,
    log2MemoryMib, osRelease, week];
}

/**
 * @param {any[]} left
 * @param {any[]} right
 */
function compareKeys(left, right) {
  for (let i = 0; i < left.length; ++i) {
    const difference = typeof left[i] === 'string' ? compareTexts(left[i], right[i]) : left[i] - right[i];
    if (difference !== 0) return difference;
  }
  return 0;
}

/**
 * @param {Place} place
 * @param {Sums} sums
 */
function checkSums({ week }, { buckets, untimed, scalars, bounded, quarterWeek, quarter }) {
  const totals = checkHistogram(buckets, untimed);
  checkScalars(scalars);
  checkBounded(bounded, totals, scalars.contributions);
  checkQuarter(quarterWeek, quarter, scalars);
  if (week !== 0 && quarterWeek !== 0) corrupt('a row of one week has a fullest quarter');
}

/**
 * @param {Sums} sums
 * @returns {SumsOfRow}
 */
function publicSums({ buckets, untimed, scalars, bounded, quarterWeek, quarter }) {
  return {
    untimed,
    buckets: buckets.map(({ share, ...bucket }) => ({ ...bucket, weight: share * scalars.contributions * 65536n })),
    scalars,
    bounded: bounded.calls === 0n ? null : bounded,
    fullestQuarter: quarterWeek === 0 ? null : { week: quarterWeek, scalars: quarter },
  };
}

/**
 * Refuses classes that are not in the order of first use, and that no row has.
 * @param {Uint32Array} hardware of each row
 * @param {number} count
 */
function checkFirstUses(hardware, count) {
  let used = 0;
  for (const index of hardware) {
    if (index > used) break;
    if (index === used) ++used;
  }
  if (used !== count || hardware.some((index) => index >= count)) {
    corrupt('hardware classes out of range or not in the order of first use');
  }
}

/**
 * The places of the rows in the table.
 * @param {Record<string, any>} fragment
 * @param {Record<string, any>} table
 * @param {number} apiCount
 * @param {(Hardware | null)[]} classes
 * @returns {Place[]}
 */
function readPlaces(fragment, table, apiCount, classes) {
  const count = table.row_api.length;
  if (BATCH_COLUMNS.some((name) => table[name].length !== 0)) corrupt('a table of keys has buckets');
  checkLengths('rows', [table.row_metric, table.row_week, fragment.row_hardware], count);
  const [apis, metrics, weeks] = ['row_api', 'row_metric', 'row_week'].map((name) => table[name].uint32());
  const hardware = fragment.row_hardware.uint32();
  checkIndices('APIs', apis, apiCount);
  checkFirstUses(hardware, classes.length);
  return Array.from({ length: count }, (_, i) => ({
    api: apis[i],
    metric: metrics[i],
    hardware: hardware[i],
    isAllClasses: classes[hardware[i]] === null,
    week: weeks[i],
  }));
}

/**
 * @param {Record<string, any>} fragment
 * @param {Record<string, any>} table
 * @returns {Row[]}
 */
function readRows(fragment, table) {
  const apis = readApis(table);
  const classes = fragment.hardware.map(readHardware);
  const places = readPlaces(fragment, table, apis.count, classes);
  const sums = readSums(fragment, places);
  /** @type {any[] | null} */
  let before = null;
  return places.map((place, i) => {
    try {
      const row = {
        ...apis.apiOf(place.api),
        metric: metricName(place.metric) ?? corrupt(`unknown metric ${place.metric}`),
        hardware: classes[place.hardware],
        week: place.week,
      };
      checkSums(place, sums[i]);
      const key = keyOf(row, place.metric);
      if (before !== null && compareKeys(before, key) >= 0) corrupt('rows do not ascend by key');
      before = key;
      return { ...row, ...publicSums(sums[i]) };
    } catch (error) {
      rethrowWithin(error, `row ${i}`);
    }
  });
}

/**
 * Decodes a fragment and checks every row. Throws `corrupt`, `too_large` or `unsupported`.
 * @param {Uint8Array} untrusted compressed
 * @returns {Row[]} ascending by key
 */
export function decodeFragment(untrusted) {
  const content = decompressFrame(untrusted, {
    maxBytes: limits.MAX_FRAGMENT_BYTES,
    maxContentBytes: limits.MAX_FRAGMENT_DECODED_BYTES,
  });
  return rowsOfMessage(parseMessage(content, FRAGMENT));
}

/**
 * The rows of a parsed message.
 * @param {Record<string, any>} fragment
 * @returns {Row[]}
 */
export function rowsOfMessage(fragment) {
  if (fragment.format_version !== FORMAT_VERSION) {
    throw new ReadError('unsupported',
      `fragment format version ${fragment.format_version}, only ${FORMAT_VERSION} is understood`);
  }
  const table = fragment.table ?? parseMessage(new Uint8Array(0), ROW_TABLE);
  if (table.row_api.length > limits.MAX_FRAGMENT_ROWS) {
    throw new ReadError('too_large', `${table.row_api.length} rows in a fragment`);
  }
  return readRows(fragment, table);
}
