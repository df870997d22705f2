// Signed metadata (common/wire/CATALOG.md): root, timestamp and snapshot. Versions, expiry and hashes are compared by
// publication.mjs.

import { concatBytes, equalBytes, hex } from './bytes.mjs';
import { ReadError, corrupt } from './errors.mjs';
import * as limits from './limits.mjs';
import { parseMessage } from './protobuf.mjs';
import { checkedStatement } from './texts.mjs';

/** @typedef {import('./crypto.mjs').Cryptography} Cryptography */

/**
 * @typedef {object} Root
 * @property {bigint} version
 * @property {bigint} expiresUs microseconds since 1970-01-01 UTC, as all times
 * @property {number} rootThreshold how many root keys must sign
 * @property {Uint8Array[]} rootKeys 32 bytes each, as the next two
 * @property {Uint8Array[]} timestampKeys any one of them suffices
 * @property {Uint8Array[]} snapshotKeys likewise
 * @property {{ name: string, contact: string, privacy: string }} operatedBy each may be empty
 */

/**
 * @typedef {object} Timestamp
 * @property {bigint} version
 * @property {bigint} expiresUs
 * @property {bigint} publishedUs
 * @property {bigint} snapshotVersion
 * @property {string} snapshotSha256 in hex
 * @property {number} snapshotBytes
 * @property {number} refreshSeconds after how long the next version is expected
 */

/**
 * @typedef {object} FragmentReference
 * @property {string} sha256 in hex
 * @property {number} bytes compressed
 * @property {bigint} rows
 */

/**
 * @typedef {object} Snapshot
 * @property {bigint} version
 * @property {bigint} expiresUs
 * @property {bigint} publishedUs
 * @property {bigint} storeSequence the state of the service's sums
 * @property {number} contributionThreshold the number of machines below which nothing is published
 * @property {boolean} synthetic made-up data
 * @property {number} fragmentBits
 * @property {FragmentReference[]} fragments 2^fragmentBits
 */

const FORMAT_VERSION = 1;
const KEY_BYTES = 32;
const HASH_BYTES = 32;
const SIGNED_PREFIX = new TextEncoder().encode('fieldcost metadata v1\0');

/** @typedef {import('./protobuf.mjs').Definition} Definition */

/** @type {Definition} */
const SIGNED = {
  payload: { number: 1, type: 'bytes' },
  signatures: {
    number: 2,
    type: 'message',
    repeated: true,
    message: { public_key: { number: 1, type: 'bytes' }, signature: { number: 2, type: 'bytes' } },
  },
};

/** @type {Definition} */
const HEAD = {
  role: { number: 1, type: 'bytes' },
  format_version: { number: 2, type: 'uint32' },
  version: { number: 3, type: 'uint64' },
  expires_us: { number: 4, type: 'int64' },
};

/** @type {Definition} */
const ROOT = {
  ...HEAD,
  root_threshold: { number: 5, type: 'uint32' },
  root_keys: { number: 6, type: 'bytes', repeated: true },
  timestamp_keys: { number: 7, type: 'bytes', repeated: true },
  snapshot_keys: { number: 8, type: 'bytes', repeated: true },
  policy_keys: { number: 9, type: 'bytes', repeated: true },
  operator_name: { number: 10, type: 'bytes' },
  operator_contact: { number: 11, type: 'bytes' },
  operator_privacy: { number: 12, type: 'bytes' },
};

/** @type {Definition} */
const TIMESTAMP = {
  ...HEAD,
  published_us: { number: 5, type: 'int64' },
  snapshot_version: { number: 6, type: 'uint64' },
  snapshot_sha256: { number: 7, type: 'bytes' },
  snapshot_bytes: { number: 8, type: 'uint64' },
  refresh_seconds: { number: 9, type: 'uint32' },
};

/** @type {Definition} */
const SNAPSHOT = {
  ...HEAD,
  published_us: { number: 5, type: 'int64' },
  store_sequence: { number: 6, type: 'uint64' },
  contribution_threshold: { number: 7, type: 'uint32' },
  synthetic: { number: 8, type: 'bool' },
  fragment_bits: { number: 9, type: 'uint32' },
  fragment_sha256: { number: 10, type: 'bytes' },
  fragment_bytes: { number: 11, type: 'uint64', repeated: true },
  fragment_rows: { number: 12, type: 'uint64', repeated: true },
};

