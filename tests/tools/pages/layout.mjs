// Finds problems of a page's layout by measuring in the browser, without inspecting pixels.

/** Runs in the page. */
function measure({ paper }) {
  // Letters are whole screen pixels wide at any scale of the drawing.
  const slack = 2;
  const problems = [];
  const root = document.scrollingElement ?? document.documentElement;
  const width = root.clientWidth;
  if (root.scrollWidth > width) problems.push(`the page is ${root.scrollWidth} wide, the screen ${width}`);
  const isShown = (element) => element.getClientRects().length > 0;
  const name = (element) => `<${element.tagName.toLowerCase()}> "${element.textContent.trim().slice(0, 40)}"`;

  for (const table of document.querySelectorAll('.scroll')) {
    if (isShown(table) && table.scrollWidth > table.clientWidth) {
      problems.push(`a table of ${table.scrollWidth} in ${table.clientWidth}: ${name(table)}`);
    }
  }
  for (const svg of document.querySelectorAll('svg')) {
    // A flame graph has its own width and scrolls on narrower screens.
    if (!isShown(svg) || svg.closest('.flame')) continue;
    const box = svg.getBoundingClientRect();
    if (box.left < 0 || box.right > width + 0.5) {
      problems.push(`a drawing from ${box.left} to ${box.right}: ${svg.getAttribute('aria-label')}`);
    }
    const view = svg.viewBox.baseVal;
    for (const text of svg.querySelectorAll('text')) {
      const { x, y, width: length, height } = text.getBBox();
      if (x < view.x - slack || x + length > view.width + slack || y + height > view.height + 2) {
        problems.push(`a label is cut in its drawing: "${text.textContent}"`);
      }
    }
  }
  for (const image of document.querySelectorAll('img')) {
    if (image.naturalWidth === 0) problems.push(`no picture: ${image.getAttribute('src')}`);
    if (image.getBoundingClientRect().right > width) problems.push('a picture is cut');
  }
  // The picture is in the second column.
  for (const line of document.querySelectorAll('tbody tr')) {
    const place = [...line.children].findIndex((cell) => cell.classList.contains('picture'));
    if (place > 1 && isShown(line)) problems.push(`the picture is column ${place + 1}: ${name(line)}`);
  }
  // Numbers must not wrap; on a narrow screen, each cell is a line with its label.
  for (const cell of document.querySelectorAll('td.n')) {
    const number = [...cell.childNodes].find((node) => node.nodeType === Node.TEXT_NODE);
    if (number === undefined || !isShown(cell)) continue;
    const range = document.createRange();
    range.selectNodeContents(number);
    if (range.getClientRects().length > 1) problems.push(`a number is broken: ${name(cell)}`);
  }
  if (paper) {
    const cards = document.querySelectorAll('.cards > article');
    if (cards.length > 1 && cards[0].offsetTop !== cards[1].offsetTop) problems.push('one card a row');
  }
  return problems.concat(contrasts());

  function contrasts() {
    const channel = (value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    };
    const luminance = ([red, green, blue]) =>
      0.2126 * channel(red) + 0.7152 * channel(green) + 0.0722 * channel(blue);
    const numbers = (color) => color.match(/[\d.]+/g).map(Number);
    const behind = (element) => {
      for (let at = element; at; at = at.parentElement) {
        const color = numbers(getComputedStyle(at).backgroundColor);
        if (color.length === 3 || color[3] !== 0) return color;
      }
      return matchMedia('(prefers-color-scheme: dark)').matches ? [18, 18, 18] : [255, 255, 255];
    };
    const found = new Set();
    for (const element of document.querySelectorAll('h1,h2,h3,p,td,th,a,caption,summary,dt,dd,small,text')) {
      if (!isShown(element) || element.closest('.flame')) continue;
      const style = getComputedStyle(element);
      const one = luminance(numbers(element.tagName === 'text' ? style.fill : style.color));
      const other = luminance(behind(element));
      const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
      if (contrast < 4.5) found.add(`contrast ${contrast.toFixed(1)} of <${element.tagName.toLowerCase()}>`);
    }
    return [...found];
  }
}

/** Returns the problems, empty if none. `paper`: the page is laid out for print. */
export function layoutProblems(page, { paper = false } = {}) {
  return page.evaluate(measure, { paper });
}
