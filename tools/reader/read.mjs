#!/usr/bin/env node
// Prints the rows of a publication after verifying them. USAGE below describes it.

import { readFile, rename, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';

import { ReadError, folderSource, newTrustState, openPublication, serverSource } from './index.mjs';
import { rowForJson } from './row_json.mjs';

/** @typedef {import('./fragment.mjs').Row} Row */
/** @typedef {import('./publication.mjs').Publication} Publication */
/** @typedef {import('./trust.mjs').TrustState} TrustState */

const USAGE = `usage: node read.mjs FOLDER|URL --root FILE [options]

Verifies a publication, and prints its rows. FOLDER is as \`fieldcost-aggregator publish --to\` writes it, URL as of
\`fieldcost sync\`.

  --root FILE           the service's root file, which must come from its operator
  --state FILE          remembers what was accepted, so that nothing older is accepted later; created if absent
  --now TIME            when nothing may have expired, such as 2026-01-31T12:00:00Z (default: the clock)
  --api SONAME!SYMBOL   only the rows of this function; fetches one fragment
  --json                one JSON object; numbers that may exceed 2^53 are decimal strings
  --help                this text

Without --json, a row is a line of fields separated by tabs: API, package version, metric, class, week, machines,
calls, sum; "-" if all or none.

Exit status: 0 success, 64 wrong usage, 65 malformed file, 66 a file is missing, 69 the service cannot be reached,
74 reading or writing failed, 76 a signature, version, expiry or hash is wrong, 78 a newer format, 70 internal error.
`;

/** @type {Record<import('./errors.mjs').ErrorCode, number>} */
const EXIT_STATUS = {
  invalid_argument: 64,
  corrupt: 65,
  too_large: 65,
  not_found: 66,
  unavailable: 69,
  unauthenticated: 76,
  unsupported: 78,
};

/** @param {string[]} args */
function parse(args) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        root: { type: 'string' },
        state: { type: 'string' },
        now: { type: 'string' },
        api: { type: 'string' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
  } catch (error) {
    throw new ReadError('invalid_argument', `${/** @type {Error} */ (error).message}; see --help`);
  }
}

/** @param {string} text */
function timeOf(text) {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) throw new ReadError('invalid_argument', `--now: ${text} is not a time; see --help`);
  return time;
}

/** @param {string} text */
function apiOf(text) {
  const mark = text.indexOf('!');
  if (mark < 1 || mark === text.length - 1) {
    throw new ReadError('invalid_argument', `--api: ${text} is not SONAME!SYMBOL`);
  }
  return [text.slice(0, mark), text.slice(mark + 1)];
}

/**
 * @param {string | undefined} file
 * @returns {Promise<TrustState>}
 */
async function loadState(file) {
  if (file === undefined) return newTrustState();
  let text;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return newTrustState();
    throw error;
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new ReadError('corrupt', `${file} is not a state that --state has written`);
  }
}

/**
 * Replaces the file atomically.
 * @param {string | undefined} file
 * @param {TrustState} state
 */
async function saveState(file, state) {
  if (file === undefined) return;
  await writeFile(`${file}.new`, `${JSON.stringify(state)}\n`);
  await rename(`${file}.new`, file);
}

/**
 * Waits until the reader of the output keeps up.
 * @param {string} text
 */
async function print(text) {
  if (!process.stdout.write(text)) await new Promise((resolve) => process.stdout.once('drain', resolve));
}

/** @param {Row} row */
function lineOf({ soname, symbol, packageVersion, metric, hardware, week, scalars, buckets }) {
  const name = hardware && [hardware.architecture, hardware.cpuFamily, `2^${hardware.log2Cores} cores`,
    `2^${hardware.log2MemoryMib} MiB`, hardware.osRelease].join('/');
  const calls = buckets.reduce((total, { count }) => total + count, 0n);
  const sum = buckets.reduce((total, bucket) => total + bucket.sum, 0n);
  return [`${soname}!${symbol}`, packageVersion || '-', metric, name ?? '-', week || '-', scalars.contributions, calls,
    sum].join('\t');
}

/** @param {Publication} publication */
function headOf({ root, timestamp, snapshot }) {
  return {
    root_version: String(root.version),
    timestamp_version: String(timestamp.version),
    snapshot_version: String(snapshot.version),
    published_us: String(snapshot.publishedUs),
    expires_us: String(timestamp.expiresUs),
    contribution_threshold: snapshot.contributionThreshold,
    synthetic: snapshot.synthetic,
    operator: root.operatedBy.name,
  };
}

/**
 * @param {Publication} publication
 * @param {AsyncIterable<Row> | Iterable<Row>} rows
 * @param {boolean} asJson
 */
async function printRows(publication, rows, asJson) {
  if (!asJson) {
    for await (const row of rows) await print(`${lineOf(row)}\n`);
    return;
  }
  // Printed row by row, because the whole may be longer than a string can be.
  await print(`{"publication":${JSON.stringify(headOf(publication))},"rows":[`);
  let separator = '\n';
  for await (const row of rows) {
    await print(separator + JSON.stringify(rowForJson(row)));
    separator = ',\n';
  }
  await print('\n]}\n');
}

/** @param {ReturnType<typeof parse>} parsed */
async function run({ values, positionals }) {
  if (values.help) return print(USAGE);
  if (positionals.length !== 1 || values.root === undefined) {
    throw new ReadError('invalid_argument', 'one FOLDER or URL and --root FILE are needed; see --help');
  }
  const api = values.api === undefined ? undefined : apiOf(values.api);
  const now = values.now === undefined ? new Date() : timeOf(values.now);
  const [place] = positionals;
  const source = /^https?:\/\//.test(place) ? serverSource(place) : folderSource(place);
  const root = new Uint8Array(await readFile(values.root));
  const state = await loadState(values.state);
  const before = JSON.stringify(state);
  let publication;
  try {
    publication = await openPublication({ source, root, now, state });
  } finally {
    if (JSON.stringify(state) !== before) await saveState(values.state, state);
  }
  const rows = api === undefined ? publication.rows() : await publication.rowsOf(api[0], api[1]);
  return printRows(publication, rows, values.json === true);
}

/**
 * @param {unknown} error
 * @returns {[string, number]} code and exit status
 */
function kindOf(error) {
  if (error instanceof ReadError) return [error.code, EXIT_STATUS[error.code]];
  return /** @type {any} */ (error)?.syscall === undefined ? ['internal', 70] : ['io', 74];
}

process.stdout.on('error', (error) => process.exit(/** @type {any} */ (error).code === 'EPIPE' ? 0 : 74));
const args = process.argv.slice(2);
try {
  await run(parse(args));
} catch (error) {
  const [code, status] = kindOf(error);
  const message = error instanceof Error ? error.message : String(error);
  if (args.includes('--json')) await print(`${JSON.stringify({ error: code, message })}\n`);
  else process.stderr.write(`read.mjs: ${message}\n`);
  process.exitCode = status;
}
