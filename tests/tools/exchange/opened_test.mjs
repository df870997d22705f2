// The sample tree of sample_tree.cc in every format, as read by other programs.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';

import Ajv from 'ajv';
import { chromium } from 'playwright-core';
import { Profile } from 'pprof-format';

import { given, sample as path } from './ours.mjs';

const sample = (name) => readFileSync(path(name));
const require = createRequire(import.meta.url);
const speedscope = join(dirname(require.resolve('speedscope/package.json')), 'dist', 'release');

let browser;
before(async () => {
  browser = await chromium.launch({
    executablePath: given('FIELDCOST_TEST_CHROMIUM'),
    args: ['--headless', '--no-sandbox', '--disable-background-networking',
      '--allow-file-access-from-files', '--use-gl=angle', '--use-angle=swiftshader',
      '--enable-unsafe-swiftshader'],
  });
});
after(async () => {
  await browser?.close();
});

// What speedscope shows for a file: its table of functions.
async function opened(name) {
  const page = await browser.newPage();
  const said = [];
  page.on('dialog', (dialog) => {
    said.push(dialog.message());
    dialog.dismiss();
  });
  // Passes the file to the page as the program `speedscope` does.
  const script = path(`${name}.js`);
  const bytes = sample(name).toString('base64');
  writeFileSync(script, `speedscope.loadFileFromBase64(${JSON.stringify(name)}, "${bytes}")`);
  const url = pathToFileURL(join(speedscope, 'index.html'));
  url.hash = `localProfilePath=${script}`;
  await page.goto(url.href);
  const tab = page.getByText('Sandwich').first();
  await tab.waitFor({ timeout: 20000 }).catch(() => {
    throw new Error(`${name} was not opened: ${said.join('; ')}`);
  });
  await tab.click();
  await page.waitForFunction(() => document.body.innerText.includes('main'), null, { timeout: 20000 });
  const text = await page.locator('body').innerText();
  await page.close();
  return { text, said };
}

describe('speedscope', () => {
  const run = 'Runner::operator()(int, char const*) const';
  const shown = {
    'speedscope.speedscope.json': ['300.00ns', 'libz.so!deflate', `app!${run}`, 'libx.so!0x1234'],
    'pprof.pb.gz': ['300.00ns', 'deflate', run],  // speedscope omits unnamed code
    'folded.folded': ['libz.so!deflate', `app!${run}`, 'libx.so!0x1234'],
    'chrome.json': ['app!main', `app!${run}`],  // of its first metric
    'threads.speedscope.json': ['app!main', '[thread app 7] wall ns exact'],  // its first profile
    'threads.trace.json': ['app!main'],
    'threads.pb.gz': ['[thread app/io 8]', 'deflate'],
    'probe.trace.json': ['thread 1', 'main', 'end', '4.00ms'],  // its first thread
  };
  for (const [name, texts] of Object.entries(shown)) {
    it(`opens ${name}`, async () => {
      const { text, said } = await opened(name);
      assert.deepEqual(said, []);
      for (const each of texts) assert.ok(text.includes(each), `${each} is not in\n${text}`);
    });
  }

  it('has a schema that its file follows', () => {
    const schema = JSON.parse(readFileSync(join(speedscope, 'file-format-schema.json')));
    const validate = new Ajv({ strict: false }).compile(schema);
    for (const name of ['speedscope.speedscope.json', 'threads.speedscope.json']) {
      assert.ok(validate(JSON.parse(sample(name))), JSON.stringify(validate.errors));
    }
    const file = JSON.parse(sample('speedscope.speedscope.json'));
    delete file.shared;
    assert.ok(!validate(file));
  });
});

describe('pprof-format', () => {
  it('reads types, stacks and values', () => {
    const profile = Profile.decode(gunzipSync(sample('pprof.pb.gz')));
    const text = (index) => profile.stringTable.strings[Number(index)];
    assert.deepEqual(profile.sampleType.map((type) => `${text(type.type)} ${text(type.unit)}`),
      ['allocated bytes', 'calls count', 'cpu nanoseconds', 'wall nanoseconds']);
    assert.equal(text(profile.defaultSampleType), 'wall');
    assert.equal(Number(profile.period), 1003009);
    const functions = new Map(profile.function.map((each) => [Number(each.id), text(each.name)]));
    const names = new Map(profile.location.map((each) =>
      [Number(each.id), each.line.map((line) => functions.get(Number(line.functionId))).join()]));
    const stacks = new Map(profile.sample.map((each) =>
      [each.locationId.map((id) => names.get(Number(id))).join(';'), each.value.map(String)]));
    assert.deepEqual(stacks.get('deflate;Runner::operator()(int, char const*) const;main'),
      ['0', '7', '1003009', '300']);
    assert.deepEqual(stacks.get(''), ['0', '0', '0', String(2n ** 62n + 1n)]);
    assert.equal(stacks.size, 8);
  });
});

for (const file of ['firefox.json', 'threads.firefox.json']) describe(`the Firefox profile ${file}`, () => {
  const profile = JSON.parse(sample(file));
  const within = (column, size) => column.every((each) => each === null || (each >= 0 && each < size));

  it('has columns as long as their tables', () => {
    const tables = Object.entries(profile.shared)
      .concat(profile.threads.flatMap((thread) => [['samples', thread.samples], ['markers', thread.markers]]));
    for (const [name, table] of tables) {
      if (Array.isArray(table)) continue;
      for (const [column, values] of Object.entries(table)) {
        if (Array.isArray(values)) assert.equal(values.length, table.length, `${name}.${column}`);
      }
    }
  });

  it('has references that lead somewhere, callers before what they call', () => {
    const { stackTable, frameTable, funcTable, resourceTable, stringArray } = profile.shared;
    assert.ok(within(stackTable.frame, frameTable.length));
    stackTable.prefix.forEach((prefix, stack) => assert.ok(prefix === null || prefix < stack));
    assert.ok(within(frameTable.func, funcTable.length));
    assert.ok(within(funcTable.name, stringArray.length));
    assert.ok(within(funcTable.resource.filter((each) => each !== -1), resourceTable.length));
    assert.ok(within(resourceTable.lib, profile.libs.length));
    for (const thread of profile.threads) assert.ok(within(thread.samples.stack, stackTable.length));
  });
});

describe('the threads of Firefox profiles', () => {
  it('has the sums', () => {
    const calls = JSON.parse(sample('firefox.json')).threads.find((thread) => thread.name.startsWith('calls'));
    assert.equal(calls.samples.weight.reduce((sum, each) => sum + each, 0), 12);
  });

  it('are those of the program, each below its own process', () => {
    const { threads } = JSON.parse(sample('threads.firefox.json'));
    assert.deepEqual(threads.map(({ name, pid, tid, isMainThread }) => [name, pid, tid, isMainThread]), [
      ['[thread app 7] wall ns exact', '7', '7', true], ['[thread app/io 8] wall ns exact', '7', '8', false]]);
  });
});
