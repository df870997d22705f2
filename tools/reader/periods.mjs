// Decodes the history of a fragment's APIs (common/wire/FRAGMENTS.md, "Periods"): a row per API, metric and period.

import { equalBytes } from './bytes.mjs';
import { ReadError, corrupt } from './errors.mjs';
import { FRAGMENT, rowsOfMessage } from './fragment.mjs';
import * as limits from './limits.mjs';
import { parseMessage } from './protobuf.mjs';
import { decompressFrame } from './zstd_frame.mjs';

const KIND = new TextEncoder().encode('fieldcost periods');
const FORMAT_VERSION = 1;
const WEEKS = 4;  // of a period

/** @type {import('./protobuf.mjs').Definition} */
const PERIODS = {
  kind: { number: 1, type: 'bytes' },
  format_version: { number: 2, type: 'uint32' },
  rows: { number: 3, type: 'message', message: FRAGMENT },
};

/** @param {import('./fragment.mjs').Row} row */
function checkRow({ week, hardware, buckets, scalars, bounded, fullestQuarter }) {
  if (week === 0 || week % WEEKS !== 0) corrupt(`week ${week} begins no period`);
  if (hardware !== null) corrupt('a row of a period has a hardware class');
  if (buckets.length === 0 || scalars.contributions === 0n) corrupt('a row of a period has no calls or contributions');
  if (buckets.some(({ weight }) => weight !== 0n)) corrupt('a row of a period has weights');
  if (bounded !== null || fullestQuarter !== null) corrupt('a row of a period has bounded sums or a fullest quarter');
}

/**
 * Decodes the periods of a fragment and checks every row; the week of a row is the first of its period. Throws
 * `corrupt`, `too_large` or `unsupported`.
 * @param {Uint8Array} untrusted compressed
 * @returns {import('./fragment.mjs').Row[]} ascending by key
 */
export function decodePeriods(untrusted) {
  const content = decompressFrame(untrusted, {
    maxBytes: limits.MAX_FRAGMENT_BYTES,
    maxContentBytes: limits.MAX_FRAGMENT_DECODED_BYTES,
  });
  const periods = parseMessage(content, PERIODS);
  if (!equalBytes(periods.kind, KIND)) corrupt('not a file of periods');
  if (periods.format_version !== FORMAT_VERSION) {
    throw new ReadError('unsupported',
      `periods of format version ${periods.format_version}, only ${FORMAT_VERSION} is understood`);
  }
  const rows = rowsOfMessage(periods.rows ?? parseMessage(new Uint8Array(0), FRAGMENT));
  rows.forEach(checkRow);
  return rows;
}
