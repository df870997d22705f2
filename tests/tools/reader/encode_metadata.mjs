// Makes signed metadata and whole publications, also such as no service would make.

import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { ReadError } from '../../../tools/reader/index.mjs';
import { bytesOf, field, message, packed } from './encode_protobuf.mjs';

export const NOW_US = 20_000n * 86_400_000_000n;
export const DAY_US = 86_400_000_000n;

const PRIVATE_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

/** The key of a seed of 32 equal bytes. */
export function keyOf(seed) {
  const key = createPrivateKey({
    key: Buffer.concat([PRIVATE_PREFIX, Buffer.alloc(32, seed)]), format: 'der', type: 'pkcs8',
  });
  const publicKey = [...createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(12)];
  return { publicKey, sign: (bytes) => [...sign(null, Uint8Array.from(bytes), key)] };
}

export const sha256 = (bytes) => createHash('sha256').update(Uint8Array.from(bytes)).digest();
export const hexOf = (bytes) => sha256(bytes).toString('hex');

const signature = (publicKey, bytes) => field(2, message([[1, publicKey], [2, bytes]]));

/** The payload with the signatures of the keys; those of `forgers` are of another payload. */
export function signed(payload, keys, forgers = []) {
  const signedBytes = (content) => [...bytesOf('fieldcost metadata v1\0'), ...content];
  return Uint8Array.from([
    ...field(1, payload),
    ...forgers.flatMap((key) => signature(key.publicKey, key.sign(signedBytes([...payload, 0])))),
    ...keys.flatMap((key) => signature(key.publicKey, key.sign(signedBytes(payload)))),
  ]);
}

const head = (role, { role: other, formatVersion = 1, version, expiresUs }) =>
  [[1, other ?? role], [2, formatVersion], [3, version], [4, expiresUs]];

// Repeated fields keep empty values, which message() leaves out.
const repeated = (number, values) => values.flatMap((value) => [...field(number, value)]);

export const rootPayload = (root) => Uint8Array.from([
  ...message([...head('root', root), [5, root.threshold]]),
  ...repeated(6, root.rootKeys),
  ...repeated(7, root.timestampKeys),
  ...repeated(8, root.snapshotKeys),
  ...repeated(9, root.policyKeys ?? []),
  ...message([[10, root.name], [11, root.contact], [12, root.privacy]]),
]);

export const timestampPayload = (timestamp) => message([
  ...head('timestamp', timestamp), [5, timestamp.publishedUs], [6, timestamp.snapshotVersion],
  [7, timestamp.snapshotSha256], [8, timestamp.snapshotBytes], [9, 3600]]);

export const snapshotPayload = (snapshot) => message([
  ...head('snapshot', snapshot), [5, snapshot.publishedUs], [6, 77], [7, 5], [9, snapshot.bits],
  [10, snapshot.sha256.flatMap((hash) => [...hash])], [11, packed(snapshot.bytes)], [12, packed(snapshot.rows)]]);

/**
 * A service that publishes. Its parts may be changed before publish(), and its files afterwards.
 */
export class Service {
  rootKeys = [keyOf(1)];
  timestampKey = keyOf(3);
  snapshotKey = keyOf(4);
  root = {
    version: 1n, expiresUs: NOW_US + 365n * DAY_US, threshold: 1, rootKeys: [keyOf(1).publicKey],
    timestampKeys: [keyOf(3).publicKey], snapshotKeys: [keyOf(4).publicKey],
  };
  timestamp = { version: 0n, expiresUs: NOW_US + DAY_US, publishedUs: NOW_US };
  snapshot = { version: 0n, expiresUs: NOW_US + 7n * DAY_US, publishedUs: NOW_US };
  /** @type {Map<string, Uint8Array>} */
  files = new Map();

  constructor() {
    this.publishRoot();
    this.pinned = this.files.get('/v1/root/1');
  }

  /** Signs the root and stores it at its own version, or at another one. */
  publishRoot({ keys = this.rootKeys, forgers = [], at = this.root.version, change = {} } = {}) {
    const bytes = signed(rootPayload({ ...this.root, ...change }), keys, forgers);
    this.files.set(`/v1/root/${at}`, bytes);
  }

  /** The next version; `fragments` are 2^n pairs of bytes and number of rows. */
  publish(fragments) {
    ++this.snapshot.version;
    Object.assign(this.snapshot, {
      bits: Math.log2(fragments.length),
      sha256: fragments.map(([bytes]) => sha256(bytes)),
      bytes: fragments.map(([bytes]) => bytes.length),
      rows: fragments.map(([, rows]) => rows),
    });
    for (const [bytes] of fragments) this.files.set(`/v1/fragment/${hexOf(bytes)}`, bytes);
    this.signSnapshot();
    this.signTimestamp();
  }

  /** A snapshot with changes, and what the timestamp states about it. */
  signSnapshot({ keys = [this.snapshotKey], forgers = [], change = {} } = {}) {
    const bytes = signed(snapshotPayload({ ...this.snapshot, ...change }), keys, forgers);
    this.snapshotPath = `/v1/snapshot/${hexOf(bytes)}`;
    this.files.set(this.snapshotPath, bytes);
    Object.assign(this.timestamp, {
      snapshotVersion: change.version ?? this.snapshot.version,
      snapshotSha256: sha256(bytes),
      snapshotBytes: bytes.length,
    });
  }

  /** The next timestamp, with changes. */
  signTimestamp({ keys = [this.timestampKey], forgers = [], change = {} } = {}) {
    ++this.timestamp.version;
    this.files.set('/v1/timestamp', signed(timestampPayload({ ...this.timestamp, ...change }), keys, forgers));
  }

  /** @returns {import('../../../tools/reader/sources.mjs').Source} */
  get source() {
    return async (path, maxBytes) => {
      const bytes = this.files.get(path);
      if (bytes === undefined) throw new ReadError('not_found', `${path} is missing`);
      if (bytes.length > maxBytes) throw new ReadError('too_large', `${path} is too large`);
      return bytes;
    };
  }

  /** Writes the files to a folder. */
  write(folder) {
    for (const [path, bytes] of this.files) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), bytes);
    }
  }
}
