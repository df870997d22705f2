// The columns of a RowTable (common/wire/BATCHES.md, "Rows as columns").

import { ReadError, corrupt } from './errors.mjs';
import * as limits from './limits.mjs';
import { checkedBuildId, checkedSoname, checkedSymbol, checkedText } from './texts.mjs';

/** @typedef {import('./protobuf.mjs').Column} Column */
/** @typedef {import('./protobuf.mjs').Definition} Definition */

/**
 * @param {number} number
 * @param {'uint32' | 'uint64'} type
 * @returns {import('./protobuf.mjs').Field}
 */
const column = (number, type) => ({ number, type, repeated: true });

/** @type {Definition} */
export const ROW_TABLE = {
  strings: { number: 1, type: 'bytes', repeated: true },
  module_soname: column(2, 'uint32'),
  module_package_version: column(3, 'uint32'),
  module_build_id: column(4, 'uint32'),
  api_module: column(5, 'uint32'),
  api_symbol: column(6, 'uint32'),
  api_symbol_version: column(7, 'uint32'),
  row_api: column(8, 'uint32'),
  row_metric: column(9, 'uint32'),
  row_week: column(10, 'uint32'),
  row_bucket_count: column(11, 'uint32'),
  bucket_slot: column(12, 'uint32'),
  bucket_count: column(13, 'uint64'),
  bucket_sum_low: column(14, 'uint64'),
  bucket_sum_high: column(15, 'uint64'),
  bucket_squares_low: column(16, 'uint64'),
  bucket_squares_high: column(17, 'uint64'),
  row_untimed: column(18, 'uint64'),
};

/** The columns that only batches have. */
export const BATCH_COLUMNS = Object.keys(ROW_TABLE).filter((name) => ROW_TABLE[name].number > 10);

/**
 * Refuses columns of different lengths.
 * @param {string} name
 * @param {Column[]} columns
 * @param {number} length
 */
export function checkLengths(name, columns, length) {
  if (columns.some((each) => each.length !== length)) corrupt(`the columns of ${name} have different lengths`);
}

/**
 * Refuses an index out of range.
 * @param {string} name
 * @param {Uint32Array} indices
 * @param {number} count
 */
export function checkIndices(name, indices, count) {
  if (indices.some((index) => index >= count)) corrupt(`an index of ${name} is out of range`);
}

/**
 * An exported function of a version of a library.
 * @typedef {object} Api
 * @property {string} soname
 * @property {string} packageVersion empty if not from a package
 * @property {string} buildId lower-case hex, empty if none
 * @property {string} symbol
 * @property {string} symbolVersion empty if unversioned
 */

/**
 * The APIs of a table. Their texts are checked when `apiOf` is called for them: no row needs to have them.
 * @param {Record<string, any>} table
 * @returns {{ count: number, apiOf: (index: number) => Api }}
 */
export function readApis(table) {
  const { strings } = table;
  if (strings.length > limits.MAX_STRINGS) throw new ReadError('too_large', `${strings.length} strings in a table`);
  if (strings.some((/** @type {Uint8Array} */ text) => text.length > limits.MAX_SYMBOL_BYTES)) {
    throw new ReadError('too_large', 'a string of a table is too long');
  }
  checkLengths('modules', [table.module_package_version, table.module_build_id], table.module_soname.length);
  checkLengths('APIs', [table.api_symbol, table.api_symbol_version], table.api_module.length);
  const [sonames, versions, buildIds, modules, symbols, symbolVersions] = ['module_soname', 'module_package_version',
    'module_build_id', 'api_module', 'api_symbol', 'api_symbol_version'].map((name) => table[name].uint32());
  for (const indices of [sonames, versions, buildIds, symbols, symbolVersions]) {
    checkIndices('strings', indices, strings.length);
  }
  checkIndices('modules', modules, sonames.length);
  /** @type {Api[]} */
  const apis = [];
  return {
    count: modules.length,
    apiOf(index) {
      const module = modules[index];
      return apis[index] ??= {
        soname: checkedSoname(strings[sonames[module]]),
        packageVersion: checkedText('package version', strings[versions[module]], limits.MAX_VERSION_BYTES),
        buildId: checkedBuildId(strings[buildIds[module]]),
        symbol: checkedSymbol(strings[symbols[index]]),
        symbolVersion: checkedText('symbol version', strings[symbolVersions[index]], limits.MAX_VERSION_BYTES),
      };
    },
  };
}
