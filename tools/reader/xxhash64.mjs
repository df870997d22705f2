// XXH64 with the seed 0, whose low 32 bits are the content checksum of a zstd frame (RFC 8878, section 3.1.1). Pure.
//
// A 64-bit number is two 32-bit halves, because BigInt would take twenty times as long.

/**
 * @typedef {[number, number]} Half two 32-bit integers, low first
 */

/** @type {Half} */ const PRIME_1 = [0x85ebca87, 0x9e3779b1];
/** @type {Half} */ const PRIME_2 = [0x27d4eb4f, 0xc2b2ae3d];
/** @type {Half} */ const PRIME_3 = [0x9e3779f9, 0x165667b1];
/** @type {Half} */ const PRIME_4 = [0xc2b2ae63, 0x85ebca77];
/** @type {Half} */ const PRIME_5 = [0x165667c5, 0x27d4eb2f];

/**
 * The upper half of the product of two 32-bit numbers.
 * @param {number} a
 * @param {number} b
 */
function multiplyHigh(a, b) {
  const [a0, a1, b0, b1] = [a & 0xffff, a >>> 16, b & 0xffff, b >>> 16];
  const middle = a1 * b0 + ((a0 * b0) >>> 16);
  const other = a0 * b1 + (middle & 0xffff);
  return (a1 * b1 + Math.floor(middle / 65536) + Math.floor(other / 65536)) | 0;
}

/**
 * x = x * y
 * @param {Half} x
 * @param {Half} y
 */
function multiply(x, y) {
  const high = multiplyHigh(x[0], y[0]) + Math.imul(x[0], y[1]) + Math.imul(x[1], y[0]);
  x[0] = Math.imul(x[0], y[0]);
  x[1] = high | 0;
}

/**
 * x = x + (low, high)
 * @param {Half} x
 * @param {number} low
 * @param {number} high
 */
function add(x, low, high) {
  const sum = (x[0] >>> 0) + (low >>> 0);
  x[0] = sum | 0;
  x[1] = (x[1] + high + (sum > 0xffffffff ? 1 : 0)) | 0;
}

/**
 * @param {Half} x
 * @param {number} bits 1 to 63, not 32
 */
function rotateLeft(x, bits) {
  let [low, high] = x;
  if (bits > 32) {
    [low, high] = [high, low];
    bits -= 32;
  }
  x[0] = (low << bits) | (high >>> (32 - bits));
  x[1] = (high << bits) | (low >>> (32 - bits));
}

/**
 * x = x ^ (x >>> bits)
 * @param {Half} x
 * @param {number} bits 1 to 63
 */
function mixShifted(x, bits) {
  const [low, high] = x;
  if (bits >= 32) {
    x[0] = low ^ (high >>> (bits - 32));
  } else {
    x[0] = low ^ ((low >>> bits) | (high << (32 - bits)));
    x[1] = high ^ (high >>> bits);
  }
}

/**
 * @param {Half} lane
 * @param {number} low
 * @param {number} high
 */
function round(lane, low, high) {
  /** @type {Half} */
  const input = [low, high];
  multiply(input, PRIME_2);
  add(lane, input[0], input[1]);
  rotateLeft(lane, 31);
  multiply(lane, PRIME_1);
}

/**
 * @param {Half} hash
 * @param {Half} lane
 */
function mergeLane(hash, lane) {
  /** @type {Half} */
  const mixed = [0, 0];
  round(mixed, lane[0], lane[1]);
  hash[0] ^= mixed[0];
  hash[1] ^= mixed[1];
  multiply(hash, PRIME_1);
  add(hash, PRIME_4[0], PRIME_4[1]);
}

/**
 * Mixes what is left after the stripes of 32 bytes.
 * @param {Half} hash
 * @param {DataView} view
 * @param {number} position
 */
function mixRest(hash, view, position) {
  for (; position + 8 <= view.byteLength; position += 8) {
    /** @type {Half} */
    const mixed = [0, 0];
    round(mixed, view.getInt32(position, true), view.getInt32(position + 4, true));
    hash[0] ^= mixed[0];
    hash[1] ^= mixed[1];
    rotateLeft(hash, 27);
    multiply(hash, PRIME_1);
    add(hash, PRIME_4[0], PRIME_4[1]);
  }
  if (position + 4 <= view.byteLength) {
    /** @type {Half} */
    const word = [view.getInt32(position, true), 0];
    multiply(word, PRIME_1);
    hash[0] ^= word[0];
    hash[1] ^= word[1];
    rotateLeft(hash, 23);
    multiply(hash, PRIME_2);
    add(hash, PRIME_3[0], PRIME_3[1]);
    position += 4;
  }
  for (; position < view.byteLength; ++position) {
    /** @type {Half} */
    const word = [view.getUint8(position), 0];
    multiply(word, PRIME_5);
    hash[0] ^= word[0];
    hash[1] ^= word[1];
    rotateLeft(hash, 11);
    multiply(hash, PRIME_1);
  }
}

/**
 * The low 32 bits of the hash.
 * @param {Uint8Array} bytes
 */
export function lowXxhash64(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  /** @type {Half} */
  let hash = [PRIME_5[0], PRIME_5[1]];
  let position = 0;
  if (bytes.length >= 32) {
    /** @type {Half[]} */
    const lanes = [[PRIME_1[0], PRIME_1[1]], [PRIME_2[0], PRIME_2[1]], [0, 0], [-PRIME_1[0], ~PRIME_1[1]]];
    add(lanes[0], PRIME_2[0], PRIME_2[1]);
    for (; position + 32 <= bytes.length; position += 32) {
      for (let i = 0; i < 4; ++i) {
        const at = position + 8 * i;
        round(lanes[i], view.getInt32(at, true), view.getInt32(at + 4, true));
      }
    }
    hash = [0, 0];
    [1, 7, 12, 18].forEach((bits, i) => {
      /** @type {Half} */
      const turned = [lanes[i][0], lanes[i][1]];
      rotateLeft(turned, bits);
      add(hash, turned[0], turned[1]);
    });
    for (const lane of lanes) mergeLane(hash, lane);
  }
  add(hash, bytes.length, 0);
  mixRest(hash, view, position);
  mixShifted(hash, 33);
  multiply(hash, PRIME_2);
  mixShifted(hash, 29);
  multiply(hash, PRIME_3);
  mixShifted(hash, 32);
  return hash[0] >>> 0;
}
