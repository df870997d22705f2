// Both cryptographies verify alike: node's own, and WebCrypto, which browsers have.

import assert from 'node:assert/strict';
import * as node from 'node:crypto';
import { describe, it } from 'node:test';

import { nodeCryptography, openPublication, webCryptography } from '../../../tools/reader/index.mjs';
import { NOW_US, Service, hexOf, keyOf } from './encode_metadata.mjs';
import { encodeFragment } from './encode_fragment.mjs';
import { SIMPLE_ROWS } from './sample_rows.mjs';

const BYTES = Uint8Array.from([1, 2, 3]);

for (const [name, cryptography] of [
  ['node:crypto', nodeCryptography(node)], ['WebCrypto', webCryptography(node.webcrypto.subtle)],
]) {
  describe(name, () => {
    it('hashes', async () => {
      assert.equal(Buffer.from(await cryptography.sha256(BYTES)).toString('hex'), hexOf(BYTES));
    });

    it('verifies signatures', async () => {
      const key = keyOf(7);
      const publicKey = Uint8Array.from(key.publicKey);
      const signature = Uint8Array.from(key.sign(BYTES));
      const verify = (...args) => cryptography.verifyEd25519(...args);
      assert.ok(await verify(publicKey, BYTES, signature));
      assert.ok(!await verify(publicKey, BYTES.slice(1), signature));
      assert.ok(!await verify(Uint8Array.from(keyOf(8).publicKey), BYTES, signature));
      assert.ok(!await verify(publicKey, BYTES, signature.slice(1)));
      assert.ok(!await verify(publicKey, BYTES, new Uint8Array(64)));
      assert.ok(!await verify(new Uint8Array(31), BYTES, signature));
    });

    it('opens a publication', async () => {
      const service = new Service();
      service.publish([[encodeFragment(SIMPLE_ROWS), 4]]);
      const opened = { source: service.source, root: service.pinned, now: NOW_US, cryptography };
      assert.equal((await (await openPublication(opened)).fragment(0)).length, 4);
    });
  });
}

describe('a platform that lacks something', () => {
  it('is reported if it has no WebCrypto', () => {
    assert.throws(() => webCryptography(undefined), { code: 'unsupported', message: /no WebCrypto/ });
  });

  it('is reported if its WebCrypto has no Ed25519', async () => {
    const unknown = Object.assign(new Error('Unrecognized name.'), { name: 'NotSupportedError' });
    const cryptography = webCryptography({ importKey: () => Promise.reject(unknown) });
    const verified = cryptography.verifyEd25519(BYTES, BYTES, BYTES);
    await assert.rejects(verified, { code: 'unsupported', message: /no Ed25519/ });
  });
});
