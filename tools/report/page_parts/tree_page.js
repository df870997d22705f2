'use strict';

// Assembles a page of call trees: the selection, the pictures, and the announcements for readers who
// do not see the pictures.

(() => {
  const element = (id) => document.getElementById(id);
  const data = JSON.parse(element('tree').textContent);
  const model = new TreeModel(data);
  const tableRows = 25;
  const tableCallers = 4;
  const tableLetters = 60; // of a name, as in the terminal's tables
  const callerLetters = 40;
  let timeLine = null;
  let wantedInterval = null;
  let wantedMetric = data.metric;
  let wantedThread = 0;
  const reading = new Map(); // by metric and thread: the promise that their bins are read
  let isWaiting = false;

  const cost = (sum, digits) => costText(sum, model.metric, model.denominator, digits);
  const signed = (sum) => (sum > 0 ? `+${cost(sum)}` : cost(sum));

  function words(node) {
    const name = model.nameOf(node);
    const share = shareText(model.share(model.inclusive[node]));
    if (!model.isDifference) {
      return `${name}: ${cost(model.inclusive[node])}, ${share}; itself ${cost(model.self[node])}`;
    }
    const certain = model.certain?.get(node);
    const what = [, 'gone', 'new'][model.where[node]] ?? (model.isUncertain(node) ? 'not certain' : '');
    const digits = digitsToTell(model.before(node), model.inclusive[node]);
    const costs = `${cost(model.before(node), digits)} old, ${cost(model.inclusive[node], digits)} new`;
    const itself = `itself ${signed(model.selfChange(node))}${what === '' ? '' : `, ${what}`}`;
    const text = `${name}: ${costs}, ${signed(model.change(node))}; ${itself}`;
    return certain === undefined ? text : `${text} ${certain}`;
  }

  const flame = new FlameGraph({
    canvas: element('picture'),
    scroller: element('flame'),
    spacer: element('spacer'),
    model,
    colors: data.colors,
    onFocus: (node) => {
      element('told').textContent = words(node);
      element('hovered').textContent = words(node);
    },
    onHover: (node) => { element('hovered').textContent = words(node ?? flame.focused); },
    onZoom: showTable,
  });

  function cell(tag, className, label, text) {
    const made = document.createElement(tag);
    if (className !== '') made.className = className;
    if (label !== '') made.dataset.label = label;
    made.textContent = text;
    return made;
  }

  // The path, as a button that zooms to it.
  function pathCell(node) {
    const made = document.createElement('th');
    made.scope = 'row';
    const button = cell('button', 'name', '', model.shortNameOf(node, tableLetters));
    button.type = 'button';
    button.title = model.nameOf(node);
    button.addEventListener('click', () => {
      flame.zoom(node);
      flame.focus(node);
    });
    const above = model.pathOf(model.parent[node]);
    const callers = above.slice(-tableCallers).map((one) => model.shortNameOf(one, callerLetters));
    if (above.length > tableCallers) callers.unshift('…');
    made.append(button, cell('small', '', '', callers.join(' › ')));
    return made;
  }

  function showTable() {
    const rows = model.heaviest(flame.zoomed, tableRows).map((node) => {
      const row = document.createElement('tr');
      const number = (label, text) => cell('td', 'n', label, text);
      row.append(pathCell(node));
      if (model.isDifference) {
        const digits = digitsToTell(model.selfBeforeOf(node), model.self[node]);
        row.append(number('Self old', cost(model.selfBeforeOf(node), digits)),
          number('new', cost(model.self[node], digits)),
          number('change', signed(model.selfChange(node))), number('with callees', signed(model.change(node))));
      } else {
        row.append(number('Share', shareText(model.share(model.self[node]))), number('Self', cost(model.self[node])),
          number('With callees', cost(model.inclusive[node])));
      }
      return row;
    });
    element('heaviest').replaceChildren(...rows);
    const within = model.shortNameOf(flame.zoomed, tableLetters);
    element('within').textContent = flame.zoomed === 0 ? '' : ` within ${within}`;
  }

  function showChosen() {
    const interval = model.interval === null ? '' : timeLine.text();
    const shown = interval === '' ? data.operand : `${data.name}@${interval}`;
    element('operand').textContent = model.thread === 0 ? shown : `${shown}, ${model.threads[model.thread - 1]}`;
    const { name, sampled } = model.metric;
    const runs = `${data.runs} run${data.runs === 1 ? '' : 's'}`;
    const digits = model.isDifference ? digitsToTell(model.before(0), model.inclusive[0]) : undefined;
    const all = cost(model.inclusive[0], digits);
    element('total').textContent = model.isDifference
      ? `${name} a run: ${cost(model.before(0), digits)} old, ${all} new. ${model.metric.sentence ?? ''}`
      : `${name}: ${all} a run, mean of ${runs}${sampled ? ' (sampled)' : ''}`;
    flame.schedule(true);
    element('hovered').textContent = words(flame.focused);
    showTable();
    showSearch();
  }

  function showSearch() {
    const text = element('search').value;
    if (text === '') {
      flame.search(null);
      element('found').textContent = '';
      return;
    }
    const { names, nodes, sum } = model.search(text);
    flame.search(names);
    const frames = `${nodes} frame${nodes === 1 ? '' : 's'}`;
    element('found').textContent = `${frames}, ${cost(sum)}, ${shareText(model.share(sum))}`;
  }

  // At most once per screen frame, however fast the mouse moves.
  function applySoon() {
    if (isWaiting) return;
    isWaiting = true;
    requestAnimationFrame(() => {
      isWaiting = false;
      if (wantedInterval !== null && !model.hasBins()) return;
      model.setInterval(wantedInterval);
      showChosen();
    });
  }

  // Reads element by element, so that no task is long; each metric of a thread once.
  async function readBins(metric, thread) {
    const of = thread === 0 ? ':not([data-thread])' : `[data-thread="${thread}"]`;
    for (const script of document.querySelectorAll(`script.bins[data-metric="${metric}"]${of}`)) {
      await new Promise((resume) => { setTimeout(resume); });
      model.addBins(metric, JSON.parse(script.textContent), thread);
      script.remove();
    }
  }

  function loadBins(metric, thread) {
    const key = `${metric} ${thread}`;
    if (!reading.has(key)) reading.set(key, readBins(metric, thread));
    return reading.get(key);
  }

  // The interval stays; the metric or thread changes once its bins have been read.
  async function choose(metric, thread) {
    wantedMetric = metric;
    wantedThread = thread;
    await loadBins(metric, thread);
    if (wantedMetric !== metric || wantedThread !== thread) return;
    model.setThread(thread);
    model.setMetric(metric);
    timeLine?.draw();
    applySoon();
  }

  function reset() {
    element('search').value = '';
    timeLine?.set(null);
    flame.zoom(0);
    flame.focus(0);
    applySoon();
  }

  element('app').hidden = false;
  const metrics = element('metric');
  metrics.append(...model.metrics.map(({ name }, i) => new Option(name, String(i))));
  metrics.value = String(data.metric);
  metrics.addEventListener('change', () => choose(Number(metrics.value), wantedThread));
  if (model.threads.length > 0) {
    const threads = element('thread');
    threads.append(...['all threads', ...model.threads].map((name, i) => new Option(name, String(i))));
    threads.value = '0';
    threads.addEventListener('change', () => choose(wantedMetric, Number(threads.value)));
  }
  element('search').addEventListener('input', showSearch);
  element('reset').addEventListener('click', reset);
  if (model.binCount > 0) {
    timeLine = new TimeLine({
      host: element('timeline'),
      from: element('from'),
      to: element('to'),
      model,
      onChange: (interval) => {
        wantedInterval = interval;
        applySoon();
      },
    });
    for (const query of ['print', '(prefers-color-scheme: dark)']) {
      matchMedia(query).addEventListener('change', () => timeLine.draw());
    }
    loadBins(data.metric, 0).then(applySoon);
  }
  showChosen();

  // For tests, and for the browser's console.
  globalThis.treePage = { model, flame, timeLine, words };
})();
