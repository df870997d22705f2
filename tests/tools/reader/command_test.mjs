// The command read.mjs, on folders and servers, and the example of the README.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

import { openPublication, serverSource } from '../../../tools/reader/index.mjs';
import { DAY_US, NOW_US, Service } from './encode_metadata.mjs';
import { encodeFragment } from './encode_fragment.mjs';
import { SIMPLE_ROWS } from './sample_rows.mjs';

const READER = fileURLToPath(new URL('../../../tools/reader/', import.meta.url));
const BOX = join(process.env.FIELDCOST_TEST_WORK ?? '/nowhere', 'command');
const NOW = new Date(Number(NOW_US / 1000n)).toISOString();

// Runs a script; resolves to { status, out, err }.
function run(script, args, cwd = BOX) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [script, ...args], { cwd, timeout: 30_000 });
    let [out, err] = ['', ''];
    child.stdout.on('data', (data) => { out += data; });
    child.stderr.on('data', (data) => { err += data; });
    child.on('close', (status) => resolve({ status, out, err }));
  });
}
const read = (...args) => run(join(READER, 'read.mjs'), args);

function newService() {
  const service = new Service();
  service.publish([[encodeFragment(SIMPLE_ROWS), SIMPLE_ROWS.length]]);
  return service;
}

before(() => {
  rmSync(BOX, { recursive: true, force: true });
  mkdirSync(BOX, { recursive: true });
  const service = newService();
  service.write(join(BOX, 'published'));
  writeFileSync(join(BOX, 'root'), service.pinned);
});

describe('read.mjs', () => {
  it('prints rows as lines', async () => {
    const { status, out, err } = await read('published', '--root', 'root', '--now', NOW);
    assert.deepEqual([status, err], [0, '']);
    const lines = out.trimEnd().split('\n').map((line) => line.split('\t'));
    assert.deepEqual(lines[0], ['libz.so.1!deflate', '1.2.13', 'wall_time', '-', '-', '7', '28', '7112']);
    const name = 'x86_64/GenuineIntel-6/2^3 cores/2^14 MiB/debian-12';
    assert.deepEqual(lines[3].slice(3), [name, '2915', '2', '8', '2032']);
    assert.equal(lines.length, 4);
  });

  it('prints rows as JSON', async () => {
    const { status, out } = await read('published', '--root', 'root', '--now', NOW, '--json');
    assert.equal(status, 0);
    const { publication, rows } = JSON.parse(out);
    assert.equal(publication.snapshot_version, '1');
    assert.equal(rows.length, 4);
    assert.equal(rows[0].scalars.sum_mean_cubed, '189000000000000000');
    assert.equal(rows[0].hardware, null);
  });

  it('prints the rows of one function', async () => {
    const of = async (api) => (await read('published', '--root', 'root', '--now', NOW, '--api', api)).out;
    assert.equal((await of('libz.so.1!deflate')).split('\n').length, 5);
    assert.equal(await of('libz.so.1!inflate'), '');
  });

  it('remembers what it has accepted, also if it then fails', async () => {
    const service = newService();
    service.write(join(BOX, 'older'));
    service.publish([[encodeFragment(SIMPLE_ROWS), SIMPLE_ROWS.length]]);
    service.write(join(BOX, 'newer'));
    const accept = (folder, ...args) => read(folder, '--root', 'root', '--now', NOW, '--state', 'state', ...args);
    assert.equal((await accept('newer')).status, 0);
    const { status, err } = await accept('older');
    assert.equal(status, 76);
    assert.match(err, /^read\.mjs: timestamp 1 is older than 2 \(rollback\)\n$/);
    assert.equal(JSON.parse(readFileSync(join(BOX, 'state'), 'utf8')).timestamp.version, '2');
    for (const [text, expected] of [['x', 65], ['{}', 64], ['null', 64], ['{"roots":{"1":"?"}}', 64]]) {
      writeFileSync(join(BOX, 'state'), text);
      assert.equal((await accept('newer')).status, expected, text);
      assert.equal(readFileSync(join(BOX, 'state'), 'utf8'), text, 'a file that is no state is not replaced');
    }
  });

  it('fails with the kind of the error', async () => {
    const cases = [
      [['--help'], 0, /^usage: /],
      [[], 64, /--root FILE are needed/],
      [['published', '--root', 'root', '--unknown'], 64, /--unknown/],
      [['published', '--root', 'root', '--now', 'soon'], 64, /soon is not a time/],
      [['published', '--root', 'root', '--api', 'deflate'], 64, /not SONAME!SYMBOL/],
      [['published', '--root', 'absent'], 74, /no such file/],
      [['published', '--root', 'read.json'], 74, /no such file/],
      [['absent', '--root', 'root', '--now', NOW], 66, /no such file/],
      [['published', '--root', 'root', '--now', '2100-01-01'], 76, /root has expired/],
      [['http://127.0.0.1:1', '--root', 'root', '--now', NOW], 69, /127\.0\.0\.1:1/],
    ];
    for (const [args, status, text] of cases) {
      const result = await read(...args);
      assert.equal(result.status, status, `${args.join(' ')}: ${result.err}`);
      assert.match(status === 0 ? result.out : result.err, text);
    }
  });

  it('prints errors as JSON', async () => {
    const { status, out } = await read('absent', '--root', 'root', '--now', NOW, '--json');
    assert.equal(status, 66);
    assert.equal(JSON.parse(out).error, 'not_found');
  });
});

