// The errors of this module: one class, with the codes that the programs of the project use.

/**
 * The kind of a refusal:
 * - `unauthenticated`: a signature, version, expiry or hash that is not acceptable;
 * - `corrupt`: bytes that do not follow their format;
 * - `too_large`: a limit of the format is exceeded;
 * - `unsupported`: a newer format, or a platform without the needed cryptography;
 * - `not_found`, `unavailable`: a file that the source does not have, or cannot deliver now;
 * - `invalid_argument`: a mistake of the caller.
 * @typedef {'unauthenticated' | 'corrupt' | 'too_large' | 'unsupported' | 'not_found' | 'unavailable' |
 *   'invalid_argument'} ErrorCode
 */

/** A refusal. `message` is one line. */
export class ReadError extends Error {
  /**
   * @param {ErrorCode} code
   * @param {string} message
   */
  constructor(code, message) {
    super(message);
    this.name = 'ReadError';
    /** @readonly */
    this.code = code;
  }
}

/**
 * Adds the context to the message of a refusal and throws it; other errors stay as they are.
 * @param {unknown} error
 * @param {string} context
 * @returns {never}
 */
export function rethrowWithin(error, context) {
  if (error instanceof ReadError) throw new ReadError(error.code, `${context}: ${error.message}`);
  throw error;
}

/**
 * @param {string} message
 * @returns {never}
 */
export function corrupt(message) {
  throw new ReadError('corrupt', message);
}
