// Opens pages of call trees, written by `fieldcost` for recordings, in a browser and compares them with the program's
// terminal output: by mouse, by keyboard, without scripts.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { loadavg } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';

import {
  checkAxe, checkPicture, given, launch, nextPicture, pictures, toldBy, views, withPage as withPageOf,
} from './browser.mjs';
import { layoutProblems } from './layout.mjs';

const folder = given('FIELDCOST_TEST_TREES');
const vendored = given('FIELDCOST_TEST_VENDORED');
const packages = createRequire(import.meta.url);
const usual = views.usual;

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

/** Opens the page of that name and waits until everything is loaded and drawn. */
function withTree(view, name, use) {
  return withPageOf(browser, view, pathToFileURL(join(folder, `${name}.html`)).href, async (page) => {
    if (!view.withoutScripts) await settled(page);
    await use(page);
  });
}

// waitForFunction() is not used, because it evaluates text, which the page's policy forbids.
async function settled(page) {
  await page.evaluate(() => new Promise((resolve) => {
    const look = () => {
      const { model } = treePage;
      if (model.binCount === 0 || model.hasBins()) resolve();
      else requestAnimationFrame(look);
    };
    look();
  }));
  await nextPicture(page);
}

async function metricIs(page, name) {
  await page.evaluate((wanted) => new Promise((resolve) => {
    const look = () => (treePage.model.metric.name === wanted ? resolve() : requestAnimationFrame(look));
    look();
  }), name);
  await nextPicture(page);
}

/** The JSON output of `fieldcost tree ...`. */
const told = (...words) => toldBy(folder, 'tree', ...words);

// Replaces control characters as pages and terminals do.
const escaped = (name) => name.replace(
  /[\x00-\x1f\x7f]/g,
  (one) => `\\x${one.charCodeAt(0).toString(16).padStart(2, '0')}`,
);

/** The nodes keyed by path, without those that cost nothing. Values are texts. */
function byPath({ nodes }, isDifference = false) {
  const paths = [];
  const found = {};
  nodes.forEach((node, i) => {
    paths.push(i === 0 ? '' : `${paths[node.parent]};${escaped(node.name)}`);
    const values = [node.self, node.inclusive];
    if (isDifference) values.push(node.self_before, node.inclusive_before);
    if (values.some((value) => value !== '0')) found[paths[i]] = values.join(' ');
  });
  return found;
}

/** The same for the page's current content. */
function shown(page) {
  return page.evaluate(() => {
    const { model } = treePage;
    const paths = [''];
    const found = {};
    for (let node = 0; node < model.count; ++node) {
      if (node > 0) paths.push(`${paths[model.parent[node]]};${model.nameOf(node)}`);
      const values = [model.self[node], model.inclusive[node]];
      if (model.isDifference) values.push(model.selfBeforeOf(node), model.before(node));
      const texts = values.map(String);
      if (texts.some((value) => value !== '0')) found[paths[node]] = texts.join(' ');
    }
    return found;
  });
}

const operand = (page) => page.textContent('#operand');

/** The frames of the picture keyed by path: "left width row". */
function frames(page) {
  return page.evaluate(() => {
    const { model, flame } = treePage;
    return flame.placed.map(({ node, left, width, row }) => ({
      path: model.pathOf(node).map((one) => `;${model.nameOf(one)}`).join(''),
      name: model.nameOf(node),
      left,
      width,
      row,
    }));
  });
}

/** Drags over the timeline, from and to these fractions of its width. */
async function brush(page, from, to) {
  const box = await page.locator('#timeline .u-over').boundingBox();
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width * from, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * ((from + to) / 2), y);
  await page.mouse.move(box.x + box.width * to, y);
  await page.mouse.up();
  await nextPicture(page);
}

