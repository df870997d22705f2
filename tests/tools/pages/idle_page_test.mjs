// Opens pages of idle CPUs, written by `fieldcost idle show`, in a browser and compares them with the program's JSON
// output: by mouse, by keyboard, without scripts.

import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';

import {
  checkAxe, checkPicture, given, launch, nextPicture, pictures, toldBy, views, withPage as withPageOf,
} from './browser.mjs';
import { layoutProblems } from './layout.mjs';

const folder = given('FIELDCOST_TEST_TREES');
const operands = { idle: 'idle.fct', idle_part: 'idle.fct@500ms..1.25s' };

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

function withIdle(view, name, use) {
  return withPageOf(browser, view, pathToFileURL(join(folder, `${name}.html`)).href, async (page) => {
    if (!view.withoutScripts) await nextPicture(page);
    await use(page);
  });
}

const told = (name) => toldBy(folder, 'idle', 'show', operands[name]);

/** Checks "1.2 s" against ns, within the rounding error of two digits. */
function expectTime(text, ns, what) {
  const [number, unit] = text.split(' ');
  const shown = Number(number) * { ns: 1, 'µs': 1e3, ms: 1e6, s: 1e9 }[unit];
  assert.ok(Math.abs(shown - Number(ns)) <= 0.051 * Number(ns), `${what}: ${text}, not ${ns} ns`);
}

/** The cells of the table in a section, line by line. */
function tableOf(page, section) {
  return page.evaluate((id) => [...document.querySelectorAll(`section[aria-labelledby="${id}"] tbody tr`)]
    .map((line) => [...line.children].map(({ textContent }) => textContent)), section);
}

describe('the page of idle CPUs', () => {
  for (const [view, options] of Object.entries(views)) {
    it(`fits and looks as it should: ${view}`, async () => {
      await withIdle(options, 'idle', async (page) => {
        assert.deepEqual(await layoutProblems(page, options), []);
        if (!options.layoutOnly) await checkPicture(page, empty, `idle.${view}`);
      });
    });
    it(`has nothing that axe finds: ${view}`, async () => {
      await withIdle(options, 'idle', checkAxe);
    });
  }

  for (const name of Object.keys(operands)) {
    it(`has the numbers of the program: ${operands[name]}`, async () => {
      const data = await told(name);
      await withIdle(views.usual, name, async (page) => {
        const cpus = await tableOf(page, 'cpus');
        assert.deepEqual(cpus.map(([cpu]) => cpu), ['0', '1', 'all']);
        [...data.cpus, data.all].forEach(({ idle, explained }, i) => {
          expectTime(cpus[i][1], idle, `CPU ${cpus[i][0]}`);
          assert.equal(cpus[i].at(-2), `${((100 * Number(explained)) / Number(idle)).toFixed(1)} %`);
        });
        const chains = await tableOf(page, 'chains');
        assert.equal(chains.length, data.pairs.length);
        data.pairs.forEach(({ ns, periods, chain }, i) => {
          expectTime(chains[i][3], ns, chains[i][0]);
          assert.equal(chains[i][4], periods);
          for (const who of chain) assert.ok(chains[i][0].includes(who), `${who} in ${chains[i][0]}`);
        });
        const shown = await page.evaluate(() => Object.fromEntries(Object.entries(idlePage)
          .map(([side, { model }]) => [side, String(model.inclusive[0])])));
        assert.deepEqual(shown, { to: data.to.nodes[0].inclusive, from: data.from.nodes[0].inclusive });
      });
    });

    it(`has a matrix that adds up: ${operands[name]}`, async () => {
      const { pairs } = await told(name);
      const sums = new Map();
      for (const { chain: [to, from], ns } of pairs) {
        const key = `${to} → ${from}`;
        sums.set(key, (sums.get(key) ?? 0n) + BigInt(ns));
      }
      await withIdle(views.usual, name, async (page) => {
        const heads = await page.evaluate(
          () => [...document.querySelectorAll('.matrix thead th')].map(({ textContent }) => textContent),
        );
        let found = 0;
        for (const [to, ...cells] of await tableOf(page, 'matrix')) {
          cells.forEach((text, column) => {
            if (text === '') return;
            ++found;
            const key = `${to} → ${heads[column + 1]}`;
            assert.ok(sums.has(key), key);
            expectTime(text, sums.get(key), key);
          });
        }
        assert.equal(found, sums.size);
      });
    });
  }

  it('has each CPU over time as high as it was idle', async () => {
    const { cpus } = await told('idle');
    await withIdle(views.usual, 'idle', async (page) => {
      const areas = await page.evaluate(() => [...document.querySelectorAll('.cpu svg')].map((svg) => {
        const { width, height } = svg.viewBox.baseVal;
        const columns = [...svg.querySelectorAll('path')].flatMap(
          (path) => path.getAttribute('d').match(/h1v-[0-9.]+/g),
        );
        return columns.reduce((sum, column) => sum + Number(column.slice(4)), 0) / (width * height);
      }));
      const lengthNs = 4e9; // to just after the last sample of /proc/stat
      assert.equal(areas.length, 2);
      cpus.forEach(({ idle }, i) => {
        assert.ok(Math.abs(areas[i] - Number(idle) / lengthNs) < 1e-3, `CPU ${i}: ${areas[i]}`);
      });
      const label = await page.getAttribute('.cpu:nth-of-type(2) svg', 'aria-label');
      assert.match(label, /^CPU 1 over time: lock [0-9.]+ %, not monitored [0-9.]+ %$/);
    });
  });
});

