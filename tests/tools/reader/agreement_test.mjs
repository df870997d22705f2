// The two readers accept and refuse the same files, for reasons of the same kind, and read the same rows.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';

import {
  ReadError, decodeFragment, decodePeriods, folderSource, newTrustState, openPublication,
} from '../../../tools/reader/index.mjs';
import { rowForJson } from '../../../tools/reader/row_json.mjs';
import { decompressFrame } from '../../../tools/reader/zstd_frame.mjs';
import { encodable, encodeMessage } from './encode_fragment.mjs';
import { FRAGMENT_CASES, PERIOD_CASES } from './fragment_cases.mjs';
import { MUTATIONS } from './mutations.mjs';
import { TREE_CASES, updatesOf } from './tree_cases.mjs';

function given(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set; use run.sh`);
  return value;
}

const WORK = given('FIELDCOST_TEST_WORK');
const counterpart = (...args) =>
  execFileSync(given('FIELDCOST_TEST_COUNTERPART'), args, { encoding: 'utf8', maxBuffer: 2 ** 30, timeout: 60_000 });

// "ok", or the kind of the refusal.
async function outcomeOf(action) {
  try {
    await action();
    return 'ok';
  } catch (error) {
    if (error instanceof ReadError) return error.code;
    throw error;
  }
}

async function readAll(source, root, now, state) {
  const publication = await openPublication({ source, root, now, state });
  const rows = [];
  for await (const row of publication.rows()) rows.push(row);
  return rows;
}

describe('damaged publications', () => {
  const folder = join(WORK, 'trees');
  rmSync(folder, { recursive: true, force: true });
  const ours = new Map();
  const list = [];

  it('are refused by the JavaScript reader', async () => {
    for (const [i, each] of TREE_CASES.entries()) {
      const state = newTrustState();
      let update = 0;
      for (const service of updatesOf(each)) {
        const place = join(folder, `${i}-${update}`);
        service.write(place);
        writeFileSync(join(place, 'root'), service.pinned);
        list.push([i, service.now, join(place, 'root'), place].join('\t'));
        const source = folderSource(place);
        const outcome = await outcomeOf(() => readAll(source, service.pinned, service.now, state));
        ++update;
        assert.equal(outcome, update === each.updates.length ? each.code : 'ok', `${each.name}, update ${update}`);
        ours.set(`${each.name}, update ${update}`, outcome);
      }
    }
  });

  it('are refused by the C++ reader for the same reasons', () => {
    writeFileSync(join(folder, 'list'), `${list.join('\n')}\n`);
    const lines = counterpart('trees', join(folder, 'list')).trimEnd().split('\n');
    assert.equal(lines.length, ours.size);
    const differences = [];
    [...ours].forEach(([name, outcome], i) => {
      const [, code, message] = lines[i].split('\t');
      if (code !== outcome) differences.push(`${name}: ${outcome}, C++: ${code} ${message}`);
    });
    assert.deepEqual(differences, []);
  });
});

// The C++ reader's result for each fragment: { code, message, rows }, where `rows` are lines of JSON.
function judged(fragments, kind = 'fragments') {
  const file = join(WORK, kind);
  writeFileSync(file, Buffer.concat(fragments.flatMap((bytes) => {
    const size = Buffer.alloc(4);
    size.writeUInt32LE(bytes.length);
    return [size, bytes];
  })));
  const lines = counterpart(kind, file).split('\n');
  return fragments.map(() => {
    const [code, message] = lines.shift().split('\t');
    return { code, message, rows: code === 'ok' ? lines.splice(0, Number(message)) : [] };
  });
}

const asLine = (row) => JSON.stringify(rowForJson(row));

// As judged() returns it.
function readHere(bytes, decode = decodeFragment) {
  try {
    return { code: 'ok', message: '', rows: decode(bytes).map(asLine) };
  } catch (error) {
    if (error instanceof ReadError) return { code: error.code, message: error.message, rows: [] };
    throw error;
  }
}

// Both readers have the outcome of each case, and the same rows.
function expectAgreement(cases, kind, decode) {
  const theirs = judged(cases.map(({ bytes }) => bytes), kind);
  const differences = cases.flatMap(({ name, code, bytes }, i) => {
    const ours = readHere(bytes, decode);
    const there = theirs[i];
    return [
      ...ours.code === code ? [] : [`${name}: expected ${code}, JavaScript: ${ours.code} ${ours.message}`],
      ...there.code === code ? [] : [`${name}: expected ${code}, C++: ${there.code} ${there.message}`],
      ...ours.rows.join() === there.rows.join() ? [] : [`${name}: other rows`],
    ];
  });
  assert.deepEqual(differences, []);
}

describe('damaged fragments', () => {
  it('are refused for the same reasons', () => expectAgreement(FRAGMENT_CASES, 'fragments', decodeFragment));

  it('with periods are refused for the same reasons', () => expectAgreement(PERIOD_CASES, 'periods', decodePeriods));

  it('with random damage give the same rows or none', () => {
    const theirs = judged(MUTATIONS);
    const differences = MUTATIONS.flatMap((bytes, i) => {
      const ours = readHere(bytes);
      const same = ours.code === theirs[i].code && ours.rows.join() === theirs[i].rows.join();
      return same ? [] : [`${i}: ${ours.code} ${ours.message}, C++: ${theirs[i].code} ${theirs[i].message}`];
    });
    assert.deepEqual(differences.slice(0, 20), []);
    const accepted = theirs.filter(({ code }) => code === 'ok').length;
    assert.ok(accepted > 20 && accepted < MUTATIONS.length - 500, `${accepted} are accepted`);
  });
});

describe('10,000 rows', () => {
  const folder = join(WORK, 'many');
  const lines = [];
  let publication;

  it('are written by C++', async () => {
    rmSync(folder, { recursive: true, force: true });
    counterpart('write', folder);
    lines.push(...readFileSync(join(folder, 'rows.jsonl'), 'utf8').trimEnd().split('\n'));
    assert.ok(lines.length >= 10_000, `${lines.length} rows`);
    publication = await openPublication({
      source: folderSource(folder),
      root: new Uint8Array(readFileSync(join(folder, 'v1/root/1'))),
      now: 20_000n * 86_400_000_000n,
    });
    assert.equal(publication.root.operatedBy.name, 'Exämple');
  });

  it('are read exactly', async () => {
    let count = 0;
    for await (const row of publication.rows()) {
      if (asLine(row) !== lines[count]) assert.deepEqual(rowForJson(row), JSON.parse(lines[count]), `row ${count}`);
      ++count;
    }
    assert.equal(count, lines.length);
  });

  it('have exactly one encoding', async () => {
    for (const [i, { sha256 }] of publication.snapshot.fragments.entries()) {
      const bytes = new Uint8Array(readFileSync(join(folder, 'v1/fragment', sha256)));
      const content = decompressFrame(bytes, { maxBytes: bytes.length, maxContentBytes: 2 ** 26 });
      const rows = await publication.fragment(i);
      const again = encodeMessage(rows.map(encodable));
      assert.ok(Buffer.compare(Buffer.from(content), Buffer.from(again)) === 0, `fragment ${i} has another encoding`);
    }
  });
});
