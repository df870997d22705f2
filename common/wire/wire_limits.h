#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "common/base/units.h"

namespace fieldcost::wire {

// Every bound of the formats in this folder. Sizes in bytes.
inline constexpr std::uint32_t kBatchFormatVersion = 1;
inline constexpr std::uint32_t kFragmentFormatVersion = 1;
inline constexpr std::uint32_t kMetadataFormatVersion = 1;
inline constexpr std::uint32_t kLabFormatVersion = 1;

inline constexpr std::size_t kBatchTargetBytes = 128 * kKiB;    // encoded, before compression
inline constexpr std::size_t kMaxBatchBodyBytes = 256 * kKiB;   // compressed, as received
inline constexpr std::size_t kMaxBatchDecodedBytes = 1 * kMiB;  // after decompression
inline constexpr std::size_t kMaxCompressionRatio = 100;        // of what exceeds ...
inline constexpr std::size_t kRatioFreeBytes = 256 * kKiB;      // ... this, decompressed
inline constexpr int kMaxNesting = 16;                          // of protobuf messages
inline constexpr std::size_t kMaxBatchRows = 16384;
inline constexpr std::size_t kMaxStrings = 65536;
inline constexpr std::size_t kMaxSonameBytes = 63;
inline constexpr std::size_t kMaxSymbolBytes = 255;
inline constexpr std::size_t kMaxVersionBytes = 63;    // package and symbol versions
inline constexpr std::size_t kMaxBuildIdBytes = 64;    // hex digits
inline constexpr std::size_t kMaxClassTextBytes = 63;  // texts of a hardware class
inline constexpr std::uint32_t kMaxLog2Cores = 20;
inline constexpr std::uint32_t kMaxLog2MemoryMib = 44;  // 2^44 MiB = 16 EiB

inline constexpr std::size_t kMaxAnswerBytes = 64 * kKiB;  // the JSON answer to a batch
inline constexpr std::size_t kMaxListedRejects = 100;
inline constexpr std::size_t kMaxReasonBytes = 255;
inline constexpr std::size_t kMaxReceiptBytes = 6 * kKiB;  // as hex; fits a request's headers
inline constexpr std::size_t kMaxTokenBytes = 256;         // of an enrolment token

inline constexpr std::size_t kMaxFragmentBytes = 4 * kMiB;  // compressed
inline constexpr std::size_t kMaxFragmentDecodedBytes = 64 * kMiB;
inline constexpr std::size_t kMaxFragmentRows = 1 << 20;
inline constexpr std::size_t kMaxProfileRows = 1 << 15;  // of one machine
inline constexpr unsigned kMaxFragmentBits = 16;         // at most 2^16 fragments
inline constexpr std::size_t kMaxMetadataBytes = 8 * kMiB;
inline constexpr std::size_t kMaxSignatures = 16;
inline constexpr std::size_t kMaxRootKeys = 16;
inline constexpr std::size_t kMaxOperatorNameBytes = 127;  // of a root, as the next two
inline constexpr std::size_t kMaxOperatorContactBytes = 255;
inline constexpr std::size_t kMaxOperatorPrivacyBytes = 4095;
inline constexpr std::size_t kMaxPolicyBytes = 2 * kMiB;
inline constexpr std::size_t kMaxPolicyModules = 1024;  // as many as the shared policy file takes
inline constexpr std::size_t kMaxPolicyWeights = 16384;

// Limits of lab tables, which a user names.
inline constexpr std::size_t kMaxLabBytes = 32 * kMiB;  // compressed
inline constexpr std::size_t kMaxLabDecodedBytes = 64 * kMiB;
inline constexpr std::size_t kMaxLabApis = 1 << 14;       // as a program has stubs
inline constexpr std::size_t kMaxLabRows = 1 << 16;       // a row takes 4 KiB of memory
inline constexpr std::size_t kMaxLabArguments = 1 << 15;  // of all APIs; one takes 1.5 KiB
inline constexpr unsigned kMaxLabArgument = 6;            // the integer registers
inline constexpr std::size_t kMaxLabStacks = 1 << 20;     // nodes
inline constexpr std::size_t kMaxLabPairs = 1 << 22;
inline constexpr std::size_t kMaxLabParts = 4096;
inline constexpr std::size_t kMaxLabNameBytes = 255;
inline constexpr std::size_t kMaxLabEnvironmentBytes = 1023;

inline constexpr std::size_t kMaxStackFrames = 1024;  // of lab tables and pprof profiles

// Of any message, uncompressed.
inline constexpr std::size_t kMaxMessageBytes = 128 * kMiB;

static_assert(kBatchTargetBytes < kMaxBatchBodyBytes);
static_assert(kMaxBatchBodyBytes < kMaxBatchDecodedBytes);
static_assert(kBatchTargetBytes < kRatioFreeBytes, "an agent's batch is never taken for a bomb");
static_assert(kMaxListedRejects * (kMaxReasonBytes * 2 + 64) + kMaxReceiptBytes < kMaxAnswerBytes);
static_assert(kMaxProfileRows <= kMaxFragmentRows);
static_assert(kMaxMetadataBytes < kMaxMessageBytes);
static_assert(kMaxFragmentDecodedBytes <= kMaxMessageBytes);
static_assert(kMaxLabDecodedBytes <= kMaxMessageBytes);

}  // namespace fieldcost::wire