for (const name of ['a', 'diff']) {
  describe(`the page of ${name}`, () => {
    for (const [view, options] of Object.entries(views)) {
      it(`fits and looks as it should: ${view}`, async () => {
        await withTree(options, name, async (page) => {
          assert.deepEqual(await layoutProblems(page, options), []);
          if (!options.layoutOnly) await checkPicture(page, empty, `tree_${name}.${view}`);
        });
      });
      it(`has nothing that axe finds: ${view}`, async () => {
        await withTree(options, name, async (page) => {
          await checkAxe(page);
          if (options.paper) return; // paper has no search
          await page.fill('#search', 'parse');
          await page.click('#heaviest button');
          await nextPicture(page);
          await checkAxe(page);
        });
      });
    }
  });
}

describe('the flame graph', () => {
  it('has each frame as wide as what it costs, in its caller', async () => {
    await withTree(usual, 'a', async (page) => {
      const { nodes } = await told('show', 'a.fct');
      const width = await page.evaluate(() => treePage.flame.scroller.clientWidth);
      const paths = [''];
      const expected = {};
      nodes.forEach((node, i) => {
        if (i > 0) paths.push(`${paths[node.parent]};${escaped(node.name)}`);
        const wide = (width * Number(node.inclusive)) / Number(nodes[0].inclusive);
        if (wide >= 1) expected[paths[i]] = wide;
      });
      const found = await frames(page);
      assert.deepEqual(found.map(({ path }) => path).sort(), Object.keys(expected).sort());
      for (const { path, left, width: wide } of found) {
        assert.ok(Math.abs(wide - expected[path]) < 1e-6, path);
        const { name } = found.find((one) => one.path === path);
        const caller = found.find((one) => one.path === path.slice(0, -`;${name}`.length));
        const isInCaller = () => left >= caller.left - 1e-6 && left + wide <= caller.left + caller.width + 1e-6;
        if (path !== '') assert.ok(isInCaller(), path);
      }
    });
  });

  it('is drawn where it says, and tells what is under the mouse', async () => {
    await withTree(usual, 'a', async (page) => {
      const box = await page.locator('#picture').boundingBox();
      const all = await frames(page);
      for (const { name, left, width, row } of all) {
        if (width < 4) continue;
        await page.mouse.move(box.x + left + width / 2, box.y + row * 18 + 2);
        assert.ok((await page.textContent('#hovered')).startsWith(`${name}: `), name);
      }
      // Opaque inside the frames, with an empty gap below.
      const drawn = await page.evaluate((points) => {
        const canvas = document.getElementById('picture');
        const { data, width } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        return points.map(([x, y]) => data[4 * (y * width + x) + 3]);
      }, all.flatMap(({ left, width, row }) => [2, 17].map((y) => [Math.floor(left + width / 2), row * 18 + y])));
      assert.deepEqual(drawn, all.flatMap(() => [255, 0]));
    });
  });

  it('of a difference is as wide as Σ max(before, after)', async () => {
    await withTree(usual, 'diff', async (page) => {
      const answer = await told('diff', 'old.fct', 'new.fct');
      assert.deepEqual(await shown(page), byPath(answer, true));
      const { nodes } = answer;
      const widths = nodes.map(({ self, self_before: before }) => Math.max(Number(self), Number(before)));
      for (let i = nodes.length - 1; i > 0; --i) widths[nodes[i].parent] += widths[i];
      const total = await page.evaluate(() => treePage.flame.scroller.clientWidth);
      const paths = [''];
      nodes.forEach((node, i) => i > 0 && paths.push(`${paths[node.parent]};${escaped(node.name)}`));
      const found = await frames(page);
      assert.equal(found.length, nodes.length);
      for (const { path, width } of found) {
        assert.ok(Math.abs(width - (total * widths[paths.indexOf(path)]) / widths[0]) < 1e-6, path);
      }
      assert.equal(found.filter(({ name }) => ['linear_search', 'cache_lookup'].includes(name)).length, 2);
    });
  });

  it('of a difference hatches what is gone, outlines what is new, and greys what is not certain', async () => {
    await withTree(usual, 'diff', async (page) => {
      const colors = await page.evaluate(() => {
        const { model, flame } = treePage;
        const { canvas } = flame;
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        const hex = ([r, g, b]) => `#${[r, g, b].map((part) => part.toString(16).padStart(2, '0')).join('')}`;
        const found = {};
        for (const { node, left, width, row } of flame.placed) {
          const pixel = (x, y) => hex(data.subarray(4 * (y * canvas.width + Math.floor(x))));
          const line = [];
          for (let x = left + width - 20; x < left + width - 4; ++x) line.push(pixel(x, row * 18 + 3));
          found[model.nameOf(node)] = { edge: pixel(left + width / 2, row * 18), line: [...new Set(line)] };
        }
        return found;
      });
      const data = await page.evaluate(() => treePage.flame.colors);
      assert.ok(colors.linear_search.line.length > 2, 'stripes');
      assert.equal(colors.cache_lookup.edge, '#111111');
      assert.deepEqual(colors.parse.line, [data.uncertain]);
      assert.ok(data.more.includes(colors.optimize.line[0]));
      assert.notEqual(colors.parse.edge, '#111111');
    });
  });

  it('of a difference lists what certainly changed before everything else', async () => {
    await withTree(usual, 'diff', async (page) => {
      const { all, only } = await page.evaluate(() => {
        const { model } = treePage;
        const listed = model.heaviest(0, 25);
        const last = listed[listed.length - 1];
        model.certain = new Map([[last, '']]);
        return { all: listed, only: [model.heaviest(0, 25)[0] === last, model.heaviest(0, 1)[0] === last] };
      });
      assert.ok(all.length > 2);
      assert.deepEqual(only, [true, true]);
    });
  });

  it('zooms, searches, and comes back', async () => {
    await withTree(usual, 'a', async (page) => {
      const all = await frames(page);
      const [write] = all.filter(({ name }) => name === 'write_output');
      const box = await page.locator('#picture').boundingBox();
      await page.mouse.click(box.x + write.left + 5, box.y + write.row * 18 + 9);
      await nextPicture(page);
      const zoomed = await frames(page);
      const wide = all[0].width;
      const widest = zoomed.filter(({ width }) => width === wide).map(({ name }) => name);
      assert.deepEqual(widest, ['all', 'main', 'write_output']);
      const focus = ';main;write_output';
      assert.ok(zoomed.every(({ path }) => focus.startsWith(path) || path.startsWith(focus)));
      assert.match(await page.textContent('#heaviest-paths'), /within write_output/);
      await page.fill('#search', 'CRC32');
      const { nodes } = await told('show', 'a.fct');
      const sum = nodes
        .filter(({ function: name }) => name === 'crc32')
        .reduce((all_, { inclusive }) => all_ + Number(inclusive), 0);
      const share = ((100 * sum) / Number(nodes[0].inclusive)).toFixed(1);
      assert.match(await page.textContent('#found'), new RegExp(`^2 frames, .*, ${share.replace('.', '\\.')} %$`));
      await page.click('#reset');
      await nextPicture(page);
      assert.deepEqual(await frames(page), all);
      assert.equal(await page.textContent('#found'), '');
    });
  });

  it('can be walked by keyboard, which is told', async () => {
    await withTree(usual, 'a', async (page) => {
      const { nodes } = await told('show', 'a.fct');
      const callees = (of) => nodes
        .map((node, i) => ({ ...node, i }))
        .filter(({ parent, i }) => i > 0 && parent === of);
      const said = () => page.textContent('#told');
      const expect = async (key, node) => {
        await page.keyboard.press(key);
        await nextPicture(page);
        assert.ok((await said()).startsWith(`${node.name}: `), `${key}: ${await said()}, not ${node.name}`);
      };
      await page.focus('#picture');
      const [main, kernel] = callees(0);
      await expect('ArrowDown', main);
      await expect('ArrowRight', kernel);
      await expect('ArrowLeft', main);
      const [first, second] = callees(main.i);
      await expect('ArrowDown', first);
      await expect('ArrowRight', second);
      await expect('Enter', second);
      assert.equal((await frames(page)).find(({ name }) => name === second.name).width, (await frames(page))[0].width);
      await expect('ArrowUp', main);
      await page.keyboard.press('Escape');
      await nextPicture(page);
      assert.match(await said(), /^all: .*, 100\.0 %; itself /);
      assert.equal((await frames(page)).length, nodes.length);
    });
  });
});

