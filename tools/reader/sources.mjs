// Where published files come from: a server, or a folder as `fieldcost-aggregator publish --to` writes it.

import { concatBytes } from './bytes.mjs';
import { ReadError } from './errors.mjs';

/**
 * Returns the file at a path such as "/v1/timestamp", of at most `maxBytes`. Throws `not_found`, `too_large` or
 * `unavailable`.
 * @typedef {(path: string, maxBytes: number) => Promise<Uint8Array>} Source
 */

/**
 * @param {string} path
 * @param {number} maxBytes
 * @returns {never}
 */
function tooLarge(path, maxBytes) {
  throw new ReadError('too_large', `${path} has more than ${maxBytes} bytes`);
}

/**
 * @param {Response} response
 * @param {string} path
 * @param {number} maxBytes
 */
async function boundedBody(response, path, maxBytes) {
  if (response.body === null) return new Uint8Array(0);
  const reader = response.body.getReader();
  const parts = [];
  for (let bytes = 0; ;) {
    const { done, value } = await reader.read();
    if (done) return concatBytes(...parts);
    bytes += value.length;
    if (bytes > maxBytes) {
      await reader.cancel();
      tooLarge(path, maxBytes);
    }
    parts.push(value);
  }
}

/**
 * A server. Follows no redirects.
 * @param {string} url "https://host[:port][/path]"
 * @param {{ fetch?: typeof fetch, timeoutMs?: number }} [options] of each file; `timeoutMs`: 60,000
 * @returns {Source}
 */
export function serverSource(url, { fetch = globalThis.fetch, timeoutMs = 60_000 } = {}) {
  const base = url.replace(/\/+$/, '');
  return async (path, maxBytes) => {
    let response;
    try {
      response = await fetch(base + path,
        { redirect: 'error', cache: 'no-cache', credentials: 'omit', signal: AbortSignal.timeout(timeoutMs) });
      if (response.ok) return await boundedBody(response, path, maxBytes);
    } catch (error) {
      if (error instanceof ReadError) throw error;
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      throw new ReadError('unavailable', `${base}${path}: ${cause instanceof Error ? cause.message : cause}`);
    }
    // Object stores respond 403 for files that do not exist.
    const code = [403, 404, 410].includes(response.status) ? 'not_found' : 'unavailable';
    throw new ReadError(code, `${base}${path}: status ${response.status}`);
  };
}

/**
 * A folder, in node only.
 * @param {string} folder which contains "v1"
 * @returns {Source}
 */
export function folderSource(folder) {
  return async (path, maxBytes) => {
    const { open } = await import('node:fs/promises');
    let file;
    try {
      file = await open(folder + path);
      const { size } = await file.stat();
      if (size > maxBytes) tooLarge(path, maxBytes);
      // A file that is written to meanwhile is not longer than its limit either.
      const { bytesRead, buffer } = await file.read(new Uint8Array(size), 0, size, 0);
      return buffer.subarray(0, bytesRead);
    } catch (error) {
      if (error instanceof ReadError) throw error;
      const { code, message } = /** @type {NodeJS.ErrnoException} */ (error);
      throw new ReadError(code === 'ENOENT' || code === 'ENOTDIR' ? 'not_found' : 'unavailable', message);
    } finally {
      await file?.close();
    }
  };
}
