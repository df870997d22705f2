// Parses protobuf messages (common/wire/READING.md, "Encodings"). Columns of numbers stay encoded until their lengths
// have been compared, so that they cost no memory before.

import { corrupt } from './errors.mjs';
import { MAX_NESTING } from './limits.mjs';

/**
 * A field: its number, and the type of its value. `message` is the definition of a sub-message.
 * @typedef {'bytes' | 'uint32' | 'uint64' | 'int64' | 'bool' | 'message'} Type
 * @typedef {{ number: number, type: Type, repeated?: boolean, message?: Definition }} Field
 * @typedef {Record<string, Field>} Definition
 */

const END = 'message ends early';

/** A repeated field of numbers, still encoded. */
export class Column {
  /** @param {Uint8Array} bytes the message in which the column is */
  constructor(bytes) {
    this.bytes = bytes;
    /** @type {number[]} the position and the number of values of each part */
    this.parts = [];
    /** The number of values. */
    this.length = 0;
  }

  /**
   * The values modulo 2^32.
   * @returns {Uint32Array}
   */
  uint32() {
    const values = new Uint32Array(this.length);
    this.#forEach((i, low) => { values[i] = low; });
    return values;
  }

  /** @returns {BigUint64Array} */
  uint64() {
    const values = new BigUint64Array(this.length);
    this.#forEach((i, low, high) => { values[i] = high === 0 ? BigInt(low) : (BigInt(high) << 32n) | BigInt(low); });
    return values;
  }

  /** @param {(index: number, low: number, high: number) => void} visit */
  #forEach(visit) {
    const cursor = new Cursor(this.bytes, 0, this.bytes.length);
    let index = 0;
    for (let part = 0; part < this.parts.length; part += 2) {
      cursor.position = this.parts[part];
      for (let left = this.parts[part + 1]; left > 0; --left) {
        cursor.varint();
        visit(index++, cursor.low, cursor.high);
      }
    }
  }
}

/** A position in encoded bytes. */
class Cursor {
  /**
   * @param {Uint8Array} bytes
   * @param {number} position
   * @param {number} end
   */
  constructor(bytes, position, end) {
    this.bytes = bytes;
    this.position = position;
    this.end = end;
    // The halves of the number that varint() has read, each 0 to 2^32 - 1.
    this.low = 0;
    this.high = 0;
  }

  byte() {
    if (this.position >= this.end) corrupt(END);
    return this.bytes[this.position++];
  }

  // A number of at most 10 bytes, modulo 2^64.
  varint() {
    let byte = this.byte();
    let low = byte & 127;
    let high = 0;
    for (let shift = 7; byte >= 128; shift += 7) {
      if (shift > 63) corrupt('a number of more than 10 bytes');
      byte = this.byte();
      const bits = byte & 127;
      if (shift < 32) low |= bits << shift;
      if (shift > 25) high |= shift < 32 ? bits >>> (32 - shift) : bits << (shift - 32);
    }
    this.low = low >>> 0;
    this.high = high >>> 0;
  }

  // A tag or a length: at most 5 bytes, modulo 2^32.
  short() {
    const begin = this.position;
    this.varint();
    if (this.position - begin > 5) corrupt('a tag or length of more than 5 bytes');
    return this.low;
  }

  // A length, and the end of what has it.
  lengthEnd() {
    const length = this.short();
    if (length > this.end - this.position) corrupt(END);
    return this.position + length;
  }

  /** @param {number} count */
  skip(count) {
    if (count > this.end - this.position) corrupt(END);
    this.position += count;
  }
}

/**
 * @param {Cursor} cursor
 * @param {number} tag
 * @param {number} depth the messages and groups that may still begin
 */
function skipUnknown(cursor, tag, depth) {
  switch (tag & 7) {
    case 0: return cursor.varint();
    case 1: return cursor.skip(8);
    case 2: cursor.position = cursor.lengthEnd(); return;
    case 5: return cursor.skip(4);
    case 3: break;
    default: corrupt('a field of an unknown wire type');
  }
  if (depth === 0) corrupt(`messages nested more than ${MAX_NESTING} levels`);
  for (;;) {
    const inner = readTag(cursor);
    if ((inner & 7) === 4) {
      if (inner >>> 3 !== tag >>> 3) corrupt('a group ends as another one');
      return;
    }
    skipUnknown(cursor, inner, depth - 1);
  }
}

/** @param {Cursor} cursor */
function readTag(cursor) {
  const tag = cursor.short();
  if (tag >>> 3 === 0) corrupt('a field has the number 0');
  return tag;
}

