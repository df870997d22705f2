// The limits of the published files (common/wire/CATALOG.md). Sizes in bytes.

export const KIB = 1024;
export const MIB = 1024 * KIB;

export const MAX_TIMESTAMP_BYTES = 16 * KIB;
export const MAX_ROOT_BYTES = 64 * KIB;
export const MAX_METADATA_BYTES = 8 * MIB;
export const MAX_SIGNATURES = 16;
export const MAX_KEYS = 16;  // of a role
export const MAX_ROOT_UPDATES = 256;  // fetched in one update
export const MAX_FRAGMENT_BITS = 16;
export const MAX_FRAGMENT_BYTES = 4 * MIB;  // compressed
export const MAX_FRAGMENT_DECODED_BYTES = 64 * MIB;
export const MAX_FRAGMENT_ROWS = 2 ** 20;
export const MAX_NESTING = 16;  // of protobuf messages
export const MAX_STRINGS = 65536;  // of a table
export const MAX_SLOT = 64;  // of a histogram's buckets
export const MAX_SONAME_BYTES = 63;
export const MAX_SYMBOL_BYTES = 255;
export const MAX_VERSION_BYTES = 63;
export const MAX_BUILD_ID_BYTES = 64;
export const MAX_CLASS_TEXT_BYTES = 63;
export const MAX_LOG2_CORES = 20;
export const MAX_LOG2_MEMORY_MIB = 44;
