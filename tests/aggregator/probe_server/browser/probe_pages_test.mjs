// The pages of fieldcost-probe-server, as served over TLS, in a browser without scripts.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { after, before, describe, it } from 'node:test';

import { chromium } from 'playwright-core';

function given(name) {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`${name} is not set; use run.sh`);
  return value;
}

const url = given('FIELDCOST_TEST_URL');
const password = given('FIELDCOST_TEST_PASSWORD');
const cookieName = '__Host-fieldcost-probes';

let browser;

before(async () => {
  browser = await chromium.launch({
    executablePath: given('FIELDCOST_TEST_CHROMIUM'),
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  });
});

after(async () => {
  await browser?.close();
});

/** Opens a page that must not load external resources or log errors, other than those in `expected`. */
async function withPage(options, use) {
  const { scripts = false, dark = false, width = 1280, paper = false, expected = [] } = options;
  const context = await browser.newContext({
    ignoreHTTPSErrors: true, // the test's own certificate authority
    javaScriptEnabled: scripts,
    bypassCSP: scripts, // needed only by axe
    colorScheme: dark ? 'dark' : 'light',
    viewport: { width, height: 900 },
  });
  try {
    const page = await context.newPage();
    const complaints = [];
    const foreign = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(`${url}/`) && !request.url().startsWith('data:')) foreign.push(request.url());
    });
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.stack));
    page.on('dialog', (dialog) => {
      complaints.push(`a dialog: ${dialog.message()}`);
      dialog.dismiss();
    });
    if (paper) await page.emulateMedia({ media: 'print' });
    await use(page, context);
    const wrong = complaints.filter((text) => !expected.some((pattern) => pattern.test(text)));
    assert.deepEqual(wrong, [], 'the browser complains');
    assert.deepEqual(foreign, [], 'something is fetched from elsewhere');
  } finally {
    await context.close();
  }
}

async function logIn(page, user = 'alice') {
  await page.goto(`${url}/`);
  await page.getByLabel('Name').fill(user);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('heading', { name: 'Labels' }).waitFor();
}

const lines = (page) => page.locator('tbody tr').count();

/** Returns the paths of one page of each kind. */
async function allPages(page) {
  await page.goto(`${url}/events?label=index_open`);
  const ids = await page.locator('tbody input[type=checkbox]').evaluateAll((boxes) => boxes.map(({ value }) => value));
  const chosen = ids.slice(0, 12).map((id) => `id=${id}`).join('&');
  return ['/', '/events?aside=show', `/events/${ids[0]}`, `/events/${ids[0]}/steps/2`, `/compare?${chosen}`,
    `/compare?${chosen}&base=warm&new=cold`, '/history?label=search', '/account', '/purge?label=index_open',
    '/events?from=nonsense', '/events?label=%3Cimg+src%3Dx+onerror%3Dalert%281%29%3E'];
}

