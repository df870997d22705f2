'use strict';

// The call trees of a page: exact sums, and the positions of frames in the picture. Independent of the
// DOM. Sums are numbers if all of a metric's are below 2^53, else BigInt; only operators that both
// types support (+, -, comparisons) are used on them.

class TreeModel {
  constructor(tree) {
    this.names = tree.names;
    this.pieces = new Map((tree.pieces ?? []).map(([name, ...pieces]) => [name, pieces]));
    this.isDifference = tree.difference;
    this.denominator = Number(tree.denominator);
    this.metrics = tree.metrics;
    this.edges = (tree.edges ?? []).map(BigInt);
    this.parent = Uint32Array.from(tree.parent);
    this.frame = Uint32Array.from(tree.frame);
    this.where = Uint8Array.from(tree.where);
    this.count = this.parent.length;
    this.#findChildren();
    this.threads = tree.threads ?? []; // the first has number 1; 0 is all of them
    this.bins = [0, ...this.threads].map(() => this.metrics.map(() => []));
    this.thread = 0;
    this.setMetric(tree.metric);
  }

  get binCount() {
    return Math.max(0, this.edges.length - 1);
  }

  nameOf(node) {
    return node === 0 ? 'all' : this.names[this.frame[node] - 1];
  }

  // The node's name in at most `letters` characters.
  shortNameOf(node, letters) {
    return shortName(this.nameOf(node), this.pieces.get(this.frame[node] - 1), letters);
  }

  // The path from the outermost caller to the node itself, without the root.
  pathOf(node) {
    const path = [];
    for (let at = node; at !== 0; at = this.parent[at]) path.push(at);
    return path.reverse();
  }

  setMetric(number) {
    this.metricNumber = number;
    this.metric = this.metrics[number];
    this.summed = null; // the interval whose bins are in this.self
    this.certain = null;
    if (this.metric.certain !== undefined) {
      this.certain = new Map();
      const { certain } = this.metric;
      for (let i = 0; i < certain.length; i += 2) this.certain.set(certain[i], certain[i + 1]);
    }
    this.setInterval(null);
  }

  // Selects a thread; 0: all. The caller then calls setMetric() or setInterval().
  setThread(number) {
    this.thread = number;
    this.summed = null;
  }

  // The total of each bin.
  get totals() {
    if (this.thread === 0) return this.metric.totals.map(Number);
    return this.bins[this.thread][this.metricNumber]
      .map(({ values }) => values.reduce((sum, value) => sum + Number(value), 0));
  }

  // Appends bins, each as [step, value, ...].
  addBins(metric, bins, thread = 0) {
    for (const bin of bins) {
      const nodes = new Uint32Array(bin.length / 2);
      const values = this.#zeros(nodes.length, metric);
      let node = 0;
      for (let i = 0; i < nodes.length; ++i) {
        node += bin[2 * i];
        nodes[i] = node;
        values[i] = this.#value(bin[2 * i + 1], metric);
      }
      this.bins[thread][metric].push({ nodes, values });
    }
  }

  hasBins() {
    return this.binCount > 0 && this.bins[this.thread][this.metricNumber].length === this.binCount;
  }

  // {from, to}: indices of edges; null: everything. Adds and subtracts only the difference to the
  // previous interval. REQUIRES: null with all threads, or hasBins() and from < to.
  setInterval(interval) {
    if (interval === null && this.thread === 0) {
      this.self = this.#values(this.metric.self);
      this.summed = null;
    } else {
      const wanted = interval ?? { from: 0, to: this.binCount };
      if (this.summed === null) this.self = this.#zeros(this.count, this.metricNumber);
      let { from, to } = this.summed ?? { from: wanted.from, to: wanted.from };
      while (from > wanted.from) this.#addBin(--from, 1);
      while (to < wanted.to) this.#addBin(to++, 1);
      while (from < wanted.from) this.#addBin(from++, -1);
      while (to > wanted.to) this.#addBin(--to, -1);
      this.summed = wanted;
    }
    this.interval = interval;
    this.#addUp();
  }

  get zero() {
    return this.metric.big ? 0n : 0;
  }

  // The previous cost of a node and those below it; 0 if this is not a difference.
  before(node) {
    return this.inclusiveBefore === null ? this.zero : this.inclusiveBefore[node];
  }

  selfBeforeOf(node) {
    return this.selfBefore === null ? this.zero : this.selfBefore[node];
  }

  change(node) {
    return this.inclusive[node] - this.before(node);
  }

  selfChange(node) {
    return this.self[node] - this.selfBeforeOf(node);
  }

  // The share of the whole, relative to its greater side.
  share(value) {
    const all = Math.max(Number(this.inclusive[0]), Number(this.before(0)));
    return all === 0 ? 0 : Number(value) / all;
  }

  isUncertain(node) {
    return this.certain !== null && !this.certain.has(node);
  }

  // Children in descending order of width, without those that cost nothing.
  childrenOf(node) {
    let sorted = this.sorted.get(node);
    if (sorted === undefined) {
      sorted = this.child.slice(this.firstChild[node], this.firstChild[node + 1])
        .filter((child) => this.width[child] > 0)
        .sort((a, b) => (this.width[b] > this.width[a] ? 1 : this.width[b] < this.width[a] ? -1 : a - b));
      this.sorted.set(node, sorted);
    }
    return sorted;
  }

