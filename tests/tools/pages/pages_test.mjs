// Opens the golden pages of tests/tools/report in a browser and checks their layout at several widths and on paper, in
// light and dark mode, and their appearance.

import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';

import { checkPicture, given, goldenFolder, launch, pictures, views, withPage as withPageOf } from './browser.mjs';
import { layoutProblems } from './layout.mjs';
import { pictureProblems, smallPicture } from './picture.mjs';

const folder = given('FIELDCOST_TEST_PAGES');

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
let browser;
let empty;

before(async () => {
  await mkdir(pictures, { recursive: true });
  browser = await launch();
  empty = await browser.newPage();
});

after(async () => {
  await browser?.close();
});

const withPage = (...rest) => withPageOf(browser, ...rest);

async function changed(file, from, to) {
  const html = await readFile(join(folder, file), 'utf8');
  assert.ok(html.includes(from), `${file} has no ${from}`);
  // Removes the policy, which permits no other style.
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
          await checkPicture(page, empty, `${name}.${view}`);
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
