#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "aggregator/demo/libraries.h"
#include "common/crypto/ed25519.h"
#include "common/wire/batch.h"

namespace fieldcost::demo {

inline constexpr std::uint32_t kWeeks = 12;
// With fewer agents, no hardware class would have enough for a publication.
inline constexpr std::uint32_t kMinAgents = 20;
inline constexpr std::uint32_t kMaxAgents = 20'000;
inline constexpr std::uint32_t kDefaultAgents = 480;     // 120 of each hardware class
inline constexpr std::uint32_t kDefaultLastWeek = 2967;  // begins on 2026-11-12

struct FleetOptions {
  std::uint64_t seed = 1;
  std::uint32_t agents = kDefaultAgents;
  std::uint32_t last_week = kDefaultLastWeek;

  std::uint32_t first_week() const { return last_week - (kWeeks - 1); }
};

// A function that is too slow on one machine, so that a check must find it.
struct Ailment {
  std::string_view soname;
  std::string_view symbol;
  std::uint32_t percent;  // of its healthy cost, for wall time and first calls
};

std::span<const Ailment> PlantedAilments();

// A synthetic fleet: every machine has a hardware class, its own typical costs, and its own upgrade
// time for each library. Every batch depends on the options alone, not on the order of calls.
// Immutable, thread-safe.
class Fleet {
 public:
  explicit Fleet(FleetOptions options) : options_(options) {}

  const FleetOptions& options() const { return options_; }

  // A machine's measurements of a week, as if all of them were first contributions. Machine numbers
  // beyond options().agents are also valid.
  wire::BatchContent BatchOf(std::uint32_t agent, std::uint32_t week) const;
  // The same for a machine with ailments.
  wire::BatchContent BatchOf(std::uint32_t agent, std::uint32_t week,
                             std::span<const Ailment> ailments) const;

  // The machine's key for an epoch, derived from the seed, so useless for anything else.
  crypto::PrivateKey SigningKeyOf(std::uint32_t agent, wire::Epoch epoch) const;

  // The index of the library's version that the machine has in the week.
  std::size_t VersionOf(const LibraryModel& library, std::uint32_t agent, std::uint32_t week) const;

 private:
  FleetOptions options_;
};

}  // namespace fieldcost::demo
