// Writes protobuf messages, for files that a correct writer would not make.

/** The bytes of a number: 7 bits each, lowest first. */
export function varint(number) {
  const bytes = [];
  for (let left = BigInt.asUintN(64, BigInt(number)); ; left >>= 7n) {
    if (left < 128n) return [...bytes, Number(left)];
    bytes.push(Number(left & 127n) | 128);
  }
}

export const bytesOf = (text) => [...(typeof text === 'string' ? new TextEncoder().encode(text) : text)];

/** The values of a repeated field of numbers. */
export const packed = (numbers) => [...numbers].flatMap(varint);

/** A field of any wire type; a number, or a text or bytes with their length. */
export function field(number, value) {
  if (typeof value === 'number' || typeof value === 'bigint') return [...varint(number << 3), ...varint(value)];
  const bytes = bytesOf(value);
  return [...varint((number << 3) | 2), ...varint(bytes.length), ...bytes];
}

/** A message of [number, value] pairs; values that are empty or undefined are left out, as protobuf does. */
export function message(fields) {
  const parts = fields.filter(([, value]) => value !== undefined && value !== 0 && value !== 0n && value.length !== 0)
    .map(([number, value]) => field(number, value));
  return Uint8Array.from(parts.flat());
}