describe('an interval', () => {
  it('is the tree that the program cuts out, value for value', async () => {
    await withTree(usual, 'a', async (page) => {
      assert.deepEqual(await shown(page), byPath(await told('show', 'a.fct')));
      for (const [from, to] of [[0.2, 0.3], [0.25, 0.9], [0.7, 0.4], [0.5, 0.502], [0.001, 0.999]]) {
        await brush(page, from, to);
        const cut = await operand(page);
        assert.match(cut, /^a\.fct@[0-9.]+[mun]?s\.\.[0-9.]+[mun]?s$/);
        assert.deepEqual(await shown(page), byPath(await told('show', cut)), cut);
      }
      await page.selectOption('#metric', 'calls');
      await metricIs(page, 'calls');
      assert.deepEqual(await shown(page), byPath(await told('show', await operand(page), '--metric', 'calls')));
      await page.click('#timeline .u-over');
      await nextPicture(page);
      assert.equal(await operand(page), 'a.fct');
      assert.deepEqual(await shown(page), byPath(await told('show', 'a.fct', '--metric', 'calls')));
    });
  });

  it('stays when the metric changes, however fast', async () => {
    await withTree(usual, 'a', async (page) => {
      await brush(page, 0.3, 0.6);
      const cut = await operand(page);
      await page.evaluate(() => {
        const choice = document.getElementById('metric');
        for (const metric of ['calls', 'wall', 'calls', 'wall', 'calls']) {
          choice.value = String(treePage.model.metrics.findIndex(({ name }) => name === metric));
          choice.dispatchEvent(new Event('change'));
        }
      });
      await metricIs(page, 'calls');
      assert.equal(await operand(page), cut);
      assert.deepEqual(await shown(page), byPath(await told('show', cut, '--metric', 'calls')));
    });
  });

  it('is moved by keyboard, too', async () => {
    await withTree(usual, 'a', async (page) => {
      const edges = await page.evaluate(() => treePage.model.edges.length);
      await page.focus('#from');
      for (let i = 0; i < 5; ++i) await page.keyboard.press('ArrowRight');
      await page.focus('#to');
      await page.keyboard.press('PageDown');
      await nextPicture(page);
      const chosen = await page.evaluate(() => treePage.model.interval);
      assert.equal(chosen.from, 5);
      assert.ok(chosen.to < edges - 1 && chosen.to > 5);
      const [, to] = (await operand(page)).split('..');
      assert.equal(await page.getAttribute('#to', 'aria-valuetext'), to);
      assert.deepEqual(await shown(page), byPath(await told('show', await operand(page))));
      await page.keyboard.press('Home'); // stays at the beginning
      await nextPicture(page);
      assert.deepEqual(await page.evaluate(() => treePage.model.interval), { from: 0, to: 1 });
    });
  });

  it('of a part of the time is a part of that', async () => {
    await withTree(usual, 'part', async (page) => {
      assert.equal(await operand(page), 'a.fct@500ms..3.25s');
      await brush(page, 0.1, 0.35);
      assert.deepEqual(await shown(page), byPath(await told('show', await operand(page))));
    });
  });

  it('has exact sums where doubles have not', async () => {
    await withTree(usual, 'big', async (page) => {
      const whole = byPath(await told('show', 'big.fct'));
      assert.ok(Object.values(whole).some((value) => String(Number(value.split(' ')[1])) !== value.split(' ')[1]));
      assert.deepEqual(await shown(page), whole);
      await brush(page, 0.3, 0.8);
      assert.deepEqual(await shown(page), byPath(await told('show', await operand(page))));
    });
  });
});

