// SHA-256 and Ed25519 from the platform: node:crypto in node, WebCrypto in browsers.

import { ReadError } from './errors.mjs';

/**
 * @typedef {object} Cryptography
 * @property {(bytes: Uint8Array) => Promise<Uint8Array>} sha256
 * @property {(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array) => Promise<boolean>} verifyEd25519
 *   whether this is the key's signature of the message; throws `unsupported` if the platform cannot verify any
 */

// The DER encoding of an Ed25519 public key without the key itself (RFC 8410, section 4).
const KEY_PREFIX = Uint8Array.from([0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00]);

/**
 * WebCrypto, with Chromium 137, Firefox 130, Safari 17, or later versions.
 * @param {SubtleCrypto | undefined} subtle
 * @returns {Cryptography}
 */
export function webCryptography(subtle) {
  if (subtle === undefined) {
    throw new ReadError('unsupported', 'there is no WebCrypto: browsers have it on pages from https or localhost only');
  }
  return {
    async sha256(bytes) {
      return new Uint8Array(await subtle.digest('SHA-256', /** @type {any} */ (bytes)));
    },
    async verifyEd25519(publicKey, message, signature) {
      let key;
      try {
        key = await subtle.importKey('raw', /** @type {any} */ (publicKey), 'Ed25519', false, ['verify']);
      } catch (error) {
        if (error instanceof Error && error.name === 'DataError') return false;  // not a key
        throw new ReadError('unsupported', 'WebCrypto has no Ed25519 here, which signatures need; use a newer browser');
      }
      return subtle.verify('Ed25519', key, /** @type {any} */ (signature), /** @type {any} */ (message));
    },
  };
}

/**
 * @param {typeof import('node:crypto')} node the module node:crypto
 * @returns {Cryptography}
 */
export function nodeCryptography(node) {
  return {
    async sha256(bytes) {
      return Uint8Array.from(node.createHash('sha256').update(bytes).digest());
    },
    async verifyEd25519(publicKey, message, signature) {
      if (publicKey.length !== 32 || signature.length !== 64) return false;
      try {
        const key = node.createPublicKey({ key: Buffer.concat([KEY_PREFIX, publicKey]), format: 'der', type: 'spki' });
        return node.verify(null, message, key, signature);
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        throw new ReadError('unsupported', `this node cannot verify Ed25519 signatures: ${message}`);
      }
    },
  };
}

/**
 * The platform's own.
 * @returns {Promise<Cryptography>}
 */
export async function platformCryptography() {
  if (typeof process === 'object' && process.versions?.node) return nodeCryptography(await import('node:crypto'));
  return webCryptography(globalThis.crypto?.subtle);
}
