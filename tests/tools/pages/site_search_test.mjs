// The search of a static site (tools/report/page_parts/site_search.js), with a stand-in for the
// page. FIELDCOST_SITE_SEARCH is the script.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import vm from 'node:vm';

const script = readFileSync(process.env.FIELDCOST_SITE_SEARCH, 'utf8');

function makeElement() {
  return {
    textContent: '',
    value: '',
    children: [],
    append(...parts) {
      this.children.push(...parts);
    },
    replaceChildren(...parts) {
      this.children = parts;
    },
    addEventListener(kind, handler) {
      this[kind] = handler;
    },
  };
}

// Runs the script; returns a function that types a query and answers with what is shown.
function open(names, kept = '') {
  const elements = {};
  for (const id of ['names', 'search', 'site-search', 'found', 'count']) elements[id] = makeElement();
  elements['site-search'].hidden = true;
  elements.names.textContent = JSON.stringify(names);
  elements.search.value = kept;
  const document = { getElementById: (id) => elements[id], createElement: makeElement };
  vm.runInNewContext(script, { document });
  assert.equal(elements['site-search'].hidden, false);
  const shown = () => ({
    links: elements.found.children.map((item) => item.children[0].href),
    texts: elements.found.children.map(
      (item) => item.children[0].textContent + item.children.slice(1).join(''),
    ),
    count: elements.count.textContent,
  });
  const type = (query) => {
    elements.search.value = query;
    elements.search.input();
    return shown();
  };
  return { type, shown };
}

const names = [
  ['libz.so.1', 'libz.so.1', [
    ['deflate', 'deflate.html', '90 µs'], ['deflateInit_', 'deflateInit_.html', '5 µs'],
    ['inflate', 'inflate.html', '10 µs'], ['flate', 'flate.html', '1 µs'],
  ]],
  ['libx.so.2', 'libx.so.2', [['Json::Reader::parse(char const*)', '_ZN1.html', '3 µs'], ['<b>', '~3Cb~3E.html', '']]],
];

test('a name comes before names that begin with it, and these before all others', () => {
  const { links, texts, count } = open(names).type('flate');
  assert.deepEqual(links, [
    'libz.so.1/flate.html', 'libz.so.1/deflate.html', 'libz.so.1/deflateInit_.html', 'libz.so.1/inflate.html',
  ]);
  assert.equal(texts[0], 'flate libz.so.1 1 µs');
  assert.equal(count, '4 functions.');
  assert.deepEqual(open(names).type('deflate').links.length, 2);
});

test('each word may be in the name or the library, in any case', () => {
  assert.deepEqual(open(names).type('  LIBX json::reader ').links, ['libx.so.2/_ZN1.html']);
  assert.deepEqual(open(names).type('libz json').links, []);
  assert.equal(open(names).type('libz json').count, 'No function has this name.');
  const empty = open(names).type('   ');
  assert.deepEqual([empty.links, empty.count], [[], '']);
});

test('names are shown as text, and a kept query is answered at once', () => {
  assert.deepEqual(open(names).type('<b>').texts, ['<b> libx.so.2 ']);
  assert.equal(open(names, 'inflate').shown().links[0], 'libz.so.1/inflate.html');
});

test('of very many names the first hundred are shown', () => {
  const apis = Array.from({ length: 250 }, (_, i) => [`f${i}`, `f${i}.html`, '']);
  const { links, count } = open([['l', 'l', apis]]).type('f');
  assert.equal(links.length, 100);
  assert.equal(count, '250 functions; the first 100 are shown.');
});
