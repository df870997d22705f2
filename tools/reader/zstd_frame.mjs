// Compressed data as common/wire defines it: exactly one zstd frame (RFC 8878) that announces its content's size. The
// library fzstd decompresses blocks; it checks neither what surrounds them nor the content checksum.

import { decompress } from 'fzstd';

import { concatBytes } from './bytes.mjs';
import { ReadError, corrupt } from './errors.mjs';
import { lowXxhash64 } from './xxhash64.mjs';

const MAGIC = [0x28, 0xb5, 0x2f, 0xfd];
const MAX_BLOCK_BYTES = 128 * 1024;
const RLE = 1;
const RESERVED = 3;

/**
 * A number of at most 8 bytes, little endian; inexact above 2^53, which every limit refuses.
 * @param {Uint8Array} bytes
 * @param {number} position
 * @param {number} count
 */
function littleEndian(bytes, position, count) {
  let value = 0;
  for (let i = count - 1; i >= 0; --i) value = value * 256 + bytes[position + i];
  return value;
}

/**
 * @param {Uint8Array} untrusted
 * @param {number} position
 * @param {number} count
 */
function need(untrusted, position, count) {
  if (position + count > untrusted.length) corrupt('a zstd frame ends early');
}

/**
 * @param {Uint8Array} untrusted
 * @returns {{ contentBytes: number, hasChecksum: boolean, blocks: number }} `blocks`: where the first block begins
 */
function readHeader(untrusted) {
  need(untrusted, 0, MAGIC.length + 1);
  if (MAGIC.some((byte, i) => untrusted[i] !== byte)) corrupt('not a zstd frame');
  const descriptor = untrusted[4];
  const isSingleSegment = (descriptor & 0x20) !== 0;
  if ((descriptor & 0x08) !== 0) corrupt('a reserved bit of a zstd frame is set');
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3];
  const sizeFlag = descriptor >> 6;
  if (sizeFlag === 0 && !isSingleSegment) corrupt('a zstd frame without the size of its content');
  const sizeBytes = 1 << sizeFlag;
  let position = MAGIC.length + 1 + (isSingleSegment ? 0 : 1);
  need(untrusted, position, dictionaryBytes + sizeBytes);
  if (littleEndian(untrusted, position, dictionaryBytes) !== 0) corrupt('a zstd frame that needs a dictionary');
  position += dictionaryBytes;
  const contentBytes = littleEndian(untrusted, position, sizeBytes) + (sizeFlag === 1 ? 256 : 0);
  return { contentBytes, hasChecksum: (descriptor & 0x04) !== 0, blocks: position + sizeBytes };
}

/**
 * @param {Uint8Array} untrusted
 * @param {number} position where the first block begins
 * @returns {{ last: number, end: number }} where the last block begins, and where it ends
 */
function walkBlocks(untrusted, position) {
  for (;;) {
    need(untrusted, position, 3);
    const header = littleEndian(untrusted, position, 3);
    const type = (header >> 1) & 3;
    const size = header >> 3;
    if (type === RESERVED || size > MAX_BLOCK_BYTES) corrupt('a zstd block of an unknown type or size');
    const end = position + 3 + (type === RLE ? 1 : size);
    need(untrusted, end, 0);
    if ((header & 1) !== 0) return { last: position, end };
    position = end;
  }
}

/**
 * Decompresses the blocks. The library neither reports how many bytes they contain nor refuses too many, so a block of
 * random bytes is appended, which must then follow the announced content immediately.
 * @param {Uint8Array} untrusted
 * @param {{ last: number, end: number }} blocks
 * @param {number} contentBytes
 */
function decompressBlocks(untrusted, blocks, contentBytes) {
  const mark = Uint8Array.from({ length: 8 }, () => Math.floor(Math.random() * 256));
  const frame = concatBytes(untrusted.subarray(0, blocks.end), [(mark.length << 3) | 1, 0, 0], mark);
  frame[4] &= ~0x04;  // without a checksum
  frame[blocks.last] &= ~1;  // no longer the last block
  const content = new Uint8Array(contentBytes + mark.length);
  try {
    decompress(frame, content);
  } catch (error) {
    corrupt(`a zstd frame cannot be decompressed: ${error instanceof Error ? error.message : error}`);
  }
  if (mark.some((byte, i) => content[contentBytes + i] !== byte)) {
    corrupt('the content of a zstd frame has another size than it announces');
  }
  return content.subarray(0, contentBytes);
}

/**
 * Returns the content of a frame. Throws `corrupt` for anything but one complete frame of known content size, and
 * `too_large`, before memory is taken, if it or its content is larger than allowed.
 * @param {Uint8Array} untrusted
 * @param {{ maxBytes: number, maxContentBytes: number }} limits
 * @returns {Uint8Array}
 */
export function decompressFrame(untrusted, { maxBytes, maxContentBytes }) {
  if (untrusted.length > maxBytes) {
    throw new ReadError('too_large', `${untrusted.length} compressed bytes, at most ${maxBytes} are accepted`);
  }
  const { contentBytes, hasChecksum, blocks } = readHeader(untrusted);
  if (contentBytes > maxContentBytes) {
    throw new ReadError('too_large', `${contentBytes} bytes of content, at most ${maxContentBytes} are accepted`);
  }
  const walked = walkBlocks(untrusted, blocks);
  need(untrusted, walked.end, hasChecksum ? 4 : 0);
  if (untrusted.length !== walked.end + (hasChecksum ? 4 : 0)) corrupt('bytes after a zstd frame');
  const content = decompressBlocks(untrusted, walked, contentBytes);
  if (hasChecksum && littleEndian(untrusted, walked.end, 4) !== lowXxhash64(content)) {
    corrupt('the content of a zstd frame has another checksum');
  }
  return content;
}
