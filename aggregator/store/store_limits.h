#pragma once

#include <cstddef>
#include <cstdint>

#include "common/base/units.h"
#include "common/wire/wire_limits.h"

namespace fieldcost::store {

// Every bound of the store. Sizes in bytes.
inline constexpr int kMaxOpenFiles = 512;         // table files that the engine keeps open
inline constexpr unsigned kLedgerWindow = 64;     // sequences with stored responses
inline constexpr std::size_t kAgentIdBytes = 32;  // a keyed hash of an agent's public key
// Parts of keys (LAYOUT.md).
inline constexpr std::size_t kNumberBytes = 8;  // an epoch or a sequence
inline constexpr std::size_t kHeadKeyBytes = kAgentIdBytes + kNumberBytes;
inline constexpr std::size_t kWeekBytes = 4;  // the end of a row key
inline constexpr std::size_t kMaxAnswerBytes = 64 * kKiB;
inline constexpr std::size_t kMaxRowKeyBytes = 2 * kKiB;
inline constexpr unsigned kLedgerStripes = 64;  // maximum number of agents handled concurrently
inline constexpr std::size_t kMaxBindingBytes = 1 * kKiB;

// Withdrawals per agent and epoch of batches that never arrived; each is recorded. This is more
// than a restored backup may lack. Further ones must wait until the epoch is over.
inline constexpr std::uint64_t kMaxUndelivered = 256;

// Held batches of one agent, in addition to the honest ones that end its probation.
inline constexpr std::uint64_t kMaxHeldBeyondProbation = 64;
// The assumed size of a held batch in addition to its own bytes: for its entries in the ledger and
// its agent's memory, and per contribution stored in the ledger.
inline constexpr std::uint64_t kHeldBatchCost = 1 * kKiB;
inline constexpr std::uint64_t kContributionCost = 8;

// Invitations (invitation.h).
inline constexpr std::size_t kTokenHashBytes = 32;  // SHA-256
inline constexpr std::uint32_t kMaxInvitationUses = 1'000'000;
inline constexpr std::size_t kMaxInvitationLabelBytes = 100;
// Epochs with stored uses. Batches of fewer epochs are accepted at any time.
inline constexpr std::size_t kMaxInvitationEpochs = 4;

// Maximum number of entries that Expire() examines between two atomic writes. Checkpoints wait that
// long.
inline constexpr std::size_t kExpiryStepEntries = 10'000;

// APIs in a report of a removal: those that change most.
inline constexpr std::size_t kMaxShownChanges = 10;

// Maximum number of held batches examined before those found are dropped in one write.
inline constexpr std::size_t kDropStepEntries = 1'000;

// Dirty rows, including those that a checkpoint is writing, may take this multiple of their
// configured size. Above it, Accept() waits.
inline constexpr std::size_t kDirtyOverdraft = 2;

static_assert(kMaxRowKeyBytes > wire::kMaxSonameBytes + wire::kMaxSymbolBytes +
                                    2 * wire::kMaxVersionBytes + wire::kMaxBuildIdBytes +
                                    3 * wire::kMaxClassTextBytes + 64);

}  // namespace fieldcost::store
