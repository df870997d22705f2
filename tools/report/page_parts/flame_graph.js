'use strict';

// A flame graph on a canvas: callers above their callees. Draws only visible rows, and in them only
// visible frames, so the cost of a picture depends on the screen, not on the tree.

const flameRow = 18; // pixels
const flameLeast = 1;
const flameLeastLabel = 24;

class FlameGraph {
  // onFocus(node), onHover(node or null), onZoom(node)
  constructor({ canvas, scroller, spacer, model, colors, onFocus, onHover, onZoom }) {
    Object.assign(this, { canvas, scroller, spacer, model, colors, onFocus, onHover, onZoom });
    this.context = canvas.getContext('2d');
    this.zoomed = 0;
    this.focused = 0;
    this.found = null;
    this.placed = [];
    this.rows = 1;
    this.drawn = 0; // frames of the last picture
    scroller.addEventListener('scroll', () => this.schedule(false), { passive: true });
    canvas.addEventListener('mousemove', (event) => this.onHover(this.nodeAt(event)));
    canvas.addEventListener('mouseleave', () => this.onHover(null));
    canvas.addEventListener('click', (event) => this.#click(event));
    canvas.addEventListener('keydown', (event) => this.#key(event));
    canvas.addEventListener('focus', () => this.schedule(false));
    canvas.addEventListener('blur', () => this.schedule(false));
    new ResizeObserver(() => this.schedule(true)).observe(scroller);
  }

  // Draws with the screen's next frame; `anew`: positions must be computed again.
  schedule(anew) {
    this.isStale ||= anew;
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
    });
  }

  zoom(node) {
    this.zoomed = node;
    this.schedule(true);
    this.onZoom(node);
  }

  focus(node) {
    this.focused = node;
    if (!this.model.isBelow(node, this.zoomed) && !this.model.isBelow(this.zoomed, node)) {
      this.zoom(this.model.parent[node]);
    }
    const top = this.#rowOf(node) * flameRow;
    const { scrollTop, clientHeight } = this.scroller;
    if (top < scrollTop) this.scroller.scrollTop = top;
    if (top + flameRow > scrollTop + clientHeight) this.scroller.scrollTop = top + flameRow - clientHeight;
    this.schedule(false);
    this.onFocus(node);
  }

  // `names` [frame]: the matching ones, or null.
  search(names) {
    this.found = names;
    this.schedule(false);
  }

  nodeAt({ offsetX, offsetY }) {
    const row = Math.floor((offsetY + this.scroller.scrollTop) / flameRow);
    const frame = this.placed.find((one) => one.row === row && offsetX >= one.left && offsetX < one.left + one.width);
    return frame === undefined ? null : frame.node;
  }

  draw() {
    const width = this.scroller.clientWidth;
    if (this.isStale) {
      this.isStale = false;
      this.placed = this.model.place(this.zoomed, width, flameLeast);
      this.rows = this.placed.reduce((most, { row }) => Math.max(most, row + 1), 1);
      this.spacer.style.height = `${this.rows * flameRow}px`;
    }
    const height = Math.min(this.scroller.clientHeight, this.rows * flameRow);
    const scale = window.devicePixelRatio;
    this.canvas.width = Math.round(width * scale);
    this.canvas.height = Math.round(height * scale);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    const { context } = this;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.font = '12px monospace';
    this.letter = context.measureText('0').width;
    this.drawn = 0;
    const top = this.scroller.scrollTop;
    for (const frame of this.placed) {
      const y = frame.row * flameRow - top;
      if (y > -flameRow && y < height) this.#drawFrame(frame, y);
    }
  }