describe('a tree of 100,000 nodes', () => {
  it('costs a picture what the screen can show, not what the tree has', async (test) => {
    const first = () => {
      globalThis.tasks = [];
      new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => Math.round(duration))))
        .observe({ type: 'longtask' });
    };
    await withTree({ ...usual, first }, 'large', async (page) => {
      const tasks = () => page.evaluate(() => JSON.stringify(globalThis.tasks.splice(0)));
      const limits = () => page.evaluate(() => {
        const { flame, model } = treePage;
        const rows = Math.ceil(flame.scroller.clientHeight / 18) + 1;
        return {
          nodes: model.count, drawn: flame.drawn, most: rows * flame.scroller.clientWidth,
          sorted: model.sorted.size, placed: flame.placed.length,
        };
      });
      let sortedBefore = 0;
      const check = async () => {
        const { nodes, drawn, most, sorted, placed } = await limits();
        assert.equal(nodes, 100_000);
        assert.ok(drawn > 100 && drawn <= most, `${drawn} drawn, at most ${most}`);
        const said = `children of ${sorted} sorted, of ${sortedBefore} before, for ${placed} frames`;
        assert.ok(sorted <= sortedBefore + placed, said);
        sortedBefore = sorted;
      };
      await check();
      const loading = await tasks();
      const box = await page.locator('#picture').boundingBox();
      await page.mouse.click(box.x + 100, box.y + 27);
      await nextPicture(page);
      await check();
      for (let i = 0; i < 8; ++i) {
        await brush(page, 0.1 + i / 20, 0.5 + i / 20);
        await check();
      }
      await page.focus('#from');
      for (let i = 0; i < 40; ++i) await page.keyboard.press('ArrowRight');
      await page.fill('#search', 'function_2');
      await nextPicture(page);
      assert.deepEqual(await shown(page), byPath(await told('show', await operand(page))));
      test.diagnostic(`tasks of 50 ms and more: loading ${loading} ms, then ${await tasks()} ms; ` +
        `load ${loadavg().map((load) => load.toFixed(1)).join(' ')}`);
    });
  });
});

