// The module in a browser: Chromium reads a publication from a page on localhost.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

import { decodeFragment } from '../../../tools/reader/index.mjs';
import { rowForJson } from '../../../tools/reader/row_json.mjs';
import { NOW_US, Service } from './encode_metadata.mjs';
import { encodeFragment } from './encode_fragment.mjs';
import { SIMPLE_ROWS } from './sample_rows.mjs';

const TIMEOUT_MS = 90_000;
const READER = fileURLToPath(new URL('../../../tools/reader/', import.meta.url));
const IMPORT_MAP = /^<script type="importmap">.*$/m.exec(readFileSync(join(READER, 'README.md'), 'utf8'))[0];
const PAGE = `<!doctype html><meta charset="utf-8">${IMPORT_MAP}
<script type="module">
  import { openPublication, serverSource } from './index.mjs';
  import { rowForJson } from './row_json.mjs';
  let answer;
  try {
    const root = new Uint8Array(await (await fetch('/v1/root/1')).arrayBuffer());
    const publication = await openPublication({ source: serverSource(location.origin), root, now: ${NOW_US}n });
    answer = [];
    for await (const row of publication.rows()) answer.push(rowForJson(row));
  } catch (error) {
    answer = String(error);
  }
  await fetch('/answer', { method: 'POST', body: JSON.stringify(answer) });
</script>`;

const bytes = encodeFragment(SIMPLE_ROWS);

// Serves the page, the module and the publication; resolves to what the page sends.
function serve(service) {
  let answered;
  const answer = new Promise((resolve) => { answered = resolve; });
  const server = createServer((request, response) => {
    const file = service.files.get(request.url);
    if (request.url === '/answer') {
      let text = '';
      request.on('data', (data) => { text += data; });
      request.on('end', () => { response.end(); answered(JSON.parse(text)); });
    } else if (request.url === '/page.html') {
      response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE);
    } else if (/^\/[\w/]+\.mjs$/.test(request.url)) {
      response.writeHead(200, { 'content-type': 'text/javascript' }).end(readFileSync(join(READER, request.url)));
    } else if (file !== undefined) {
      response.end(file);
    } else {
      response.writeHead(404).end();
    }
  });
  return new Promise((resolve) => { server.listen(0, '127.0.0.1', () => resolve({ server, answer })); });
}

it('Chromium reads the same rows', async () => {
  const service = new Service();
  service.publish([[bytes, SIMPLE_ROWS.length]]);
  const { server, answer } = await serve(service);
  // Kept afterwards: the browser's helpers still write there when it has ended.
  const profile = join(process.env.FIELDCOST_TEST_WORK, 'browser');
  rmSync(profile, { recursive: true, force: true });
  const browser = spawn(process.env.FIELDCOST_TEST_CHROMIUM, [
    '--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking', '--no-first-run',
    `--user-data-dir=${profile}`, `http://localhost:${server.address().port}/page.html`,
  ], { stdio: 'ignore' });
  const ended = new Promise((resolve) => { browser.on('exit', resolve); });
  const limit = setTimeout(() => browser.kill('SIGKILL'), TIMEOUT_MS);
  try {
    const rows = await Promise.race([answer, ended.then((status) => `the browser ended with ${status}`)]);
    assert.deepEqual(rows, decodeFragment(bytes).map(rowForJson));
  } finally {
    clearTimeout(limit);
    browser.kill();
    await ended;
    server.close();
    server.closeAllConnections();
  }
});