describe('without scripts', () => {
  it('a wrong password is said, the right one leads to the labels', async () => {
    await withPage({ expected: [/status of 401/] }, async (page) => {
      await page.goto(`${url}/events?label=search`);
      await page.getByLabel('Name').fill('bob');
      await page.getByLabel('Password').fill('not the password');
      await page.getByRole('button', { name: 'Log in' }).click();
      assert.equal(await page.getByRole('alert').textContent(), 'name or password is wrong');
      assert.equal(await page.getByLabel('Name').inputValue(), 'bob');
      await page.getByLabel('Password').fill(password);
      await page.getByRole('button', { name: 'Log in' }).click();
      // The page that was requested before the login.
      await page.getByRole('heading', { name: 'Events search' }).waitFor();
    });
  });

  it('events are filtered by label, tag and day', async () => {
    await withPage({}, async (page) => {
      await logIn(page);
      await page.getByRole('link', { name: 'index_open', exact: true }).click();
      await page.getByRole('heading', { name: 'Events index_open' }).waitFor();
      assert.equal(await lines(page), 20); // one of the 21 is set aside
      await page.getByLabel('Tag').fill('cold');
      await page.getByRole('button', { name: 'Filter' }).click();
      assert.equal(await lines(page), 10);
      await page.getByRole('link', { name: 'Events', exact: true }).click();
      await page.getByLabel('From').fill('2026-11-21');
      await page.getByLabel('To', { exact: true }).fill('2026-11-21');
      await page.getByRole('button', { name: 'Filter' }).click();
      assert.equal(await lines(page), 8);
      assert.equal(await page.locator('tbody tr').first().locator('td').nth(2).textContent(), 'search');
    });
  });

  it('cold starts stand beside warm ones, and a segment leads to its step with time and stack', async () => {
    await withPage({}, async (page) => {
      await logIn(page);
      for (const tag of ['cold', 'warm']) {
        await page.goto(`${url}/events?label=index_open&tag=${tag}`);
        assert.equal(await lines(page), 10);
      }
      await page.goto(`${url}/events?label=index_open`);
      const boxes = page.getByRole('checkbox', { name: /^Choose/ });
      for (const i of [0, 1, 2, 3, 4, 5, 14, 15, 16, 17, 18, 19]) await boxes.nth(i).check();
      await page.getByRole('button', { name: 'Compare the chosen' }).click();
      await page.getByRole('heading', { name: 'Side by side' }).waitFor();
      const segments = page.locator('svg.chart a');
      assert.equal(await segments.count(), 12 * 6);
      await page.getByLabel('Compare those tagged').selectOption('cold');
      await page.getByLabel('with those tagged').selectOption('warm');
      await page.getByRole('button', { name: 'Compare groups' }).click();
      const total = page.getByRole('row', { name: /The whole event/ });
      assert.match(await total.textContent(), /×\s4\.\d\d.*p < 0\.001.*slower/);
      const words = await segments.nth(2).getAttribute('aria-label');
      await segments.nth(2).click();
      await page.getByRole('heading', { name: 'Step step 3' }).waitFor();
      const took = await page.locator('strong').textContent();
      assert.ok(words.endsWith(took), `${words}: ${took}`);
      assert.match(await page.getByRole('region', { name: 'Stack' }).textContent(), /Open.*src\/index\.cc:40.*main/s);
    });
  });

  it('the numbers of a drawing are in its table', async () => {
    await withPage({}, async (page) => {
      await logIn(page);
      const compared = (await allPages(page))[4];
      await page.goto(url + compared);
      const drawn = await page.locator('svg.chart a').evaluateAll((links) => links.map((link) => [
        link.getAttribute('href'), link.getAttribute('aria-label').replace(/^.*: /, '')]));
      const told = new Map(await page.locator('td a').evaluateAll((links) => links.map((link) => [
        link.getAttribute('href'), link.textContent])));
      assert.equal(drawn.length, 12 * 6);
      for (const [link, text] of drawn) assert.equal(told.get(link), text);
    });
  });

  it('the build that became slower is marked in a label\'s history', async () => {
    await withPage({}, async (page) => {
      await logIn(page);
      await page.getByRole('link', { name: 'History of search' }).click();
      assert.match(await page.getByRole('row', { name: /1\.2/ }).textContent(), /▲ slower/);
      assert.match(await page.getByRole('row', { name: /^1\.1/ }).textContent(), /[-+±].* %, no significant change/);
      assert.deepEqual(await page.locator('svg.chart svg text').allTextContents(), ['1.0', '1.1', '1.2']);
      assert.equal(await page.locator('svg.chart text', { hasText: '▲' }).count(), 1);
    });
  });

  it('markup of devices is text', async () => {
    await withPage({}, async (page) => {
      await logIn(page);
      await page.goto(`${url}/events?label=%3Cimg+src%3Dx+onerror%3Dalert%281%29%3E`);
      assert.equal(await page.locator('img').count(), 0);
      assert.match(await page.locator('tbody').textContent(), /<img src=x onerror=alert\(1\)>/);
    });
  });

  it('by keyboard alone: log in, label, event, step, log out', async () => {
    await withPage({}, async (page) => {
      await page.goto(`${url}/`);
      const focused = () => page.evaluate(() => document.activeElement?.textContent || document.activeElement?.name);
      const tabTo = async (text) => {
        for (let i = 0; i < 200; ++i) {
          await page.keyboard.press('Tab');
          if ((await focused())?.trim() === text) return;
        }
        assert.fail(`the keyboard does not reach ${text}`);
      };
      await tabTo('user');
      await page.keyboard.type('alice');
      await page.keyboard.press('Tab');
      await page.keyboard.type(password);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Labels' }).waitFor();
      await tabTo('search');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Events search' }).waitFor();
      await tabTo('id');
      await page.keyboard.press('Space');
      await tabTo('Compare the chosen');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Side by side' }).waitFor();
      await tabTo('Event 1');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Event search' }).waitFor();
      await tabTo('step 2');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Step step 2' }).waitFor();
      await tabTo('Log out');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Log in' }).waitFor();
    });
  });
});