describe('a recursion of 900 calls', () => {
  it('is scrolled, and only what is on the screen is drawn', async () => {
    await withTree(usual, 'deep', async (page) => {
      const state = () => page.evaluate(() => {
        const { flame } = treePage;
        const { clientHeight, scrollTop } = flame.scroller;
        const most = Math.ceil(clientHeight / 18) + 1;
        return { rows: flame.rows, drawn: flame.drawn, most, clientHeight, scrollTop };
      });
      const begin = await state();
      assert.equal(begin.rows, 902);
      assert.ok(begin.drawn <= begin.most && begin.most < 100);
      await page.focus('#picture');
      for (let i = 0; i < 100; ++i) await page.keyboard.press('ArrowDown');
      await nextPicture(page);
      const { drawn, most, scrollTop, clientHeight } = await state();
      assert.ok(drawn <= most);
      assert.equal(scrollTop + clientHeight, 101 * 18, 'the frame in focus is the last on the screen');
      const box = await page.locator('#picture').boundingBox();
      await page.mouse.move(box.x + 50, box.y + clientHeight - 5);
      assert.equal(await page.textContent('#hovered'), await page.textContent('#told'));
    });
  });
});

describe('hostile names', () => {
  it('are text in pictures, tables and sentences', async () => {
    await withTree(usual, 'a', async (page) => {
      assert.match(await page.title(), /^Call tree: a\.fct$/);
      const found = await page.evaluate(() => ({
        scripts: [...document.scripts].filter(({ type }) => type === '').length,
        names: [...document.querySelectorAll('#heaviest button')].map(({ textContent }) => textContent),
      }));
      assert.equal(found.scripts, 2);
      assert.ok(found.names.includes("</script><script>document.title='evil'</script>"));
      assert.ok(found.names.includes('<!-- <script> & "quoted" \\x1b[31m'));
    });
  });
});

