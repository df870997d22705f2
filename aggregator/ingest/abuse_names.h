#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"

namespace fieldcost::ingest {

inline constexpr char kAbuseNamesSecret[] = "abuse_names.secret";  // its file's name

// Names of agents in the abuse log: a keyed hash of the agent's id, under a secret of the day
// (UTC). Each day's secret is the SHA-256 of the previous day's, and the file keeps the one of
// kDaysNamesAreKnown days ago. The names of the last days can be resolved with it; earlier ones
// cannot. ABUSE.md has the bytes. A value; not thread-safe.
class AbuseNames {
 public:
  // How long an operator can resolve names.
  static constexpr std::int64_t kDaysNamesAreKnown = 7;

  // Reads the file (mode 0600), or creates one if there is none. kCorrupt, naming the file, if it
  // contains anything else.
  static Result<AbuseNames> LoadOrCreate(const std::filesystem::path& path, WallTime now);
  // Whether LoadOrCreate() would read the file: kCorrupt, or why it cannot be read. Changes
  // nothing.
  static Status CheckFile(const std::filesystem::path& path);
  // Names that can be resolved only while the process lives.
  static AbuseNames InMemory(WallTime now);

  // Returns 16 hex digits. Each new day is written to the file; if that fails, the file resolves
  // names for longer, which is logged. If the clock goes back further than the file reaches, a new
  // secret begins.
  std::string NameOf(std::string_view agent_id, WallTime now);

  // Whether a text has the form of a name.
  static bool IsName(std::string_view untrusted_text);

  // Resolves names of the last days.
  class Reader {
   public:
    // Whether the agent had this name on one of the last days.
    bool IsNamed(std::string_view agent_id, std::string_view name) const;

   private:
    friend class AbuseNames;
    std::vector<std::string> secrets_;
  };
  Reader ReaderAt(WallTime now);

 private:
  AbuseNames() = default;
  static Result<AbuseNames> Load(const std::filesystem::path& path);
  // Advances the oldest secret to the day that it must have.
  void AdvanceTo(std::int64_t day);
  void Write() const;
  std::string SecretOf(std::int64_t day) const;

  std::filesystem::path path_;  // empty = only in memory
  std::int64_t oldest_day_ = 0;
  std::string oldest_secret_;
  std::int64_t day_ = 0;  // of the secret in use
  std::string secret_;
};

}  // namespace fieldcost::ingest
