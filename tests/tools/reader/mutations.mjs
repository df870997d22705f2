// Fragments with random damage, the same each time.

import { encodeMessage, storedFrame } from './encode_fragment.mjs';
import { SECOND_CLASS, SIMPLE_ROWS, bucketOf, scalarsOf } from './sample_rows.mjs';

const COUNT = 4000;

// xorshift32
let state = 35;
function random(limit) {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return (state >>> 0) % limit;
}

const [total, ...others] = SIMPLE_ROWS;
const otherMetric = (row) => ({ ...row, metric: 4, untimed: 1n });
const otherApi = (row) => ({ ...row, symbol: 'inflate', fullestQuarter: null });
const SEEDS = [
  SIMPLE_ROWS,
  [...SIMPLE_ROWS, ...SIMPLE_ROWS.map(otherMetric), ...SIMPLE_ROWS.map(otherApi)],
  [{ ...total, hardware: SECOND_CLASS }],
  [total, ...others.slice(0, 1)],
  [{
    ...total,
    untimed: 20n,
    buckets: [
      bucketOf(0, [0n, 0n], 1000n), bucketOf(1, Array(40).fill(1n), 64000n), bucketOf(40, [2n ** 40n - 1n], 536n),
    ],
    scalars: scalarsOf(3, -1000n, 7n),
    bounded: null,
    fullestQuarter: null,
  }],
];
const MESSAGES = SEEDS.map((rows) => encodeMessage(rows));

// Of the bytes, which mostly is no message any more.
function mutatedBytes() {
  const bytes = [...MESSAGES[random(MESSAGES.length)]];
  for (let left = 1 + random(3); left > 0; --left) {
    const at = random(bytes.length);
    switch (random(8)) {
      case 0: bytes.splice(at, 1); break;
      case 1: bytes.splice(at, 0, random(256)); break;
      case 2: bytes[at] = random(256); break;
      case 3: bytes[at] = [0, 1, 127, 128, 129, 255][random(6)]; break;
      case 4: bytes[at] = (bytes[at] + 1) & 255; break;
      case 5: bytes[at] = (bytes[at] + 255) & 255; break;
      default: bytes[at] ^= 1 << random(8);
    }
  }
  return Uint8Array.from(bytes);
}

// Of single numbers.
function mutateNumbers(list) {
  for (let left = 1 + random(2); left > 0; --left) {
    const each = list[random(list.length)];
    if (each.byte !== undefined) {
      each.byte = random(3) === 0 ? random(256) : each.byte ^ (1 << random(5));
    } else {
      const near = each.number + BigInt(random(9)) - 4n;
      each.number = random(3) === 0 ? each.number ^ (1n << BigInt(random(128))) : near < 0n ? 0n : near;
    }
  }
}
const mutatedNumbers = () => encodeMessage(SEEDS[random(SEEDS.length)], { numbers: mutateNumbers });

export const MUTATIONS = Array.from({ length: COUNT }, () =>
  storedFrame(random(3) === 0 ? mutatedBytes() : mutatedNumbers()));
