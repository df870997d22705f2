#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace fieldcost::analysis {

// The version of the package that a library of this machine belongs to, as stats::ApiKey has it;
// empty if it is not installed, belongs to no package, or that is not known.
using InstalledVersion = std::function<std::string(const std::string& untrusted_soname)>;

// Asks the package managers (dpkg-query, then rpm) about the file that the dynamic linker would
// most likely load. A question takes up to 0.2 s, so answers are kept, in memory and in a file,
// until the manager's database changes. Not thread-safe; processes may share the file.
class InstalledVersions {
 public:
  using Ask = std::function<std::string(const std::string& soname)>;
  // `databases`: files that change when packages are installed; without any that exists, nothing is
  // asked. `cache`: the file of the answers; empty = none. A cache that cannot be read or written
  // only costs time.
  InstalledVersions(std::vector<std::filesystem::path> databases, std::filesystem::path cache,
                    Ask ask);
  std::string Of(const std::string& untrusted_soname);

 private:
  std::int64_t Stamp() const;  // when a database changed last, in ns; 0 = there is none
  void Read(std::int64_t stamp);
  void Write() const;

  std::vector<std::filesystem::path> databases_;
  std::filesystem::path cache_;
  Ask ask_;
  std::int64_t stamp_ = 0;  // when a database changed last
  std::map<std::string, std::string, std::less<>> known_;
};

// The package manager's answers, one store for the whole process, with a cache in
// $XDG_CACHE_HOME/fieldcost or ~/.cache/fieldcost.
InstalledVersion AskPackageManager();

}  // namespace fieldcost::analysis
