'use strict';

// Searches the names of a static site (`fieldcost docs site`), which are a tree of small files
// (tools/report/cards/site_names.h). They are loaded as scripts, because browsers let a page in a
// file load nothing else.

const kMaxFound = 100;
const kMaxVisited = 8; // nodes with names, per query: enough unless many words must match

const siteNodes = new Map(); // promises by id
const siteArrivals = new Map(); // functions that fulfil them

// Called by each file of the tree.
function siteNode(id, content) {
  siteArrivals.get(id)(content);
}

function loadNode(id) {
  if (!siteNodes.has(id)) {
    const arrival = new Promise((resolve, reject) => {
      const script = document.createElement('script');
      script.src = `~search/${id}.js`;
      script.addEventListener('error', () => {
        siteNodes.delete(id); // the next query tries again
        reject(new Error(`${script.src} cannot be loaded`));
      });
      siteArrivals.set(id, resolve);
      document.head.append(script);
    });
    siteNodes.set(id, arrival);
  }
  return siteNodes.get(id);
}

// The children of a node in which keys may begin with `prefix`. Equal keys may fill several.
function childrenOf(id, [first, keys], prefix) {
  const level = Number(id.split('/')[0]) - 1;
  const touches = (key, i) =>
    (key <= prefix || key.startsWith(prefix)) && !(i + 1 < keys.length && keys[i + 1] < prefix);
  return keys.flatMap((key, i) => (touches(key, i) ? [`${level}/${first + i}`] : []));
}

// Loads the nodes below this one whose keys may begin with `prefix`, in order, and calls `take`
// with the functions of each, until it returns false.
async function visitNames(id, prefix, take) {
  const content = await loadNode(id);
  if (id.startsWith('0/')) return take(content);
  for (const child of childrenOf(id, content, prefix)) {
    if (!(await visitNames(child, prefix, take))) return false;
  }
  return true;
}

// As in the keys: lower case, and runs of characters other than printable ASCII become one "?".
const foldedWord = (word) => word.replace(/[^ -~]+/g, '?').toLowerCase();

// The words, first those that lead to the fewest functions, as far as the root shows.
async function narrowestFirst(root, words) {
  const content = await loadNode(root);
  const nodes = (word) => (root.startsWith('0/') ? 1 : childrenOf(root, content, foldedWord(word)).length);
  return [...words].sort((a, b) => nodes(a) - nodes(b) || b.length - a.length);
}

function entryOf([name, library, page, cost]) {
  return {
    name,
    library,
    cost,
    link: page || `${library}/${name}.html`,
    lower: name.toLowerCase(),
    whole: `${library}!${name}`.toLowerCase(),
  };
}

// The functions whose names contain every word of the query: first the name itself, then names that
// begin with the query, then all others; otherwise by library and name. At most one more than are
// shown. Not complete if very many functions match one of the words. `isWanted` returns false once
// there is another query.
async function findEntries(root, query, isWanted) {
  const words = query.toLowerCase().split(/\s+/).filter((word) => word !== '');
  if (words.length === 0) return { entries: [], isComplete: true };
  const found = new Map(); // by link
  let visited = 0;
  const take = (names) => {
    for (const entry of names.map(entryOf)) {
      if (found.size <= kMaxFound && words.every((word) => entry.whole.includes(word))) found.set(entry.link, entry);
    }
    visited += 1;
    return found.size <= kMaxFound && visited < kMaxVisited && isWanted();
  };
  let isComplete = true;
  for (const word of await narrowestFirst(root, words)) {
    const prefix = foldedWord(word);
    // A space marks where a name begins.
    isComplete = (await visitNames(root, ` ${prefix}`, take)) && (await visitNames(root, prefix, take));
    if (found.size !== 0 || !isComplete) break; // otherwise the word may occur in arguments only
  }
  const first = words[0];
  const rank = (entry) => (entry.lower === first ? 0 : entry.lower.startsWith(first) ? 1 : 2);
  const before = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
  const entries = [...found.values()].sort(
    (a, b) => rank(a) - rank(b) || before(a.library, b.library) || before(a.name, b.name),
  );
  return { entries, isComplete };
}

function foundText(count, isComplete) {
  if (count > kMaxFound) return `More than ${kMaxFound} functions; ${kMaxFound} are shown.`;
  const functions = `${count} ${count === 1 ? 'function' : 'functions'}`;
  if (!isComplete) return `${functions} so far; type more of the name to find others.`;
  return count === 0 ? 'No function has this name.' : `${functions}.`;
}

function showEntries(entries, text) {
  document.getElementById('found').replaceChildren(
    ...entries.slice(0, kMaxFound).map((entry) => {
      const item = document.createElement('li');
      const link = document.createElement('a');
      link.href = entry.link;
      link.textContent = entry.name;
      item.append(link, ` ${entry.library} ${entry.cost}`);
      return item;
    }),
  );
  document.getElementById('count').textContent = text;
}

async function showFound(root, input) {
  const query = input.value;
  const isWanted = () => input.value === query;
  try {
    const { entries, isComplete } = await findEntries(root, query, isWanted);
    if (isWanted()) showEntries(entries, query.trim() === '' ? '' : foundText(entries.length, isComplete));
  } catch {
    if (isWanted()) showEntries([], 'The names cannot be loaded.');
  }
}

const siteSearch = document.getElementById('site-search');
const siteInput = document.getElementById('search');
siteSearch.hidden = false;
siteInput.addEventListener('input', () => showFound(siteSearch.dataset.root, siteInput));
if (siteInput.value !== '') showFound(siteSearch.dataset.root, siteInput); // kept on going back