/**
 * @param {Uint8Array} untrusted
 * @param {string} role
 * @param {Definition} definition
 */
function parsePayload(untrusted, role, definition) {
  const payload = parseMessage(untrusted, definition);
  if (!equalBytes(payload.role, new TextEncoder().encode(role))) corrupt(`metadata of another role than ${role}`);
  if (payload.format_version !== FORMAT_VERSION) {
    throw new ReadError('unsupported',
      `metadata format version ${payload.format_version}, only ${FORMAT_VERSION} is understood`);
  }
  return payload;
}

/**
 * @param {string} role
 * @param {Uint8Array[]} untrusted
 * @param {number} least
 */
function checkedKeys(role, untrusted, least) {
  if (untrusted.length < least || untrusted.length > limits.MAX_KEYS) {
    corrupt(`${untrusted.length} ${role} keys, ${least} to ${limits.MAX_KEYS} are accepted`);
  }
  if (untrusted.some((key) => key.length !== KEY_BYTES)) corrupt(`a ${role} key does not have ${KEY_BYTES} bytes`);
  if (new Set(untrusted.map(hex)).size !== untrusted.length) corrupt(`a ${role} key is listed twice`);
  return untrusted;
}

/**
 * @param {Uint8Array} untrusted the payload
 * @returns {Root}
 */
function decodeRoot(untrusted) {
  const payload = parsePayload(untrusted, 'root', ROOT);
  const rootKeys = checkedKeys('root', payload.root_keys, 1);
  checkedKeys('policy', payload.policy_keys, 0);
  if (payload.root_threshold < 1 || payload.root_threshold > rootKeys.length) {
    corrupt(`a threshold of ${payload.root_threshold} with ${rootKeys.length} root keys`);
  }
  return {
    version: payload.version,
    expiresUs: payload.expires_us,
    rootThreshold: payload.root_threshold,
    rootKeys,
    timestampKeys: checkedKeys('timestamp', payload.timestamp_keys, 1),
    snapshotKeys: checkedKeys('snapshot', payload.snapshot_keys, 1),
    operatedBy: {
      name: checkedStatement("the operator's name", payload.operator_name, 127),
      contact: checkedStatement("the operator's contact", payload.operator_contact, 255),
      privacy: checkedStatement("the operator's privacy text", payload.operator_privacy, 4095),
    },
  };
}

/**
 * @param {Uint8Array} untrusted
 * @returns {Timestamp}
 */
function decodeTimestamp(untrusted) {
  const payload = parsePayload(untrusted, 'timestamp', TIMESTAMP);
  if (payload.snapshot_sha256.length !== HASH_BYTES) corrupt(`a hash does not have ${HASH_BYTES} bytes`);
  if (payload.snapshot_bytes > BigInt(limits.MAX_METADATA_BYTES)) {
    throw new ReadError('too_large', `a snapshot of ${payload.snapshot_bytes} bytes`);
  }
  return {
    version: payload.version,
    expiresUs: payload.expires_us,
    publishedUs: payload.published_us,
    snapshotVersion: payload.snapshot_version,
    snapshotSha256: hex(payload.snapshot_sha256),
    snapshotBytes: Number(payload.snapshot_bytes),
    refreshSeconds: payload.refresh_seconds,
  };
}

/**
 * @param {Uint8Array} untrusted
 * @returns {Snapshot}
 */
