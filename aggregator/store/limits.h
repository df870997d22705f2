#pragma once

#include <cstddef>
#include <cstdint>

#include "common/base/units.h"
#include "common/wire/limits.h"

namespace fieldcost::store {

// Every bound of the store. Sizes in bytes.
inline constexpr int kMaxOpenFiles = 512;         // tables that the engine keeps open
inline constexpr unsigned kLedgerWindow = 64;     // sequences whose answers are remembered
inline constexpr std::size_t kAgentIdBytes = 32;  // a keyed hash of an agent's public key
inline constexpr std::size_t kMaxAnswerBytes = 64 * kKiB;
inline constexpr std::size_t kMaxRowKeyBytes = 2 * kKiB;
inline constexpr unsigned kLedgerStripes = 64;  // agents handled at the same time, at most
inline constexpr std::size_t kMaxBindingBytes = 1 * kKiB;

// Withdrawals by one agent and epoch of batches that had never arrived, each of which is
// remembered. That is more than a restored backup may lack; further ones have to wait until the
// epoch is over.
inline constexpr std::uint64_t kMaxUndelivered = 256;

// Batches of one agent that are held, beside the honest ones that end its probation.
inline constexpr std::uint64_t kMaxHeldBeyondProbation = 64;
// What a held batch is assumed to take beside its own bytes, for the ledger's entries and the
// memory for its agent, and for each contribution that the ledger remembers.
inline constexpr std::uint64_t kHeldBatchCost = 1 * kKiB;
inline constexpr std::uint64_t kContributionCost = 8;

// Invitations (invitation.h).
inline constexpr std::size_t kTokenHashBytes = 32;  // SHA-256
inline constexpr std::uint32_t kMaxInvitationUses = 1'000'000;
inline constexpr std::size_t kMaxInvitationLabelBytes = 100;
// Epochs whose uses are remembered; batches of fewer are accepted at one time.
inline constexpr std::size_t kMaxInvitationEpochs = 4;

// Entries looked at, at most, between two of Expire()'s atomic writes. Checkpoints wait that long.
inline constexpr std::size_t kExpiryStepEntries = 10'000;

// APIs that a removal changes most, in a report.
inline constexpr std::size_t kMaxShownChanges = 10;

// Held batches looked at, at most, before those to be dropped are.
inline constexpr std::size_t kDropStepEntries = 1'000;

// Dirty rows, those that a checkpoint is writing included, may take this multiple of their
// configured size; then Accept() waits.
inline constexpr std::size_t kDirtyOverdraft = 2;

static_assert(kMaxRowKeyBytes > wire::kMaxSonameBytes + wire::kMaxSymbolBytes +
                                    2 * wire::kMaxVersionBytes + wire::kMaxBuildIdBytes +
                                    3 * wire::kMaxClassTextBytes + 64);

}  // namespace fieldcost::store