describe('without scripts', () => {
  for (const name of ['a', 'diff']) {
    it(`the picture of ${name} is there`, async () => {
      await withTree({ ...usual, withoutScripts: true }, name, async (page) => {
        assert.equal(await page.locator('#app').isVisible(), false);
        await checkPicture(page, empty, `tree_${name}.still`);
      });
    });
  }
});

describe('what is from others', () => {
  it('is what npm has', async () => {
    const hash = async (file) => createHash('sha256').update(await readFile(file)).digest('hex');
    const uplot = dirname(dirname(packages.resolve('uplot')));
    for (const file of ['dist/uPlot.iife.min.js', 'dist/uPlot.min.css', 'LICENSE']) {
      assert.equal(await hash(join(vendored, 'uplot', file.split('/').at(-1))), await hash(join(uplot, file)), file);
    }
    const { version } = JSON.parse(await readFile(join(uplot, 'package.json'), 'utf8'));
    const readme = await readFile(join(vendored, 'README.md'), 'utf8');
    assert.match(readme, new RegExp(`uPlot ${version.replaceAll('.', '\\.')},`));
  });
});

describe('a thread', () => {
  /** The program's output for a thread: the tree below its frame. */
  async function ofThread(label, ...words) {
    const found = {};
    for (const [path, values] of Object.entries(byPath(await told('show', ...words, '--by', 'thread')))) {
      if (path === `;${label}` || path.startsWith(`;${label};`)) found[path.slice(label.length + 1)] = values;
    }
    return found;
  }

  async function threadIs(page, number) {
    await page.selectOption('#thread', String(number));
    await page.evaluate((wanted) => new Promise((resolve) => {
      const look = () => (treePage.model.thread === wanted ? resolve() : requestAnimationFrame(look));
      look();
    }), number);
    await nextPicture(page);
  }

  it('is chosen from those of the recording, and has what --by thread says, value for value', async () => {
    await withTree(usual, 'threads', async (page) => {
      const all = await shown(page);
      assert.deepEqual(all, byPath(await told('show', 'threads.fct')));
      const labels = await page.$$eval('#thread option', (options) => options.map(({ text }) => text));
      assert.deepEqual(labels, ['all threads', '[thread app 7]', '[thread app/io <b> 8]', '[thread app/io <b> 9]']);
      for (const number of [1, 2, 3]) {
        await threadIs(page, number);
        const label = labels[number];
        assert.deepEqual(await shown(page), await ofThread(label, 'threads.fct'), label);
        assert.equal(await operand(page), `threads.fct, ${label}`);
      }
      await page.selectOption('#metric', 'calls');
      await metricIs(page, 'calls');
      assert.deepEqual(await shown(page), await ofThread(labels[3], 'threads.fct', '--metric', 'calls'));
      await page.selectOption('#metric', 'wall');
      await metricIs(page, 'wall');
      await brush(page, 0.2, 0.7);
      for (const number of [3, 1, 2]) {
        await threadIs(page, number);
        const [cut, label] = (await operand(page)).split(', ');
        assert.match(cut, /^threads\.fct@[0-9.]+[mun]?s\.\.[0-9.]+[mun]?s$/);
        assert.equal(label, labels[number]);
        assert.deepEqual(await shown(page), await ofThread(label, cut), `${cut} ${label}`);
      }
      await threadIs(page, 0);
      assert.deepEqual(await shown(page), byPath(await told('show', await operand(page))));
      await page.click('#timeline .u-over');
      await nextPicture(page);
      assert.deepEqual(await shown(page), all);
    });
  });

  it('can be chosen on every page that fits', async () => {
    for (const options of Object.values(views)) {
      await withTree(options, 'threads', async (page) => {
        assert.deepEqual(await layoutProblems(page, options), []);
      });
    }
  });

  it('is no choice where only one is known', async () => {
    await withTree(usual, 'a', async (page) => assert.equal(await page.locator('#thread').count(), 0));
  });
});
