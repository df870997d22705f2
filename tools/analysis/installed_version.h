#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace fieldcost::analysis {

// The package version of a library on this machine, in the form of stats::ApiKey; empty if it is
// not installed, belongs to no package, or is unknown.
using InstalledVersion = std::function<std::string(const std::string& untrusted_soname)>;

// Queries the package managers (dpkg-query, then rpm) about the file that the dynamic linker would
// most likely load. A query takes up to 0.2 s, so results are cached in memory and in a file until
// the manager's database changes. Not thread-safe; processes may share the file.
class InstalledVersions {
 public:
  using Ask = std::function<std::string(const std::string& soname)>;
  // `databases`: files that change when packages are installed; if none exists, there are no
  // queries. `cache`: the file of cached results; empty = none. A cache that cannot be read or
  // written only costs time.
  InstalledVersions(std::vector<std::filesystem::path> databases, std::filesystem::path cache,
                    Ask ask);
  std::string Of(const std::string& untrusted_soname);

 private:
  std::int64_t Stamp() const;  // last change of a database in ns; 0 = none exists
  void Read(std::int64_t stamp);
  void Write() const;

  std::vector<std::filesystem::path> databases_;
  std::filesystem::path cache_;
  Ask ask_;
  std::int64_t stamp_ = 0;  // when a database changed last
  std::map<std::string, std::string, std::less<>> known_;
};

// Queries the package managers through one instance for the whole process, with a cache in
// $XDG_CACHE_HOME/fieldcost or ~/.cache/fieldcost.
InstalledVersion AskPackageManager();

}  // namespace fieldcost::analysis
