// Opens the indexes of static sites (written by write_sites.cc) as files in a browser: search, lists of libraries, what
// they load.

import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { checkAxe, given, launch, views, withPage as withPageOf } from './browser.mjs';
import { layoutProblems } from './layout.mjs';

const folder = given('FIELDCOST_TEST_SITES');
const kMaxLoadedBytes = 300 * 1024;
let browser;

before(async () => {
  browser = await launch();
});

after(async () => {
  await browser?.close();
});

/** Opens a site's index; `loaded` lists the files that it loads. */
function withSite(name, view, use) {
  return withPageOf(browser, view, 'about:blank', async (page) => {
    const loaded = [];
    page.on('request', (request) => {
      if (request.url().startsWith('file:')) loaded.push(fileURLToPath(request.url()));
    });
    await page.goto(pathToFileURL(join(folder, name, 'index.html')).href);
    await use(page, loaded);
  });
}

/** Types a query key by key, and returns what is shown once the search has ended. */
async function type(page, query) {
  await page.fill('#search', '');
  await page.keyboard.type(query);
  return shown(page);
}

async function shown(page) {
  // All loads end before a second search with the same nodes does.
  await page.evaluate(() => globalThis.showFound(
    document.getElementById('site-search').dataset.root, document.getElementById('search'),
  ));
  return page.evaluate(() => ({
    links: [...document.querySelectorAll('#found a')].map((link) => link.getAttribute('href')),
    texts: [...document.querySelectorAll('#found li')].map((item) => item.textContent),
    count: document.getElementById('count').textContent,
  }));
}

describe('the search of a static site', () => {
  const usual = views.usual;
  const small = (use) => withSite('small', usual, use);

  it('puts a name before names that begin with it, and these before all others', () => small(async (page) => {
    await page.focus('#search');
    const { links, texts, count } = await type(page, 'flate');
    assert.deepEqual(links, [
      'libz.so.1/flate.html', 'libz.so.1/deflate.html', 'libz.so.1/deflateInit_.html', 'libz.so.1/inflate.html',
    ]);
    assert.equal(texts[0], 'flate libz.so.1 1 µs');
    assert.equal(count, '4 functions.');
    assert.equal((await type(page, 'deflate')).links.length, 2);
  }));

  it('finds each word in the name or the library, in any case', () => small(async (page) => {
    assert.deepEqual((await type(page, '  LIBX json::reader ')).links, ['libx.so.2/_ZN1.html']);
    assert.deepEqual((await type(page, 'parse char')).links, ['libx.so.2/_ZN1.html']);
    assert.equal((await type(page, 'libz')).links.length, 4);
    const { links, count } = await type(page, 'libz json');
    assert.deepEqual([links, count], [[], 'No function has this name.']);
    const empty = await type(page, '   ');
    assert.deepEqual([empty.links, empty.count], [[], '']);
  }));

  it('shows names as text', () => small(async (page) => {
    assert.deepEqual((await type(page, '<b>')).texts, ['<b> libx.so.2 ']);
    assert.deepEqual((await type(page, '</script>')).links, ['libx.so.2/~3C~2Fscript~3E.html']);
    assert.equal((await type(page, 'größe')).links.length, 1);
    await checkAxe(page);
  }));

  it('answers a query that the browser has kept', () => small(async (page) => {
    await type(page, 'inflate');
    assert.deepEqual((await shown(page)).links, ['libz.so.1/inflate.html']);
  }));

  it('reports names that cannot be loaded', () => small(async (page) => {
    await page.evaluate(() => {
      document.head.append = (script) => script.dispatchEvent(new Event('error'));
    });
    await page.fill('#search', 'inflate');
    await page.waitForFunction(() => document.getElementById('count').textContent === 'The names cannot be loaded.');
  }));

  it('shows the first hundred of 50,000, and loads little', async () => {
    const queries = ['value', 'l999_buffer_buffer_149', 'lib0500', '_996', 'set_string get', 'nothing_such'];
    for (const query of queries) {
      await withSite('large', usual, async (page, loaded) => {
        const { links, count } = await type(page, query);
        if (query === 'value') {
          assert.equal(links.length, 100);
          assert.equal(count, 'More than 100 functions; 100 are shown.');
        }
        if (query.startsWith('l999')) {
          assert.deepEqual(links, ['lib0999.so.1/l999_buffer_buffer_149.html']);
        }
        if (query === 'lib0500') assert.equal(links.length, 50);
        if (query === '_996') assert.equal(links.length, 50);
        if (query === 'set_string get') assert.match(count, /^0 functions so far; type more of the name/);
        if (query === 'nothing_such') assert.equal(count, 'No function has this name.');
        const sizes = await Promise.all(loaded.map(async (file) => (await stat(file)).size));
        const bytes = sizes.reduce((sum, size) => sum + size, 0);
        assert.ok(bytes <= kMaxLoadedBytes, `"${query}" loads ${bytes} bytes in ${loaded.length} files`);
      });
    }
  });
});

describe('the index of a static site', () => {
  for (const view of [{ ...views.usual, withoutScripts: true }, views.narrow, views.usual_dark]) {
    it(`leads to every library: ${JSON.stringify(view)}`, () => withSite('large', view, async (page) => {
      assert.deepEqual(await layoutProblems(page, view), []);
      const libraries = new Set();
      const pages = await page.locator('nav a').count();
      assert.equal(pages, 5);
      for (let number = 0; number < pages; ++number) {
        await page.locator('nav a').nth(number).click();
        assert.equal(await page.locator('nav a[aria-current=page]').count(), 1);
        const links = await page.locator('table a').evaluateAll((all) => all.map((link) => link.href));
        assert.equal(links.length, 200);
        for (const link of links) libraries.add(link);
      }
      assert.equal(libraries.size, 1000);
      assert.ok(libraries.has(pathToFileURL(join(folder, 'large', 'lib0999.so.1', 'index.html')).href));
      assert.equal(await page.locator('#site-search').count(), 0);
    }));
  }
});
