// A verified publication: its metadata, and its rows fragment by fragment.

import { platformCryptography } from './crypto.mjs';
import { ReadError, corrupt, rethrowWithin } from './errors.mjs';
import { decodeFragment } from './fragment.mjs';
import { fetchNamed, followRoots, newTrustState, updateSnapshot, updateTimestamp } from './trust.mjs';

/** @typedef {import('./crypto.mjs').Cryptography} Cryptography */
/** @typedef {import('./fragment.mjs').Row} Row */

/**
 * @typedef {object} OpenOptions
 * @property {import('./sources.mjs').Source} source
 * @property {Uint8Array} root the pinned root file, which was obtained securely
 * @property {Date | bigint} [now] microseconds since 1970, if not a Date; otherwise the platform's clock
 * @property {import('./trust.mjs').TrustState} [state] of the last update; changed. Without it nothing is remembered,
 *   so an older publication is not recognised as one
 * @property {Cryptography} [cryptography] otherwise the platform's
 */

/**
 * In which of the 2^bits fragments an API is: the first bits of sha256(soname "!" symbol).
 * @param {Cryptography} cryptography
 * @param {string} soname
 * @param {string} symbol
 * @param {number} bits 0 to 16
 */
async function fragmentIndexOf(cryptography, soname, symbol, bits) {
  const hash = await cryptography.sha256(new TextEncoder().encode(`${soname}!${symbol}`));
  return ((hash[0] << 8) | hash[1]) >> (16 - bits);
}

export class Publication {
  #source;
  #cryptography;

  /**
   * For openPublication().
   * @param {import('./sources.mjs').Source} source
   * @param {Cryptography} cryptography
   * @param {import('./metadata.mjs').Root} root
   * @param {import('./metadata.mjs').Timestamp} timestamp
   * @param {import('./metadata.mjs').Snapshot} snapshot
   */
  constructor(source, cryptography, root, timestamp, snapshot) {
    this.#source = source;
    this.#cryptography = cryptography;
    /** @readonly */
    this.root = root;
    /** @readonly */
    this.timestamp = timestamp;
    /** @readonly */
    this.snapshot = snapshot;
  }

  /**
   * The rows of a fragment, ascending by key, all of them verified. Throws `unauthenticated`, `corrupt`, `too_large`,
   * `unsupported`, `not_found` or `unavailable`.
   * @param {number} index 0 to snapshot.fragments.length - 1
   * @returns {Promise<Row[]>}
   */
  async fragment(index) {
    const reference = this.snapshot.fragments[index];
    if (reference === undefined) throw new ReadError('invalid_argument', `there is no fragment ${index}`);
    const { sha256, bytes: size } = reference;
    try {
      const bytes = await fetchNamed(this.#source, this.#cryptography, `/v1/fragment/${sha256}`, sha256, size);
      const rows = decodeFragment(bytes);
      await this.#checkMembers(rows, index);
      return rows;
    } catch (error) {
      rethrowWithin(error, `fragment ${index}`);
    }
  }

  /** The rows of all fragments, one fragment at a time. */
  async *rows() {
    for (let index = 0; index < this.snapshot.fragments.length; ++index) yield* await this.fragment(index);
  }

  /**
   * The rows of one API in all versions, metrics, classes and weeks. Fetches one fragment.
   * @param {string} soname
   * @param {string} symbol
   */
  async rowsOf(soname, symbol) {
    const index = await fragmentIndexOf(this.#cryptography, soname, symbol, this.snapshot.fragmentBits);
    return (await this.fragment(index)).filter((row) => row.soname === soname && row.symbol === symbol);
  }

  /**
   * @param {Row[]} rows
   * @param {number} index
   */
  async #checkMembers(rows, index) {
    const { fragmentBits } = this.snapshot;
    const checked = new Set();
    for (const { soname, symbol } of fragmentBits === 0 ? [] : rows) {
      const name = `${soname}!${symbol}`;
      if (checked.has(name)) continue;
      checked.add(name);
      if (await fragmentIndexOf(this.#cryptography, soname, symbol, fragmentBits) !== index) {
        corrupt(`${name} belongs to another fragment`);
      }
    }
  }
}

/**
 * Fetches and verifies root, timestamp and snapshot. Throws `unauthenticated` for a wrong signature, a version lower
 * than one seen before, an expired file or a wrong hash; `corrupt`, `too_large` or `unsupported` for a malformed file;
 * `not_found` or `unavailable` if a file is missing.
 * @param {OpenOptions} options
 * @returns {Promise<Publication>}
 */
export async function openPublication(options) {
  const { source, root: pinned, now = new Date(), state = newTrustState(), cryptography } = options;
  const used = cryptography ?? await platformCryptography();
  const nowUs = typeof now === 'bigint' ? now : BigInt(now.getTime()) * 1000n;
  const update = { source, cryptography: used, state, nowUs };
  const root = await followRoots(update, pinned);
  const timestamp = await updateTimestamp(update, root);
  const snapshot = await updateSnapshot(update, root, timestamp);
  return new Publication(source, used, root, timestamp, snapshot);
}