  #rowOf(node) {
    return this.model.pathOf(node).length;
  }

  #drawFrame({ node, left, width }, y) {
    const { context } = this;
    ++this.drawn;
    const isOther = this.found !== null && this.found[this.model.frame[node]] === 0;
    const fill = isOther ? '#e4e4e7' : this.#fillOf(node);
    const seen = Math.max(flameLeast, width - 0.5);
    context.fillStyle = fill;
    context.fillRect(left, y, seen, flameRow - 1);
    const { model } = this;
    if (model.isDifference && model.where[node] === 2) this.#outline(left, y, seen, '#111', 1.5);
    if (this.found !== null && !isOther) this.#outline(left, y, seen, '#a3005c', 2);
    if (node === this.focused && document.activeElement === this.canvas) {
      this.#outline(left, y, seen, '#fff', 3);
      this.#outline(left, y, seen, '#111', 1.5);
    }
    if (width < flameLeastLabel) return;
    const letters = Math.floor((width - 6) / this.letter);
    context.fillStyle = this.#inkOn(fill);
    context.fillText(model.shortNameOf(node, letters), left + 3, y + 13, width - 6);
  }

  #outline(left, y, width, color, thickness) {
    const { context } = this;
    context.strokeStyle = color;
    context.lineWidth = thickness;
    const inset = Math.min(thickness, width) / 2;
    context.strokeRect(left + inset, y + inset, Math.max(0, width - 2 * inset), flameRow - 1 - 2 * inset);
  }

  #fillOf(node) {
    const { model, colors } = this;
    if (!model.isDifference) {
      const share = model.share(model.self[node]);
      const last = colors.scale.length - 1;
      return colors.scale[share > 0 ? Math.max(0, Math.min(last, last + 1 + Math.floor(Math.log2(share)))) : 0];
    }
    if (model.where[node] === 1) return this.#hatching();
    if (model.isUncertain(node)) return colors.uncertain;
    const change = Number(model.change(node));
    const part = Math.abs(change) / Number(model.width[node]);
    const heat = colors.parts.findLastIndex((least) => part >= least);
    if (heat < 0) return colors.same;
    return change > 0 ? colors.more[heat] : colors.less[heat];
  }

  #hatching() {
    if (this.hatched !== undefined) return this.hatched;
    const tile = document.createElement('canvas');
    tile.width = 6;
    tile.height = 6;
    const context = tile.getContext('2d');
    context.fillStyle = this.colors.goneGround;
    context.fillRect(0, 0, 6, 6);
    context.strokeStyle = this.colors.goneStripe;
    context.lineWidth = 2;
    context.beginPath();
    for (const x of [-6, 0, 6]) {
      context.moveTo(x - 1, 7);
      context.lineTo(x + 7, -1);
    }
    context.stroke();
    this.hatched = this.context.createPattern(tile, 'repeat');
    return this.hatched;
  }

  // Black or white, whichever has more contrast with `fill`.
  #inkOn(fill) {
    if (typeof fill !== 'string') return '#111';
    const channel = (at) => {
      const part = parseInt(fill.slice(at, at + 2), 16) / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    };
    const light = 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
    return light > 0.18 ? '#111' : '#fff';
  }

  #click(event) {
    const node = this.nodeAt(event);
    if (node === null) return;
    this.zoom(node);
    this.focus(node);
  }

  #key(event) {
    const node = this.#keyTarget(event.key);
    if (node === null) return;
    event.preventDefault();
    if (event.key === 'Enter' || event.key === ' ' || event.key === 'Escape') this.zoom(node);
    this.focus(node);
  }

  #keyTarget(key) {
    const { model, focused } = this;
    const siblings = focused === 0 ? [0] : [...model.childrenOf(model.parent[focused])];
    const place = siblings.indexOf(focused);
    switch (key) {
      case 'ArrowUp': return model.parent[focused];
      case 'ArrowDown': return model.childrenOf(focused)[0] ?? focused;
      case 'ArrowLeft': return siblings[Math.max(0, place - 1)] ?? 0;
      case 'ArrowRight': return siblings[Math.min(siblings.length - 1, place + 1)] ?? 0;
      case 'Enter':
      case ' ': return focused;
      case 'Home':
      case 'Escape': return 0;
      default: return null;
    }
  }
}