describe('a server', () => {
  const service = newService();
  let server;
  let url;
  let respond;  // to files that are missing
  before(async () => {
    server = createServer((request, response) => {
      const bytes = request.url.startsWith('/base/') ? service.files.get(request.url.slice(5)) : undefined;
      if (bytes === undefined) respond(response);
      else response.end(bytes);
    });
    await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
    url = `http://127.0.0.1:${server.address().port}/base/`;
  });
  after(() => server.close());

  const open = (options) => openPublication({ source: serverSource(url, options), root: service.pinned, now: NOW_US });

  for (const status of [403, 404, 410]) {
    it(`may respond ${status} to files that it does not have`, async () => {
      respond = (response) => response.writeHead(status).end();
      assert.equal((await (await open()).rowsOf('libz.so.1', 'deflate')).length, 4);
    });
  }

  it('is read by the command', async () => {
    const { status, out } = await read(url, '--root', 'root', '--api', 'libz.so.1!deflate', '--now', NOW);
    assert.deepEqual([status, out.split('\n').length], [0, 5]);
  });

  it('is unavailable if it fails or redirects', async () => {
    respond = (response) => response.writeHead(503).end();
    await assert.rejects(open(), { code: 'unavailable', message: /status 503/ });
    respond = (response) => response.writeHead(302, { location: '/base/v1/root/1' }).end();
    await assert.rejects(open(), { code: 'unavailable' });
  });

  it('cannot send more than is announced', async () => {
    respond = (response) => {
      response.on('error', () => {});
      for (let i = 0; i < 100; ++i) response.write(Buffer.alloc(65536));
    };
    await assert.rejects(open(), { code: 'too_large' });
  });
});

it('The example of the README prints what the README shows', async () => {
  const readme = readFileSync(join(READER, 'README.md'), 'utf8');
  const [, example] = /^```js\n(.*?)^```$/ms.exec(readme);
  const [, expected] = /^prints, for the publication of the tests,\n\n```\n(.*?)^```$/ms.exec(readme);
  const service = new Service();
  const century = 36_525n * DAY_US;
  for (const part of [service.root, service.timestamp, service.snapshot]) part.expiresUs = NOW_US + century;
  service.publishRoot();
  service.publish([[encodeFragment(SIMPLE_ROWS), SIMPLE_ROWS.length]]);
  service.write(join(BOX, 'example', 'published'));
  writeFileSync(join(BOX, 'example', 'root'), service.files.get('/v1/root/1'));
  // Next to the module, so that its name can be resolved.
  const script = join(READER, 'example_of_readme.mjs');
  writeFileSync(script, example);
  const { status, out, err } = await run(script, [], join(BOX, 'example'));
  assert.deepEqual([status, err, out], [0, '', expected]);
});
