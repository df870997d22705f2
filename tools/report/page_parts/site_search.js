'use strict';

// Searches the names in the index of a static site (`fieldcost docs site`). The names are in the
// page itself, so it also works from a file.

const kMaxFound = 100;

// The data's libraries, [soname, folder, [[name, file, cost], ...]], as a flat list.
function siteEntries(libraries) {
  return libraries.flatMap(([library, folder, apis]) =>
    apis.map(([name, file, cost]) => ({
      name,
      library,
      cost,
      link: `${folder}/${file}`,
      lower: name.toLowerCase(),
      whole: `${library}!${name}`.toLowerCase(),
    })),
  );
}

// The entries that contain every word of the query: first the name itself, then names that begin
// with the query, then all others; in the list's order otherwise.
function findEntries(entries, query) {
  const words = query.toLowerCase().split(/\s+/).filter((word) => word !== '');
  if (words.length === 0) return [];
  const first = words[0];
  const rank = (entry) => (entry.lower === first ? 0 : entry.lower.startsWith(first) ? 1 : 2);
  const found = entries.filter((entry) => words.every((word) => entry.whole.includes(word)));
  return [0, 1, 2].flatMap((wanted) => found.filter((entry) => rank(entry) === wanted));
}

function foundText(count) {
  if (count === 0) return 'No function has this name.';
  const functions = `${count} ${count === 1 ? 'function' : 'functions'}`;
  return count > kMaxFound ? `${functions}; the first ${kMaxFound} are shown.` : `${functions}.`;
}

function showFound(entries, query) {
  const found = findEntries(entries, query);
  const list = document.getElementById('found');
  list.replaceChildren(
    ...found.slice(0, kMaxFound).map((entry) => {
      const item = document.createElement('li');
      const link = document.createElement('a');
      link.href = entry.link;
      link.textContent = entry.name;
      item.append(link, ` ${entry.library} ${entry.cost}`);
      return item;
    }),
  );
  document.getElementById('count').textContent = query.trim() === '' ? '' : foundText(found.length);
}

if (typeof document !== 'undefined') {
  const entries = siteEntries(JSON.parse(document.getElementById('names').textContent));
  const input = document.getElementById('search');
  document.getElementById('site-search').hidden = false;
  input.addEventListener('input', () => showFound(entries, input.value));
  if (input.value !== '') showFound(entries, input.value); // kept by the browser on going back
}
