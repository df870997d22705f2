// Small functions on byte arrays. Pure.

/**
 * @param {Uint8Array} left
 * @param {Uint8Array} right
 */
export function equalBytes(left, right) {
  return left.length === right.length && left.every((byte, i) => byte === right[i]);
}

/** @param {(Uint8Array | number[])[]} parts */
export function concatBytes(...parts) {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let position = 0;
  for (const part of parts) {
    all.set(part, position);
    position += part.length;
  }
  return all;
}

/**
 * Lower-case hexadecimal digits.
 * @param {Uint8Array} bytes
 */
export function hex(bytes) {
  let text = '';
  for (const byte of bytes) text += byte.toString(16).padStart(2, '0');
  return text;
}

/** @param {Uint8Array} bytes */
export function toBase64(bytes) {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

/**
 * Throws a DOMException unless it is base64.
 * @param {string} text
 */
export function fromBase64(text) {
  return Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
}
