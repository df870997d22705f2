// Compares pictures of pages with golden ones at a scale at which the rendering of letters does not matter.

/** One pixel of a golden picture is a square with this many screen pixels per side. */
export const square = 8;
/** The maximum differences, of 255 per channel: the mean of all squares, and the share that differs much. */
export const tolerance = { mean: 1.5, much: 48, share: 0.01 };
const maxHeight = 3200;

/** Runs in an empty page: returns a PNG scaled down, as PNG. */
async function shrink({ png, square: side }) {
  const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob());
  const canvas = document.createElement('canvas');
  canvas.width = Math.ceil(image.width / side);
  canvas.height = Math.ceil(image.height / side);
  const context = canvas.getContext('2d');
  context.imageSmoothingQuality = 'high';
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL('image/png').split(',')[1];
}

/** Runs in an empty page: returns the difference of two PNGs. */
async function distance({ one, other, much }) {
  const pixels = async (png) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob());
    const canvas = document.createElement('canvas');
    canvas.width = image.width;
    canvas.height = image.height;
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    return context.getImageData(0, 0, image.width, image.height);
  };
  const a = await pixels(one);
  const b = await pixels(other);
  if (a.width !== b.width || Math.abs(a.height - b.height) > 1) {
    return { sizes: `${a.width} x ${a.height}, golden ${b.width} x ${b.height}` };
  }
  const squares = a.width * Math.min(a.height, b.height);
  let sum = 0;
  let many = 0;
  for (let i = 0; i < squares; ++i) {
    const apart = [0, 1, 2].map((channel) => Math.abs(a.data[4 * i + channel] - b.data[4 * i + channel]));
    sum += (apart[0] + apart[1] + apart[2]) / 3;
    if (Math.max(...apart) > much) ++many;
  }
  return { mean: sum / squares, share: many / squares };
}

/** `path`: where the picture is stored at full size, for people. */
export async function smallPicture(page, empty, path) {
  const { width, height } = await page.evaluate(() => ({
    width: innerWidth,
    height: document.scrollingElement?.scrollHeight ?? innerHeight,
  }));
  const png = await page.screenshot({
    path,
    fullPage: true,
    animations: 'disabled',
    clip: { x: 0, y: 0, width, height: Math.min(height, maxHeight) },
  });
  return empty.evaluate(shrink, { png: png.toString('base64'), square });
}

/** The differences beyond the tolerance; empty if none. */
export async function pictureProblems(made, golden, empty) {
  const apart = await empty.evaluate(distance, { one: made, other: golden, much: tolerance.much });
  if (apart.sizes) return [`another size: ${apart.sizes}`];
  const problems = [];
  if (apart.mean > tolerance.mean) problems.push(`a mean difference of ${apart.mean.toFixed(2)}`);
  if (apart.share > tolerance.share) {
    problems.push(`${(100 * apart.share).toFixed(2)} % of the squares differ much`);
  }
  return problems;
}
