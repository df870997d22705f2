// The workflow of a client of The Update Framework (common/wire/READING.md): root chain, timestamp, snapshot.

import { equalBytes, fromBase64, hex, toBase64 } from './bytes.mjs';
import { ReadError, rethrowWithin } from './errors.mjs';
import * as limits from './limits.mjs';
import * as metadata from './metadata.mjs';

/** @typedef {import('./crypto.mjs').Cryptography} Cryptography */
/** @typedef {import('./metadata.mjs').Root} Root */
/** @typedef {import('./metadata.mjs').Timestamp} Timestamp */
/** @typedef {import('./metadata.mjs').Snapshot} Snapshot */

/**
 * A version that was accepted: the number in decimal, and the file's SHA-256 in hex.
 * @typedef {{ version: string, sha256: string }} Seen
 */

/**
 * The memory of a client between two updates of a service, so that an older version is never accepted later. It can be
 * written as JSON; it must be stored where others cannot change it.
 * @typedef {object} TrustState
 * @property {Record<string, string>} roots by version: signed, in base64
 * @property {Seen | null} timestamp
 * @property {Seen | null} snapshot
 */

/**
 * The state of a client that has seen nothing yet.
 * @returns {TrustState}
 */
export function newTrustState() {
  return { roots: {}, timestamp: null, snapshot: null };
}

/**
 * @typedef {object} Update
 * @property {import('./sources.mjs').Source} source
 * @property {Cryptography} cryptography
 * @property {TrustState} state changed as soon as a file is verified, also if a later step fails
 * @property {bigint} nowUs
 */

/**
 * @param {string} message
 * @returns {never}
 */
function refuse(message) {
  throw new ReadError('unauthenticated', message);
}

/**
 * Adds the name of the file to the message of a refusal.
 * @template T
 * @param {string} what
 * @param {() => Promise<T>} step
 * @returns {Promise<T>}
 */
async function of(what, step) {
  try {
    return await step();
  } catch (error) {
    rethrowWithin(error, what);
  }
}

/** @param {unknown} seen */
function isSeen(seen) {
  if (seen === null) return true;
  const { version, sha256 } = /** @type {any} */ (seen ?? {});
  return /^[0-9]{1,20}$/.test(version) && /^[0-9a-f]{64}$/.test(sha256);
}

/**
 * The kept roots by version. Throws `invalid_argument` unless the value is a state.
 * @param {TrustState} state
 */
function keptRoots(state) {
  const { roots, timestamp, snapshot } = state ?? {};
  try {
    if (typeof roots === 'object' && roots !== null && isSeen(timestamp) && isSeen(snapshot)) {
      return new Map(Object.entries(roots).map(([version, text]) => [BigInt(version), fromBase64(text)]));
    }
  } catch {
    // Neither a number nor base64.
  }
  throw new ReadError('invalid_argument', 'the state is not one that was kept from an earlier update');
}

/**
 * @param {string} what
 * @param {bigint} expiresUs
 * @param {bigint} nowUs
 */
function checkExpiry(what, expiresUs, nowUs) {
  if (nowUs >= expiresUs) refuse(`${what} has expired, which may be a freeze attack`);
}

/**
 * @param {string} what
 * @param {Seen | null} seen
 * @param {bigint} version
 * @param {string} sha256
 */
function checkNotOlder(what, seen, version, sha256) {
  if (seen === null) return;
  if (version < BigInt(seen.version)) refuse(`${what} ${version} is older than ${seen.version} (rollback)`);
  if (version === BigInt(seen.version) && sha256 !== seen.sha256) {
    refuse(`${what} ${version} has had another content`);
  }
}

/**
 * @param {Uint8Array[]} left
 * @param {Uint8Array[]} right
 */
function keysDiffer(left, right) {
  const text = (/** @type {Uint8Array[]} */ keys) => keys.map(hex).sort().join();
  return text(left) !== text(right);
}

/**
 * Saves a verified root. Versions that may come from stolen keys are forgotten.
 * @param {TrustState} state
 * @param {Root} root
 * @param {Uint8Array} bytes
 * @param {Root | null} before the newest root saved before
 */
