// Shared by the tests of pages: the browser, and pages that must neither fetch anything nor report errors.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';

import { chromium } from 'playwright-core';

import { pictureProblems, smallPicture } from './picture.mjs';

export function given(name) {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`${name} is not set; use run.sh`);
  return value;
}

export const pictures = given('FIELDCOST_TEST_PICTURES');
export const goldenFolder = given('FIELDCOST_TEST_GOLDEN');
const update = process.env.FIELDCOST_UPDATE_GOLDEN !== undefined;

// An A4 sheet within the style's margins is 680 CSS pixels wide.
export const views = {
  narrow: { width: 400, height: 800 },
  medium: { width: 1100, height: 900, layoutOnly: true },
  usual: { width: 1200, height: 900 },
  wide: { width: 1920, height: 1080, layoutOnly: true },
  paper: { width: 680, height: 960, paper: true },
  narrow_dark: { width: 400, height: 800, dark: true, layoutOnly: true },
  usual_dark: { width: 1200, height: 900, dark: true },
};

export function launch() {
  return chromium.launch({
    executablePath: given('FIELDCOST_TEST_CHROMIUM'),
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking',
      '--font-render-hinting=none', '--force-color-profile=srgb'],
  });
}

/** Opens a page; `first` runs in it before its own scripts. */
export async function withPage(browser, { width, height, dark, paper, withoutScripts, first }, url, use) {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: dark ? 'dark' : 'light',
    deviceScaleFactor: 1,
    javaScriptEnabled: !withoutScripts,
  });
  try {
    const page = await context.newPage();
    const asked = [];
    const complaints = [];
    page.on('request', (request) => asked.push(new URL(request.url()).protocol));
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.stack));
    page.on('dialog', (dialog) => {
      complaints.push(`a dialog: ${dialog.message()}`);
      dialog.dismiss();
    });
    if (first !== undefined) await page.addInitScript(first);
    if (paper) await page.emulateMedia({ media: 'print' });
    await page.goto(url);
    await use(page);
    assert.deepEqual(complaints, [], 'the browser complains');
    assert.deepEqual(asked.filter((protocol) => protocol !== 'file:'), [], 'something is fetched');
  } finally {
    await context.close();
  }
}

/** The JSON output of `fieldcost ...`. */
export function toldBy(folder, ...words) {
  return new Promise((resolve, reject) => {
    execFile(given('FIELDCOST_TEST_PROGRAM'), [...words, '--json'], { cwd: folder, maxBuffer: 2 ** 28 },
      (error, output) => (output === '' ? reject(error) : resolve(JSON.parse(output))));
  });
}

/** Waits for the next picture: what is requested in one frame is drawn in the next. */
export function nextPicture(page) {
  return page.evaluate(() => new Promise((resolve) => {
    requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  }));
}

export async function checkAxe(page) {
  await page.evaluate(await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'));
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(', ')}`), []);
}

/** Compares the page's appearance with the golden picture of that name. `empty`: a page for computations. */
export async function checkPicture(page, empty, name) {
  const made = await smallPicture(page, empty, join(pictures, `${name}.png`));
  const golden = join(goldenFolder, `${name}.png`);
  if (update) await writeFile(golden, Buffer.from(made, 'base64'));
  const expected = (await readFile(golden)).toString('base64');
  assert.deepEqual(await pictureProblems(made, expected, empty), [], `see ${pictures}`);
}