describe('for everybody', () => {
  for (const { dark, width, paper } of [{ width: 1280 }, { width: 1280, dark: true }, { width: 320 },
    { width: 320, dark: true }, { width: 680, paper: true }]) {
    const what = `${width} pixels${dark ? ', dark' : ''}${paper ? ', on paper' : ''}`;
    it(`axe finds nothing, and nothing is wider than the screen: ${what}`, async () => {
      const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
      await withPage({ scripts: true, dark, width, paper, expected: [/status of 400/] }, async (page) => {
        await page.goto(`${url}/login`);
        const targets = [];
        const check = async () => {
          await page.evaluate(axe);
          const { violations } = await page.evaluate(() => globalThis.axe.run());
          assert.deepEqual(violations.map(({ id, nodes }) => `${page.url()} ${id}: ${
            nodes.map(({ html }) => html).join(', ')}`), []);
          const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
          assert.ok(wide <= 0, `${page.url()} is ${wide} pixels too wide`);
        };
        await check();
        if (paper) await page.emulateMedia({ media: 'screen' });
        await logIn(page);
        targets.push(...await allPages(page));
        if (paper) await page.emulateMedia({ media: 'print' });
        for (const target of targets) {
          await page.goto(url + target);
          await check();
        }
      });
    });
  }
});

describe('on a narrow screen', () => {
  for (const width of [320, 400]) {
    it(`drawings fit, and a wider table scrolls in a box that shows it: ${width} pixels`, async () => {
      await withPage({ scripts: true, width, expected: [/status of 400/] }, async (page) => {
        await logIn(page);
        let scrolling = 0;
        for (const target of await allPages(page)) {
          await page.goto(url + target);
          const seen = await page.evaluate(() => {
            const right = document.documentElement.clientWidth;
            const outside = [...document.querySelectorAll('main *')].filter((element) => !element.closest('table')
              && !element.closest('desc, title, option') && element.getBoundingClientRect().right > right + 1);
            const captions = [...document.querySelectorAll('caption')].filter((caption) =>
              caption.getBoundingClientRect().right > right + 1);
            const boxes = [...document.querySelectorAll('.scroll')];
            const wide = boxes.filter((box) => box.scrollWidth > box.clientWidth + 1);
            for (const box of wide) box.scrollLeft = 100;
            const left = [...document.querySelectorAll('caption')].filter((caption) =>
              caption.getBoundingClientRect().left < 0);
            return {
              outside: outside.map(({ outerHTML }) => outerHTML.slice(0, 200)),
              captions: captions.map(({ textContent }) => textContent),
              scrolledAway: left.map(({ textContent }) => textContent),
              wide: wide.length,
              unseen: wide.filter((box) => getComputedStyle(box).backgroundAttachment !== 'local, local, scroll, scroll'
                || box.tabIndex !== 0).length,
              loose: [...document.querySelectorAll('table')].filter((table) => !table.closest('.scroll')).length,
            };
          });
          scrolling += seen.wide;
          assert.deepEqual(seen, { outside: [], captions: [], scrolledAway: [], wide: seen.wide, unseen: 0, loose: 0 },
            target);
        }
        assert.ok(scrolling > 0, 'no table was wider than the screen');
      });
    });
  }

  it('a segment has as much text as fits', async () => {
    for (const width of [320, 640, 1280]) {
      await withPage({ scripts: true, width }, async (page) => {
        await logIn(page);
        await page.goto(url + (await allPages(page))[4]);
        const { shown, over } = await page.evaluate(() => {
          const texts = [...document.querySelectorAll('svg.chart text[aria-hidden]')].filter((text) =>
            getComputedStyle(text).display !== 'none');
          return { shown: texts.length, over: texts.filter((text) => {
            let segment = text;
            while (segment.localName === 'text') segment = segment.previousElementSibling;
            const bar = segment.getBoundingClientRect();
            const label = text.getBoundingClientRect();
            return label.left < bar.left || label.right > bar.right;
          }).length };
        });
        assert.ok(shown > 0);
        assert.equal(over, 0, `labels beyond their segments at ${width} pixels`);
      });
    }
  });
});

