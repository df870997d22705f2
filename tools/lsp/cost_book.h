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

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/catalog/catalog.h"
#include "common/stats/figures.h"
#include "tools/analysis/installed_version.h"
#include "tools/lsp/cxx_index.h"

namespace fieldcost::lsp {

// The contents of hovers and hints for one "soname!symbol": the version installed here, otherwise
// the newest, like `fieldcost show`; all hardware classes and weeks together.
struct ApiCosts {
  // Figures as in common/stats/figures.h. Metrics without known quantiles are absent.
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
  std::string installed;      // the version installed here; "" = none, or unknown
  bool is_installed = false;  // whether it is the version shown
  std::optional<Metric> time;
  std::optional<Metric> allocation;  // bytes per call, including callees
  double io_mean = 0;                // bytes per call, all four metrics; 0 = none or not measured
  std::vector<std::string> not_measured;  // texts: why some kinds of I/O have no value
  std::vector<Version> others;            // other versions with times, most contributions first
};

// Looks up costs in the local catalogue for an editor, which requests the same few names
// repeatedly. Caches results for kMaxCachedNames symbols until the catalogue changes. Never uses
// the network. Not thread-safe.
class CostBook {
 public:
  explicit CostBook(std::filesystem::path catalog_file,
                    analysis::InstalledVersion installed = analysis::AskPackageManager())
      : file_(std::move(catalog_file)), installed_(std::move(installed)) {}

  // Checks whether the file was written or replaced (two calls of stat) and if so reopens it and
  // returns true. Called before each request. Without a usable file there is no freshness() and
  // nothing is found; problem() has the reason.
  bool Refresh();

  const std::optional<catalog::Freshness>& freshness() const { return freshness_; }
  const std::string& problem() const { return problem_; }
  const std::filesystem::path& file() const { return file_; }

  // Costs in all libraries with the symbol, most contributions first; at most kMaxLibraries.
  using Found = std::shared_ptr<const std::vector<ApiCosts>>;
  Found Find(const std::string& symbol);

  // The page about all versions of a library's API (tools/report/cards/heat_page.h).
  // kNotFound without a usable catalogue, or if it does not contain the API.
  Result<std::string> PageOf(const stats::ApiKey& api, WallTime now) const;

  struct Names {
    std::vector<std::string> symbols;  // ascending, without duplicates
    bool more = false;                 // there may be more
  };
  // Symbols with this prefix; examines at most `limit` API names.
  Names FindPrefix(std::string_view prefix, std::size_t limit);

  // Indexes the C++ names that contain an identifier. For names with this last component, the
  // result answers like an index of all names. nullptr if more than kMaxFewNames must be examined.
  std::shared_ptr<const CxxIndex> IndexContaining(std::string_view identifier) const;

 private:
  // Identifies a state of the file.
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

// Converts the rows of one soname!symbol; `installed` is the installed version, "" = unknown.
// REQUIRES: !rows.empty().
ApiCosts MakeCosts(std::span<const stats::StatRow> rows, std::string_view installed);
inline ApiCosts MakeCosts(const std::vector<stats::StatRow>& rows,
                          std::string_view installed = "") {
  return MakeCosts(std::span(rows), installed);
}

// Indexes the C++ names of a catalogue, using a separate connection; returns an empty index if it
// cannot be read. Checks `stop` periodically.
CxxIndex IndexCxxNames(const std::filesystem::path& catalog_file,
                       const std::function<bool()>& stop);

}  // namespace fieldcost::lsp