function saveRoot(state, root, bytes, before) {
  state.roots[String(root.version)] = toBase64(bytes);
  if (before === null) return;
  if (keysDiffer(before.timestampKeys, root.timestampKeys) || keysDiffer(before.snapshotKeys, root.snapshotKeys)) {
    state.timestamp = null;
    state.snapshot = null;
  }
}

/**
 * Starts from the pinned root and follows root N+1, N+2, … through those in the state and then those of the source.
 * @param {Update} update
 * @param {Uint8Array} pinned
 * @returns {Promise<Root>}
 */
export async function followRoots({ source, cryptography, state, nowUs }, pinned) {
  const kept = keptRoots(state);
  const newestKept = [...kept.keys()].reduce((newest, version) => (version > newest ? version : newest), -1n);
  let root = await of('pinned root', () => metadata.verifyPinnedRoot(cryptography, pinned));
  const keptBytes = kept.get(root.version);
  if (keptBytes === undefined) {
    if (root.version > newestKept) saveRoot(state, root, pinned, null);
  } else if (!equalBytes(keptBytes, pinned)) {
    refuse(`the pinned root differs from the version ${root.version} that was seen`);
  }
  for (let fetched = 0; fetched < limits.MAX_ROOT_UPDATES;) {
    const version = root.version + 1n;
    /** @type {Uint8Array | undefined} */
    let bytes = kept.get(version);
    const isKept = bytes !== undefined;
    if (bytes === undefined) {
      bytes = await source(`/v1/root/${version}`, limits.MAX_ROOT_BYTES).catch((error) => {
        if (error instanceof ReadError && error.code === 'not_found') return undefined;
        throw error;
      });
      if (bytes === undefined) break;
      ++fetched;
    }
    const next = await of(`root ${version}`, () =>
      metadata.verifyNextRoot(cryptography, /** @type {Uint8Array} */ (bytes), root));
    if (next.version !== version) refuse(`root ${version} claims to be version ${next.version}`);
    if (!isKept) saveRoot(state, next, bytes, root);
    root = next;
  }
  if (root.version < newestKept) refuse(`the roots end before version ${newestKept}, which was seen (rollback)`);
  checkExpiry('the root', root.expiresUs, nowUs);
  return root;
}

/**
 * @param {Update} update
 * @param {Root} root
 * @returns {Promise<Timestamp>}
 */
export async function updateTimestamp({ source, cryptography, state, nowUs }, root) {
  const bytes = await source('/v1/timestamp', limits.MAX_TIMESTAMP_BYTES);
  const timestamp = await of('timestamp', () => metadata.verifyTimestamp(cryptography, bytes, root));
  const sha256 = hex(await cryptography.sha256(bytes));
  checkNotOlder('timestamp', state.timestamp, timestamp.version, sha256);
  checkExpiry('the timestamp', timestamp.expiresUs, nowUs);
  state.timestamp = { version: String(timestamp.version), sha256 };
  return timestamp;
}

/**
 * @param {Update} update
 * @param {Root} root
 * @param {Timestamp} timestamp
 * @returns {Promise<Snapshot>}
 */
export async function updateSnapshot({ source, cryptography, state, nowUs }, root, timestamp) {
  const { snapshotSha256: sha256, snapshotBytes } = timestamp;
  const bytes = await fetchNamed(source, cryptography, `/v1/snapshot/${sha256}`, sha256, snapshotBytes);
  const snapshot = await of('snapshot', () => metadata.verifySnapshot(cryptography, bytes, root));
  if (snapshot.version !== timestamp.snapshotVersion) {
    refuse(`snapshot ${snapshot.version} is not the ${timestamp.snapshotVersion} of the timestamp (mix-and-match)`);
  }
  checkNotOlder('snapshot', state.snapshot, snapshot.version, sha256);
  checkExpiry('the snapshot', snapshot.expiresUs, nowUs);
  state.snapshot = { version: String(snapshot.version), sha256 };
  return snapshot;
}

/**
 * The file with this hash and size.
 * @param {import('./sources.mjs').Source} source
 * @param {Cryptography} cryptography
 * @param {string} path
 * @param {string} sha256
 * @param {number} size
 */
export async function fetchNamed(source, cryptography, path, sha256, size) {
  const bytes = await source(path, size);
  if (bytes.length !== size || hex(await cryptography.sha256(bytes)) !== sha256) {
    refuse(`${path} does not have the announced size and hash (mix-and-match)`);
  }
  return bytes;
}
