// The golden pages of tests/tools/report in a browser: how they are laid out at several widths, on paper,
// light and dark, and how they look.

import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';

import { chromium } from 'playwright-core';

import { layoutProblems } from './layout.mjs';
import { pictureProblems, smallPicture } from './picture.mjs';

function given(name) {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`${name} is not set; use run.sh`);
  return value;
}

const folder = given('FIELDCOST_TEST_PAGES');
const goldenFolder = given('FIELDCOST_TEST_GOLDEN');
const pictures = given('FIELDCOST_TEST_PICTURES');
const update = process.env.FIELDCOST_UPDATE_GOLDEN !== undefined;

const pages = {
  cost_page: 'cost_page.golden.html',
  vendor_page: 'vendor_page.golden.html',
  diff_page: 'diff_page.golden.html',
  heat_page: 'heat_page.golden.html',
  flame_page: 'flame_page.golden.html',
  lab_page: 'lab_page.golden.html',
  card: 'cards/deflate.html',
  card_index: 'cards/index.html',
};
// An A4 sheet with the margins of the style is 680 CSS pixels wide.
const views = {
  narrow: { width: 400, height: 800 },
  usual: { width: 1200, height: 900 },
  wide: { width: 1920, height: 1080, layoutOnly: true },
  paper: { width: 680, height: 960, paper: true },
  narrow_dark: { width: 400, height: 800, dark: true, layoutOnly: true },
  usual_dark: { width: 1200, height: 900, dark: true },
};

let browser;
let empty;

before(async () => {
  await mkdir(pictures, { recursive: true });
  browser = await chromium.launch({
    executablePath: given('FIELDCOST_TEST_CHROMIUM'),
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking',
      '--font-render-hinting=none', '--force-color-profile=srgb'],
  });
  empty = await browser.newPage();
});

after(async () => {
  await browser?.close();
});

async function withPage({ width, height, dark, paper }, url, use) {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: dark ? 'dark' : 'light',
    deviceScaleFactor: 1,
  });
  try {
    const page = await context.newPage();
    const asked = [];
    const complaints = [];
    page.on('request', (request) => asked.push(new URL(request.url()).protocol));
    page.on('console', (message) => complaints.push(message.text()));
    if (paper) await page.emulateMedia({ media: 'print' });
    await page.goto(url);
    await use(page);
    assert.deepEqual(complaints, [], 'the browser complains');
    assert.deepEqual(asked.filter((protocol) => protocol !== 'file:'), [], 'something is fetched');
  } finally {
    await context.close();
  }
}

async function changed(file, from, to) {
  const html = await readFile(join(folder, file), 'utf8');
  assert.ok(html.includes(from), `${file} has no ${from}`);
  // Without the policy, which lets no other style through.
  const copy = join(pictures, 'changed.html');
  await writeFile(copy, html.replace(/<meta http-equiv[^>]*>/, '').replace(from, to));
  return pathToFileURL(copy).href;
}

for (const [name, file] of Object.entries(pages)) {
  describe(name, () => {
    for (const [view, options] of Object.entries(views)) {
      it(`fits and looks as it should: ${view}`, async () => {
        await withPage(options, pathToFileURL(join(folder, file)).href, async (page) => {
          assert.deepEqual(await layoutProblems(page, options), []);
          if (options.layoutOnly) return;
          const made = await smallPicture(page, empty, join(pictures, `${name}.${view}.png`));
          const golden = join(goldenFolder, `${name}.${view}.png`);
          if (update) await writeFile(golden, Buffer.from(made, 'base64'));
          const expected = (await readFile(golden)).toString('base64');
          assert.deepEqual(await pictureProblems(made, expected, empty), [], `see ${pictures}`);
        });
      });
    }
  });
}

describe('the checks', () => {
  const mutants = [
    ['a long name is not cut', 'max-width:18rem', 'max-width:none', /a table of|page is/],
    ['a drawing keeps its size', 'svg,img{max-width:100%', 'svg,img{min-width:1300px', /a drawing from/],
    ['soft text is too soft', '--soft:#55555f', '--soft:#bbbbbb', /contrast/],
  ];
  for (const [what, from, to, problem] of mutants) {
    it(`bite where ${what}`, async () => {
      const url = await changed('cost_page.golden.html', from, to);
      await withPage(views.usual, url, async (page) => {
        assert.match((await layoutProblems(page)).join('\n'), problem);
      });
    });
  }

  it('bite where a label is wider than its drawing', async () => {
    const url = await changed('cost_page.golden.html', 'viewBox="0 0 ', 'viewBox="80 0 ');
    await withPage(views.usual, url, async (page) => {
      assert.match((await layoutProblems(page)).join('\n'), /a label is cut/);
    });
  });

  for (const [what, from, to] of [
    ['another background', '--paper:#fff', '--paper:#ffe'],
    ['other colours of spectra', /(<rect [^>]*fill=")#[0-9a-f]{6}/g, '$1#00ff00'],
    ['another size of letters', 'font:1rem/1.5', 'font:1.1rem/1.5'],
  ]) {
    it(`see ${what}`, async () => {
      const html = await readFile(join(folder, pages.cost_page), 'utf8');
      const copy = join(pictures, 'changed.html');
      await writeFile(copy, html.replace(/<meta http-equiv[^>]*>/, '').replace(from, to));
      await withPage(views.usual, pathToFileURL(copy).href, async (page) => {
        const made = await smallPicture(page, empty, join(pictures, 'changed.png'));
        const golden = (await readFile(join(goldenFolder, 'cost_page.usual.png'))).toString('base64');
        assert.notDeepEqual(await pictureProblems(made, golden, empty), []);
      });
    });
  }
});
