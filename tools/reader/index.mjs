// A second reader of published costs, independent of the C++ programs. README.md has an example.

export { nodeCryptography, platformCryptography, webCryptography } from './crypto.mjs';
export { ReadError } from './errors.mjs';
export { decodeFragment } from './fragment.mjs';
export { METRICS } from './metrics.mjs';
export { decodePeriods } from './periods.mjs';
export { Publication, openPublication } from './publication.mjs';
export { folderSource, serverSource } from './sources.mjs';
export { newTrustState } from './trust.mjs';
