// The rules for texts in published files (common/wire/READING.md). Pure.

import { corrupt } from './errors.mjs';
import * as limits from './limits.mjs';

/** @typedef {[number, number][]} Ranges first and last code points */

// Blanks, invisible characters, and those that change the direction of others, without ASCII.
/** @type {Ranges} */
const NOT_IN_SYMBOLS = [
  [0x80, 0xa0], [0xad, 0xad], [0x61c, 0x61c], [0x1680, 0x1680], [0x180e, 0x180e], [0x2000, 0x200f], [0x2028, 0x202f],
  [0x205f, 0x206f], [0x3000, 0x3000], [0xfe00, 0xfe0f], [0xfeff, 0xfeff], [0xfff0, 0xffff], [0xe0000, 0xe0fff],
];

// Control and format characters, and the backslash.
/** @type {Ranges} */
const NOT_IN_STATEMENTS = [
  [0x0, 0x1f], [0x5c, 0x5c], [0x7f, 0x9f], [0xad, 0xad], [0x61c, 0x61c], [0x180e, 0x180e], [0x200b, 0x200f],
  [0x2028, 0x202e], [0x2060, 0x206f], [0xfeff, 0xfeff], [0xfff9, 0xfffb], [0x13430, 0x1343f], [0x1bca0, 0x1bca3],
  [0x1d173, 0x1d17a], [0xe0000, 0xe007f],
];

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The text, or undefined if it is not UTF-8 or has a character of the ranges.
 * @param {Uint8Array} untrusted
 * @param {Ranges} refused
 */
function decode(untrusted, refused) {
  let text;
  try {
    text = UTF8.decode(untrusted);
  } catch {
    return undefined;
  }
  for (const character of text) {
    const point = /** @type {number} */ (character.codePointAt(0));
    if (refused.some(([first, last]) => first <= point && point <= last)) return undefined;
  }
  return text;
}

/** @param {Uint8Array} bytes */
const isVisibleAscii = (bytes) => bytes.every((byte) => byte > 0x20 && byte < 0x7f);

/** @param {Uint8Array} bytes */
const ascii = (bytes) => String.fromCharCode(...bytes);

/**
 * Printable ASCII without spaces.
 * @param {string} name
 * @param {Uint8Array} untrusted
 * @param {number} maxBytes
 * @param {{ required?: boolean }} [options]
 */
export function checkedText(name, untrusted, maxBytes, { required = false } = {}) {
  if (required && untrusted.length === 0) corrupt(`${name} is empty`);
  if (untrusted.length > maxBytes) corrupt(`${name} has ${untrusted.length} bytes, at most ${maxBytes} are accepted`);
  if (!isVisibleAscii(untrusted)) corrupt(`${name} is not printable ASCII without spaces`);
  return ascii(untrusted);
}

/** @param {Uint8Array} untrusted */
export function checkedSoname(untrusted) {
  const soname = checkedText('soname', untrusted, limits.MAX_SONAME_BYTES, { required: true });
  if (/[/!]/.test(soname)) corrupt("soname contains '/' or '!'");
  return soname;
}

/** @param {Uint8Array} untrusted */
export function checkedBuildId(untrusted) {
  const id = checkedText('build-id', untrusted, limits.MAX_BUILD_ID_BYTES);
  if (!/^([0-9a-f]{2})*$/.test(id)) corrupt('build-id is not lower-case hexadecimal');
  return id;
}

/**
 * UTF-8 without blanks and invisible characters.
 * @param {Uint8Array} untrusted
 */
export function checkedSymbol(untrusted) {
  if (untrusted.length === 0 || untrusted.length > limits.MAX_SYMBOL_BYTES) {
    corrupt(`symbol of ${untrusted.length} bytes, 1 to ${limits.MAX_SYMBOL_BYTES} are accepted`);
  }
  const isVisible = untrusted.every((byte) => byte > 0x20 && byte !== 0x7f);
  const symbol = isVisible ? decode(untrusted, NOT_IN_SYMBOLS) : undefined;
  return symbol ?? corrupt('symbol is not UTF-8 without spaces and invisible characters');
}

/**
 * One line of UTF-8 of the operator: without control and invisible characters and backslashes.
 * @param {string} name
 * @param {Uint8Array} untrusted
 * @param {number} maxBytes
 */
export function checkedStatement(name, untrusted, maxBytes) {
  if (untrusted.length > maxBytes) corrupt(`${name} has ${untrusted.length} bytes, at most ${maxBytes} are accepted`);
  return decode(untrusted, NOT_IN_STATEMENTS) ?? corrupt(`${name} is not a line of UTF-8 without invisible characters`);
}
