'use strict';

// Two call trees side by side: of the code that left CPUs idle, and of the code that ran next.
// Searches apply to both; each is zoomed and navigated separately.

(() => {
  const element = (id) => document.getElementById(id);

  function sideOf(side) {
    const part = (name) => element(`${side}-${name}`);
    const data = JSON.parse(part('tree').textContent);
    const model = new TreeModel(data);
    const words = (node) => {
      const cost = (sum) => costText(sum, model.metric, model.denominator);
      return `${model.nameOf(node)}: ${cost(model.inclusive[node])}, ${shareText(model.share(model.inclusive[node]))}` +
        `; itself ${cost(model.self[node])}`;
    };
    const flame = new FlameGraph({
      canvas: part('picture'),
      scroller: part('graph'),
      spacer: part('spacer'),
      model,
      colors: data.colors,
      onFocus: (node) => {
        part('told').textContent = words(node);
        part('hovered').textContent = words(node);
      },
      onHover: (node) => { part('hovered').textContent = words(node ?? flame.focused); },
      onZoom: () => {},
    });
    part('hovered').textContent = words(0);
    flame.schedule(true);
    return { model, flame };
  }

  element('app').hidden = false;
  const sides = Object.fromEntries(['to', 'from'].filter((side) => element(`${side}-tree`) !== null)
    .map((side) => [side, sideOf(side)]));
  element('search').addEventListener('input', () => {
    const text = element('search').value;
    for (const { model, flame } of Object.values(sides)) flame.search(text === '' ? null : model.search(text).names);
  });
  element('reset').addEventListener('click', () => {
    element('search').value = '';
    for (const { flame } of Object.values(sides)) {
      flame.search(null);
      flame.zoom(0);
      flame.focus(0);
    }
  });

  // For tests, and for the browser's console.
  globalThis.idlePage = sides;
})();