  isBelow(node, root) {
    let at = node;
    while (at > root) at = this.parent[at];
    return at === root;
  }

  // The frames of a picture of `pixels` width: `root` and its callers span all of it; callees are below.
  // Omits frames narrower than `least` pixels, with everything below them.
  place(root, pixels, least) {
    const frames = [{ node: 0, left: 0, width: pixels, row: 0 }];
    for (const node of this.pathOf(root)) frames.push({ node, left: 0, width: pixels, row: frames.length });
    const all = Number(this.width[root]);
    const open = all > 0 ? [{ node: root, before: 0, row: frames.length - 1 }] : [];
    while (open.length > 0) {
      const { node, before, row } = open.pop();
      let left = before;
      for (const child of this.childrenOf(node)) {
        const width = Number(this.width[child]);
        if ((width / all) * pixels < least) break;
        frames.push({ node: child, left: (left / all) * pixels, width: (width / all) * pixels, row: row + 1 });
        open.push({ node: child, before: left, row: row + 1 });
        left += width;
      }
    }
    return frames;
  }

  // Which names contain the text, the number of their nodes, and the cost of these; nested calls count
  // once.
  search(text) {
    this.lowerNames ??= this.names.map((name) => name.toLowerCase());
    const wanted = text.toLowerCase();
    const names = new Uint8Array(this.names.length + 1);
    this.lowerNames.forEach((name, i) => {
      if (name.includes(wanted)) names[i + 1] = 1;
    });
    const inside = new Uint8Array(this.count);
    let nodes = 0;
    let sum = this.zero;
    for (let node = 1; node < this.count; ++node) {
      const caller = inside[this.parent[node]];
      const found = names[this.frame[node]];
      inside[node] = caller | found;
      if (!found || !(this.width[node] > 0)) continue;
      ++nodes;
      if (!caller) sum += this.inclusive[node];
    }
    return { names, nodes, sum };
  }

  // The nodes below `root` with the highest self cost, or the greatest change; certain changes come
  // before all others.
  heaviest(root, most) {
    const inside = new Uint8Array(this.count);
    inside[root] = 1;
    const best = [];
    const weight = (node) => {
      const change = this.isDifference ? this.selfChange(node) : this.self[node];
      return change < 0 ? -change : change;
    };
    const leads = (node, own, other) => {
      if (this.isUncertain(node) !== this.isUncertain(other.node)) return this.isUncertain(other.node);
      return own > other.own;
    };
    for (let node = Math.max(1, root); node < this.count; ++node) {
      if (node !== root) inside[node] = inside[this.parent[node]];
      if (!inside[node]) continue;
      const own = weight(node);
      if (!(own > 0) || (best.length === most && !leads(node, own, best[most - 1]))) continue;
      let place = best.length;
      while (place > 0 && leads(node, own, best[place - 1])) --place;
      best.splice(place, 0, { node, own });
      best.length = Math.min(best.length, most);
    }
    return best.map(({ node }) => node);
  }

  #findChildren() {
    this.firstChild = new Uint32Array(this.count + 1);
    for (let node = 1; node < this.count; ++node) ++this.firstChild[this.parent[node] + 1];
    for (let node = 0; node < this.count; ++node) this.firstChild[node + 1] += this.firstChild[node];
    const next = this.firstChild.slice();
    this.child = new Uint32Array(Math.max(0, this.count - 1));
    for (let node = 1; node < this.count; ++node) this.child[next[this.parent[node]]++] = node;
  }

  #zeros(count, metric) {
    return this.metrics[metric].big ? new Array(count).fill(0n) : new Float64Array(count);
  }

  #value(value, metric) {
    return this.metrics[metric].big ? BigInt(value) : value;
  }

  #values(list) {
    return this.metric.big ? list.map(BigInt) : Float64Array.from(list);
  }

  #addBin(number, sign) {
    const { nodes, values } = this.bins[this.thread][this.metricNumber][number];
    if (sign > 0) {
      for (let i = 0; i < nodes.length; ++i) this.self[nodes[i]] += values[i];
    } else {
      for (let i = 0; i < nodes.length; ++i) this.self[nodes[i]] -= values[i];
    }
  }

  // A single pass: callees come after their callers.
  #sums(own, more) {
    const sums = own.slice();
    for (let i = 0; i < (more?.length ?? 0); i += 2) sums[more[i]] += this.#value(more[i + 1], this.metricNumber);
    for (let node = this.count - 1; node > 0; --node) sums[this.parent[node]] += sums[node];
    return sums;
  }

  #addUp() {
    const { metric } = this;
    this.sorted = new Map();
    this.selfBefore = this.isDifference ? this.#values(metric.before) : null;
    this.inclusive = this.#sums(this.self, metric.more);
    this.inclusiveBefore = this.isDifference ? this.#sums(this.selfBefore, metric.moreBefore) : null;
    if (this.isDifference) {
      const { self, selfBefore } = this;
      this.width = this.#sums(self.map((value, i) => (value > selfBefore[i] ? value : selfBefore[i])));
    } else {
      this.width = metric.more === undefined ? this.inclusive : this.#sums(this.self);
    }
  }
}