function decodeSnapshot(untrusted) {
  const payload = parsePayload(untrusted, 'snapshot', SNAPSHOT);
  if (payload.fragment_bits > limits.MAX_FRAGMENT_BITS) {
    throw new ReadError('too_large', `2^${payload.fragment_bits} fragments`);
  }
  const count = 2 ** payload.fragment_bits;
  const hashes = payload.fragment_sha256;
  if (hashes.length !== count * HASH_BYTES || payload.fragment_bytes.length !== count ||
      payload.fragment_rows.length !== count) {
    corrupt(`the columns of a snapshot do not have ${count} entries`);
  }
  const sizes = payload.fragment_bytes.uint64();
  const rows = payload.fragment_rows.uint64();
  const most = BigInt(limits.MAX_FRAGMENT_BYTES);
  return {
    version: payload.version,
    expiresUs: payload.expires_us,
    publishedUs: payload.published_us,
    storeSequence: payload.store_sequence,
    contributionThreshold: payload.contribution_threshold,
    synthetic: payload.synthetic,
    fragmentBits: payload.fragment_bits,
    fragments: Array.from({ length: count }, (_, i) => {
      if (sizes[i] > most) throw new ReadError('too_large', `a fragment of ${sizes[i]} bytes`);
      return {
        sha256: hex(hashes.subarray(i * HASH_BYTES, (i + 1) * HASH_BYTES)),
        bytes: Number(sizes[i]),
        rows: rows[i],
      };
    }),
  };
}

/**
 * @param {Uint8Array} untrusted a file
 * @returns {{ payload: Uint8Array, signatures: { public_key: Uint8Array, signature: Uint8Array }[] }}
 */
function parseSigned(untrusted) {
  if (untrusted.length > limits.MAX_METADATA_BYTES) {
    throw new ReadError('too_large', `${untrusted.length} bytes of metadata`);
  }
  const signed = /** @type {any} */ (parseMessage(untrusted, SIGNED));
  if (signed.signatures.length > limits.MAX_SIGNATURES) {
    throw new ReadError('too_large', `${signed.signatures.length} signatures, at most 16 are accepted`);
  }
  return signed;
}

/**
 * The payload, once enough different ones of the keys have signed it.
 * @param {Cryptography} cryptography
 * @param {Uint8Array} untrusted a file
 * @param {Uint8Array[]} keys
 * @param {number} threshold
 */
async function verifiedPayload(cryptography, untrusted, keys, threshold) {
  const { payload, signatures } = parseSigned(untrusted);
  const signedBytes = concatBytes(SIGNED_PREFIX, payload);
  const signers = new Set();
  for (const { public_key: key, signature } of signatures) {
    if (!keys.some((trusted) => equalBytes(trusted, key)) || signers.has(hex(key))) continue;
    if (await cryptography.verifyEd25519(key, signedBytes, signature)) signers.add(hex(key));
  }
  if (signers.size < threshold) {
    throw new ReadError('unauthenticated', `signed by ${signers.size} of the trusted keys, ${threshold} are needed`);
  }
  return payload;
}

/**
 * Decodes a root that was obtained securely, and verifies it by its own keys.
 * @param {Cryptography} cryptography
 * @param {Uint8Array} bytes
 * @returns {Promise<Root>}
 */
export async function verifyPinnedRoot(cryptography, bytes) {
  const root = decodeRoot(parseSigned(bytes).payload);
  await verifiedPayload(cryptography, bytes, root.rootKeys, root.rootThreshold);
  return root;
}

/**
 * Verifies the successor of a root by the keys of both.
 * @param {Cryptography} cryptography
 * @param {Uint8Array} untrusted
 * @param {Root} trusted
 * @returns {Promise<Root>}
 */
export async function verifyNextRoot(cryptography, untrusted, trusted) {
  const root = decodeRoot(await verifiedPayload(cryptography, untrusted, trusted.rootKeys, trusted.rootThreshold));
  await verifiedPayload(cryptography, untrusted, root.rootKeys, root.rootThreshold);
  return root;
}

/**
 * @param {Cryptography} cryptography
 * @param {Uint8Array} untrusted
 * @param {Root} root
 */
export async function verifyTimestamp(cryptography, untrusted, root) {
  return decodeTimestamp(await verifiedPayload(cryptography, untrusted, root.timestampKeys, 1));
}

/**
 * @param {Cryptography} cryptography
 * @param {Uint8Array} untrusted
 * @param {Root} root
 */
export async function verifySnapshot(cryptography, untrusted, root) {
  return decodeSnapshot(await verifiedPayload(cryptography, untrusted, root.snapshotKeys, 1));
}
