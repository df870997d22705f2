#pragma once

namespace fieldcost::sqlite {

// A layer below SQLite (a "VFS") that keeps a checksum in the last 8 bytes of each page of a
// database file, seeded with the page's number, and compares it whenever a page is read. A page
// that the disk gives back otherwise is SQLITE_CORRUPT, never data. Frames of the write-ahead log
// have checksums of SQLite's own.
//
// Only such databases can be opened with it: pages of 4,096 bytes with 8 bytes reserved at the end.
// Programs that write to such a database without this layer leave wrong checksums behind.

inline constexpr int kCheckedPageBytes = 4096;
inline constexpr int kPageChecksumBytes = 8;

inline constexpr char kCheckedPages[] = "fieldcost-checked";
// The same without locks and shared memory: for a look at files that no program has open.
inline constexpr char kCheckedPagesAlone[] = "fieldcost-checked-alone";

// Makes both known to SQLite. Idempotent, thread-safe.
void RegisterCheckedPages();

}  // namespace fieldcost::sqlite