/**
 * Reads a number of a single field.
 * @param {Cursor} cursor
 * @param {Type} type
 */
function readNumber(cursor, type) {
  cursor.varint();
  if (type === 'uint32') return cursor.low;
  if (type === 'bool') return (cursor.low | cursor.high) !== 0;
  const value = (BigInt(cursor.high) << 32n) | BigInt(cursor.low);
  return type === 'int64' ? BigInt.asIntN(64, value) : value;
}

/**
 * Appends the values that are packed up to `end` to a column.
 * @param {Cursor} cursor
 * @param {number} end
 * @param {Column} column
 */
function readPacked(cursor, end, column) {
  const inner = new Cursor(cursor.bytes, cursor.position, end);
  let count = 0;
  for (; inner.position < end; ++count) inner.varint();
  column.parts.push(cursor.position, count);
  column.length += count;
  cursor.position = end;
}

/**
 * @param {Cursor} cursor
 * @param {Field} field
 * @param {string} name
 * @param {Record<string, any>} result
 * @param {number} depth
 */
function readDelimited(cursor, field, name, result, depth) {
  const end = cursor.lengthEnd();
  if (field.message !== undefined) {
    if (depth === 0) corrupt(`messages nested more than ${MAX_NESTING} levels`);
    const inner = new Cursor(cursor.bytes, cursor.position, end);
    if (!field.repeated) {
      result[name] ??= emptyMessage(field.message, cursor.bytes);
      readFields(inner, field.message, result[name], depth - 1);
    } else {
      const message = emptyMessage(field.message, cursor.bytes);
      readFields(inner, field.message, message, depth - 1);
      result[name].push(message);
    }
  } else if (field.type === 'bytes') {
    const value = cursor.bytes.subarray(cursor.position, end);
    if (field.repeated) result[name].push(value);
    else result[name] = value;
  } else {
    readPacked(cursor, end, result[name]);
  }
  cursor.position = end;
}

/**
 * @param {Cursor} cursor
 * @param {Definition} definition
 * @param {Record<string, any>} result
 * @param {number} depth
 */
function readFields(cursor, definition, result, depth) {
  const byNumber = fieldsByNumber(definition);
  while (cursor.position < cursor.end) {
    const tag = readTag(cursor);
    if ((tag & 7) === 4) corrupt('a group ends that has not begun');
    const entry = byNumber.get(tag >>> 3);
    const isNumber = entry !== undefined && entry[1].type !== 'bytes' && entry[1].type !== 'message';
    if (entry === undefined) {
      skipUnknown(cursor, tag, depth);
    } else if ((tag & 7) === 2 && (!isNumber || entry[1].repeated)) {
      readDelimited(cursor, entry[1], entry[0], result, depth);
    } else if ((tag & 7) === 0 && isNumber) {
      const [name, field] = entry;
      if (field.repeated) {
        result[name].parts.push(cursor.position, 1);
        ++result[name].length;
        cursor.varint();
      } else {
        result[name] = readNumber(cursor, field.type);
      }
    } else {
      skipUnknown(cursor, tag, depth);
    }
  }
}

/** @type {WeakMap<Definition, Map<number, [string, Field]>>} */
const indexes = new WeakMap();

/** @param {Definition} definition */
function fieldsByNumber(definition) {
  let index = indexes.get(definition);
  if (index === undefined) {
    index = new Map(Object.entries(definition).map((entry) => [entry[1].number, entry]));
    indexes.set(definition, index);
  }
  return index;
}

/**
 * A message without fields: 0, empty, false; undefined for a sub-message.
 * @param {Definition} definition
 * @param {Uint8Array} bytes
 */
function emptyMessage(definition, bytes) {
  /** @type {Record<string, any>} */
  const result = {};
  for (const [name, { type, repeated }] of Object.entries(definition)) {
    if (repeated) result[name] = type === 'bytes' || type === 'message' ? [] : new Column(bytes);
    else if (type === 'bytes') result[name] = new Uint8Array(0);
    else if (type === 'message') result[name] = undefined;
    else if (type === 'bool') result[name] = false;
    else result[name] = type === 'uint32' ? 0 : 0n;
  }
  return result;
}

/**
 * Parses a message. Numbers of 64 bits are BigInts, repeated numbers are Columns, and byte strings refer to
 * `untrusted`. Throws `corrupt`.
 * @param {Uint8Array} untrusted
 * @param {Definition} definition
 * @returns {Record<string, any>}
 */
export function parseMessage(untrusted, definition) {
  const result = emptyMessage(definition, untrusted);
  readFields(new Cursor(untrusted, 0, untrusted.length), definition, result, MAX_NESTING);
  return result;
}