describe('attacks', () => {
  it('a session that was put there before the login is none afterwards', async () => {
    await withPage({}, async (page, context) => {
      const planted = 'a'.repeat(64);
      await context.addCookies([{ name: cookieName, value: planted, url, secure: true, sameSite: 'Strict' }]);
      await logIn(page);
      const [cookie] = await context.cookies();
      assert.equal(cookie.name, cookieName);
      assert.notEqual(cookie.value, planted);
      assert.ok(cookie.httpOnly && cookie.secure && cookie.sameSite === 'Strict' && cookie.path === '/');
    });
  });

  it('a form on another page changes nothing', async () => {
    await withPage({ expected: [/status of 403/] }, async (page, context) => {
      await logIn(page);
      const elsewhere = await context.newPage();
      await elsewhere.setContent(`<form method="post" action="${url}/logout"><button>Win</button></form>`);
      await elsewhere.getByRole('button').click();
      await elsewhere.getByText('was not sent by a page of this server').or(
        elsewhere.getByRole('heading', { name: 'Log in' })).first().waitFor();
      await page.goto(`${url}/account`);
      await page.getByRole('heading', { name: 'Account' }).waitFor();
    });
  });

  it('no script runs, whatever a page holds', async () => {
    await withPage({}, async (page) => {
      await logIn(page);
      const response = await page.goto(`${url}/events`);
      const policy = await response.headerValue('content-security-policy');
      assert.match(policy, /^default-src 'none'/);
      assert.doesNotMatch(policy, /script-src|unsafe/);
    });
  });
});

describe('what changes something, last', () => {
  it('the planted slow start is set aside with its reason, kept, set aside by hand and removed', async () => {
    await withPage({}, async (page) => {
      await logIn(page);
      await page.goto(`${url}/events?label=index_open&aside=show`);
      const slow = page.locator('tr.aside');
      assert.equal(await slow.count(), 1);
      assert.match(await slow.textContent(), /set aside: .*times the median/);
      await slow.getByRole('link').click();
      await page.getByLabel('Reason').fill('the disk was <b>full</b>');
      await page.getByRole('button', { name: 'Keep it' }).click();
      await page.getByRole('status').waitFor();
      await page.goto(`${url}/purge?label=index_open`);
      await page.getByText('Nothing is set aside').waitFor();
      await page.goto(`${url}/events?label=index_open`);
      const kept = page.getByRole('row', { name: /kept: the disk was <b>full<\/b>/ });
      await kept.getByRole('link').click();
      await page.getByLabel('Reason').fill('virus scanner');
      await page.getByRole('button', { name: 'Set it aside' }).click();
      await page.goto(`${url}/events?label=index_open`);
      await page.getByRole('link', { name: 'Remove what is set aside' }).click();
      assert.match(await page.getByRole('listitem').textContent(), /virus scanner/);
      await page.getByRole('button', { name: 'Remove them' }).click();
      await page.getByRole('status').waitFor();
      await page.goto(`${url}/events?label=index_open&aside=show`);
      assert.equal(await page.locator('tr.aside').count(), 0);
      assert.equal(await lines(page), 20);
    });
  });

  it('a device is revoked, and the way out leads to the login', async () => {
    await withPage({}, async (page, context) => {
      await logIn(page);
      await page.getByRole('link', { name: 'Account' }).click();
      await page.getByRole('button', { name: 'Revoke test' }).click();
      await page.getByText('The device is revoked.').waitFor();
      const [cookie] = await context.cookies();
      await page.getByRole('button', { name: 'Log out' }).click();
      await page.getByRole('heading', { name: 'Log in' }).waitFor();
      assert.deepEqual(await context.cookies(), []);
      // The session has also ended on the server.
      await context.addCookies([{ ...cookie }]);
      await page.goto(`${url}/account`);
      await page.getByRole('heading', { name: 'Log in' }).waitFor();
    });
  });
});
