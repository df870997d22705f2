'use strict';

// The cost over time, drawn by uPlot, and the interval selected in it: with the mouse in the picture,
// or with two sliders by keyboard. The interval's ends are edges of bins.

class TimeLine {
  // onChange({from, to} or null): indices of edges.
  constructor({ host, from, to, model, onChange }) {
    Object.assign(this, { host, from, to, model, onChange });
    for (const slider of [from, to]) slider.max = String(model.binCount);
    from.addEventListener('input', () => this.set({
      from: Math.min(from.valueAsNumber, model.binCount - 1),
      to: Math.max(to.valueAsNumber, from.valueAsNumber + 1),
    }));
    to.addEventListener('input', () => this.set({
      from: Math.min(from.valueAsNumber, to.valueAsNumber - 1),
      to: Math.max(to.valueAsNumber, 1),
    }));
    this.interval = null;
    this.seconds = model.edges.map((edge) => Number(edge) / 1e9);
    this.draw();
    new ResizeObserver(() => this.#resize()).observe(host);
  }

  // Clamps the interval; null selects everything.
  set(interval) {
    const { model } = this;
    const from = Math.max(0, interval?.from ?? 0);
    const to = Math.min(model.binCount, interval?.to ?? model.binCount);
    this.interval = from === 0 && to === model.binCount ? null : { from, to };
    this.#show();
    this.onChange(this.interval);
  }

  // "1.5s..2s"; "" for everything.
  text() {
    if (this.interval === null) return '';
    const { edges } = this.model;
    return `${timeText(edges[this.interval.from])}..${timeText(edges[this.interval.to])}`;
  }

  // Draws again, for another metric or thread, or in other colours.
  draw() {
    this.plot?.destroy();
    const { model, seconds } = this;
    const { metric, denominator } = model;
    const style = getComputedStyle(this.host);
    const ink = style.getPropertyValue('--ink');
    const line = style.getPropertyValue('--line');
    const { totals } = model;
    const axis = { stroke: ink, grid: { stroke: line }, ticks: { stroke: line } };
    this.plot = new uPlot({
      width: this.#width(),
      height: 140,
      legend: { show: false },
      scales: {
        x: { time: false, range: [seconds[0], seconds.at(-1)] },
        y: { range: [0, Math.max(1, ...totals) * 1.05] },
      },
      axes: [
        { ...axis, values: (_, places) => places.map((place) => `${Number(place.toPrecision(6))} s`), size: 32 },
        {
          ...axis,
          values: (_, places) => places.map((place) => costText(place, metric, denominator)),
          size: 72,
          space: 36,
        },
      ],
      series: [{}, {
        stroke: '#4a6fa5',
        fill: '#5f78a8',
        paths: uPlot.paths.stepped({ align: 1 }),
        points: { show: false },
      }],
      cursor: { drag: { x: true, y: false, setScale: false }, points: { show: false }, y: false },
      hooks: { setSelect: [(plot) => this.#selected(plot)] },
    }, [seconds, [...totals, totals.at(-1) ?? 0]], this.host);
    // uPlot suppresses the click at the end of a drag.
    this.plot.over.addEventListener('click', () => this.set(null));
    this.#show();
  }

  #width() {
    return Math.max(200, this.host.clientWidth);
  }

  #resize() {
    if (this.plot.width === this.#width()) return;
    this.plot.setSize({ width: this.#width(), height: 140 });
    this.#show();
  }

  #selected(plot) {
    const { left, width } = plot.select;
    if (this.isShowing || width <= 0) return;
    const edge = (pixel) => this.#nearestEdge(plot.posToVal(pixel, 'x'));
    const from = Math.min(edge(left), this.model.binCount - 1);
    this.set({ from, to: Math.max(edge(left + width), from + 1) });
  }

  #nearestEdge(second) {
    const { seconds } = this;
    let low = 0;
    let high = seconds.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (seconds[middle] < second) low = middle + 1;
      else high = middle;
    }
    return low > 0 && second - seconds[low - 1] < seconds[low] - second ? low - 1 : low;
  }

  #show() {
    const { model, seconds } = this;
    const { from, to } = this.interval ?? { from: 0, to: model.binCount };
    for (const [slider, edge] of [[this.from, from], [this.to, to]]) {
      slider.value = String(edge);
      slider.setAttribute('aria-valuetext', timeText(model.edges[edge]));
    }
    const left = this.plot.valToPos(seconds[from], 'x');
    const width = this.interval === null ? 0 : this.plot.valToPos(seconds[to], 'x') - left;
    this.isShowing = true;
    this.plot.setSelect({ left, width, top: 0, height: this.plot.over.clientHeight }, false);
    this.isShowing = false;
  }
}
