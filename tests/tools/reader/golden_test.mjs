// The golden files of the formats, which the worked examples of the documents describe.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { describe, it } from 'node:test';

import { ReadError, decodeFragment, decodePeriods, openPublication } from '../../../tools/reader/index.mjs';
import { decompressFrame } from '../../../tools/reader/zstd_frame.mjs';
import { encodable, encodeMessage, encodePeriodsMessage } from './encode_fragment.mjs';
import { hexOf } from './encode_metadata.mjs';

const FOLDER = new URL('../../common/wire/golden/', import.meta.url);
const golden = (name) => new Uint8Array(readFileSync(new URL(name, FOLDER)));
const LIMITS = { maxBytes: 2 ** 20, maxContentBytes: 2 ** 20 };
const PUBLISHED = new Date('2026-01-01T00:00:00Z');

describe('golden frames', () => {
  for (const name of readdirSync(FOLDER).filter((each) => each.endsWith('.zst'))) {
    it(`${name} has the content of ${name.slice(0, -4)}`, () => {
      assert.deepEqual(decompressFrame(golden(name), LIMITS), golden(name.slice(0, -4)));
    });
  }
});

const STEP_BUCKETS = [
  { slot: 0, count: 3n, sum: 0n, sumOfSquares: 0n },
  { slot: 5, count: 3n, sum: 60n, sumOfSquares: 1200n },
  { slot: 6, count: 3n, sum: 120n, sumOfSquares: 4800n },
  { slot: 33, count: 3n, sum: 15_000_000_000n, sumOfSquares: 75_000_000_000_000_000_000n },
];

describe('golden fragments', () => {
  const names = readdirSync(FOLDER).filter((each) => /^(fragment|profile).*\.zst$/.test(each));
  for (const name of names) {
    it(`${name} is the only encoding of its rows`, () => {
      assert.deepEqual(encodeMessage(decodeFragment(golden(name)).map(encodable)), golden(name.slice(0, -4)));
    });
  }

  it('have the rows of the example', () => {
    const rows = decodeFragment(golden('fragment_week.pb.zst'));
    assert.deepEqual(rows.map(({ symbol, metric, hardware, week }) => [symbol, metric, hardware?.osRelease, week]), [
      ['sqlite3_exec', 'wall_time', undefined, 0], ['sqlite3_exec', 'wall_time', 'debian-12', 0],
      ['sqlite3_step', 'wall_time', undefined, 0], ['sqlite3_step', 'wall_time', 'debian-12', 0],
      ['sqlite3_step', 'alloc_inclusive', undefined, 0], ['sqlite3_step', 'alloc_inclusive', 'debian-12', 2921],
    ]);
    for (const row of rows.slice(2, 4)) {
      assert.deepEqual(row.buckets.map(({ weight, ...sums }) => sums), STEP_BUCKETS);
      assert.deepEqual(row.scalars, {
        contributions: 1n, sumMean: 669501n, sumMeanSquared: 669501n ** 2n, sumMeanCubed: 669501n ** 3n,
        sumInverseCalls: (1n << 32n) / 12n, sumWithinSquares: 8615293882758n, sumWithinFreedom: 11n,
      });
    }
  });

  it('have weights, bounded sums and quarters', () => {
    const rows = decodeFragment(golden('fragment_week.pb.zst'));
    assert.deepEqual(rows[2].buckets.map(({ weight }) => weight), Array(4).fill(1n << 30n));
    assert.deepEqual(rows[2].bounded, { calls: 12n, sum: 15_000_000_180n });
    assert.deepEqual(rows[2].fullestQuarter?.scalars, rows[2].scalars);
    assert.equal(rows[4].fullestQuarter, null);
  });
});

it('golden periods have the rows of the example', () => {
  const rows = decodePeriods(golden('periods.pb.zst'));
  assert.deepEqual(rows.map(({ metric, week, scalars }) => [metric, week, scalars.contributions]),
    [['wall_time', 2916, 1n], ['wall_time', 2920, 2n], ['alloc_inclusive', 2920, 1n]]);
  assert.deepEqual(rows[0].buckets.map(({ weight, ...sums }) => sums), STEP_BUCKETS);
  assert.deepEqual(encodePeriodsMessage(rows.map(encodable)), golden('periods.pb'));
});

// The files as a service would have them, whose fragments are missing.
const source = async (path) => {
  const name = { '/v1/timestamp': 'timestamp', [`/v1/snapshot/${hexOf(golden('snapshot'))}`]: 'snapshot' }[path];
  if (name === undefined) throw new ReadError('not_found', `${path} is missing`);
  return golden(name);
};

describe('golden metadata', () => {
  it('is accepted at the time of its publication', async () => {
    const { root, timestamp, snapshot } = await openPublication({ source, root: golden('root'), now: PUBLISHED });
    assert.equal(root.rootThreshold, 2);
    assert.equal(root.operatedBy.name, 'Exämple Project');
    assert.equal(timestamp.version, 34n);
    assert.equal(timestamp.refreshSeconds, 3600);
    assert.equal(snapshot.version, 12n);
    assert.deepEqual(snapshot.fragments.map(({ bytes, rows }) => [bytes, rows]), [[70000, 900n], [71000, 1000n]]);
  });

  it('has expired after two days', async () => {
    const opened = openPublication({ source, root: golden('root'), now: new Date('2026-01-03T00:00:00Z') });
    await assert.rejects(opened, { code: 'unauthenticated', message: /the timestamp has expired/ });
  });
});