describe('both flame graphs', () => {
  it('are walked by keyboard, each for itself, which is told', async () => {
    await withIdle(views.usual, 'idle', async (page) => {
      const press = async (key, side, expected) => {
        await page.keyboard.press(key);
        await nextPicture(page);
        const said = await page.textContent(`#${side}-told`);
        assert.ok(said.startsWith(`${expected}: `), `${key}: ${said}, not ${expected}`);
        assert.equal(await page.textContent(`#${side}-hovered`), said);
      };
      await page.focus('#to-picture');
      await press('ArrowDown', 'to', 'app!main');
      await press('ArrowDown', 'to', 'app!Queue::Take(</script><b>&)');
      await press('Enter', 'to', 'app!Queue::Take(</script><b>&)');
      assert.equal(await page.textContent('#from-told'), '');
      await page.keyboard.press('Tab');
      assert.ok(await page.evaluate(() => document.activeElement.id !== 'to-picture'));
      await page.focus('#from-picture');
      await press('ArrowDown', 'from', 'app!main');
      await press('ArrowRight', 'from', '[nobody]');
      await page.click('#reset');
      await nextPicture(page);
      assert.match(await page.textContent('#to-told'), /^all: 2\.7 s, 100\.0 %; itself 0 ns$/);
      assert.equal(await page.evaluate(() => idlePage.to.flame.zoomed), 0);
    });
  });

  it('are searched together', async () => {
    await withIdle(views.usual, 'idle', async (page) => {
      const found = () => page.evaluate(() => Object.values(idlePage)
        .map(({ model, flame }) => flame.found && flame.placed.filter(({ node }) => flame.found[model.frame[node]])
          .map(({ node }) => model.nameOf(node))));
      await page.fill('#search', 'QUEUE');
      assert.deepEqual(await found(), [['app!Queue::Take(</script><b>&)'], ['app!Queue::Fill()']]);
      await page.fill('#search', '');
      assert.deepEqual(await found(), [null, null]);
    });
  });

  it('stand still without scripts', async () => {
    await withIdle({ ...views.usual, withoutScripts: true }, 'idle', async (page) => {
      assert.equal(await page.locator('#app').isVisible(), false);
      assert.equal(await page.locator('.flame svg').count(), 2);
      await checkPicture(page, empty, 'idle.still');
    });
  });
});
