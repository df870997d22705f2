#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/base/result.h"
#include "common/catalog/catalog.h"
#include "common/stats/figures.h"
#include "tools/analysis/installed_version.h"
#include "tools/lsp/cxx_index.h"

namespace fieldcost::lsp {

// What a hover and a hint say about one "soname!symbol": its version that is installed here,
// otherwise the newest, as `fieldcost show`; all of its hardware classes and weeks together.
struct ApiCosts {
  // Figures as in common/stats/figures.h; a metric of which no quantiles are known is not there.
  struct Metric {
    stats::Quantiles quantiles;          // of the typical machine
    std::optional<std::uint64_t> calls;  // measured values
    std::optional<double> mean;
    std::uint64_t contributions = 0;
    std::string strata;    // "all classes, all weeks"
    std::string spectrum;  // UTF-8
  };
  struct Version {
    std::string name;
    double p50 = 0;
    std::uint64_t contributions = 0;
  };
  stats::ApiKey api;
  bool is_installed = false;  // of that version
  std::optional<Metric> time;
  std::optional<Metric> allocation;  // inclusive, bytes a call
  double io_mean = 0;                // bytes a call, all four metrics; 0 = none or not measured
  std::vector<std::string> not_measured;  // why I/O of some kinds has no value, in words
  std::vector<Version> others;            // other versions with times, most contributions first
};

// The local catalogue as an editor asks it: the same few names again and again. Keeps what was
// found for kMaxCachedNames symbols until the catalogue changes. Never uses the network. Not
// thread-safe.
class CostBook {
 public:
  explicit CostBook(std::filesystem::path catalog_file,
                    analysis::InstalledVersion installed = analysis::AskPackageManager())
      : file_(std::move(catalog_file)), installed_(std::move(installed)) {}

  // Looks whether the file was written or replaced (two calls of stat) and opens it anew if so;
  // true if it was. Called before a request is answered. Without a usable file there is no
  // freshness() and nothing is found; problem() says why.
  bool Refresh();

  const std::optional<catalog::Freshness>& freshness() const { return freshness_; }
  const std::string& problem() const { return problem_; }
  const std::filesystem::path& file() const { return file_; }

  // Costs in all libraries with that symbol, most contributions first; at most kMaxLibraries.
  using Found = std::shared_ptr<const std::vector<ApiCosts>>;
  Found Find(const std::string& symbol);

  struct Names {
    std::vector<std::string> symbols;  // ascending, each once
    bool more = false;                 // there may be others
  };
  // Symbols that begin so; looks at `limit` names of APIs.
  Names FindPrefix(std::string_view prefix, std::size_t limit);

 private:
  // What tells one state of a file from another.
  struct Stamp {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t size = -1;  // no such file
    std::int64_t modified_ns = 0;
    bool operator==(const Stamp&) const = default;
  };
  static Stamp StampOf(const std::filesystem::path& file);

  std::filesystem::path file_;
  analysis::InstalledVersion installed_;
  bool opened_ = false;
  Stamp database_;
  Stamp log_;
  std::optional<catalog::Catalog> catalog_;
  std::optional<catalog::Freshness> freshness_;
  std::string problem_;
  std::unordered_map<std::string, Found> cache_;
};

// Rows of one soname!symbol to what is shown, with the installed version, "" = not known.
// REQUIRES: !rows.empty().
ApiCosts MakeCosts(std::span<const stats::StatRow> rows, std::string_view installed);
inline ApiCosts MakeCosts(const std::vector<stats::StatRow>& rows,
                          std::string_view installed = "") {
  return MakeCosts(std::span(rows), installed);
}

// Indexes the C++ names of a catalogue, with a connection of its own; an empty index if it cannot
// be read. `stop` is asked now and then.
CxxIndex IndexCxxNames(const std::filesystem::path& catalog_file,
                       const std::function<bool()>& stop);

}  // namespace fieldcost::lsp
