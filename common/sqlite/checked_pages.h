#pragma once

namespace fieldcost::sqlite {

// A layer below SQLite (a "VFS") that stores a checksum in the last 8 bytes of each page of a
// database file, seeded with the page's number, and verifies it on every read. A page that the disk
// has corrupted is SQLITE_CORRUPT, never data. Frames of the write-ahead log have SQLite's own
// checksums.
//
// It opens only databases with pages of 4,096 bytes, the last 8 of them reserved. Programs that
// write to such a database without this layer leave wrong checksums in it.

inline constexpr int kCheckedPageBytes = 4096;
inline constexpr int kPageChecksumBytes = 8;

inline constexpr char kCheckedPages[] = "fieldcost-checked";
// The same without locks and shared memory: for inspecting files that no program has open.
inline constexpr char kCheckedPagesAlone[] = "fieldcost-checked-alone";

// Registers both with SQLite. Idempotent, thread-safe.
void RegisterCheckedPages();

}  // namespace fieldcost::sqlite
