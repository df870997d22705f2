#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace fieldcost::analysis {

// The version of the package that a library of this machine belongs to, as stats::ApiKey has it;
// empty if it is not installed, belongs to no package, or that is not known.
using InstalledVersion = std::function<std::string(const std::string& untrusted_soname)>;

// Asks the package manager (dpkg-query, else rpm) about the file that the dynamic linker would most
// likely load. A question takes up to 0.2 s, so answers are kept, in memory and in a file, until
// the manager's database changes. Not thread-safe; processes may share the file.
class InstalledVersions {
 public:
  using Ask = std::function<std::string(const std::string& soname)>;
  // `database`: a file that changes when packages are installed. `cache`: the file of the answers;
  // empty = none. A cache that cannot be read or written only costs time.
  InstalledVersions(std::filesystem::path database, std::filesystem::path cache, Ask ask);
  std::string Of(const std::string& untrusted_soname);

 private:
  void Read(std::int64_t stamp);
  void Write() const;

  std::filesystem::path database_;
  std::filesystem::path cache_;
  Ask ask_;
  std::int64_t stamp_ = 0;  // when the database changed last
  std::map<std::string, std::string, std::less<>> known_;
};

// The package manager's answers, one store for the whole process, with a cache in
// $XDG_CACHE_HOME/fieldcost or ~/.cache/fieldcost.
InstalledVersion AskPackageManager();

// The version in what `dpkg-query --search` answers, then `--show`: the package of the first line
// that is about no diversion; empty if there is none.
std::string PackageIn(std::string_view untrusted_search_output);

}  // namespace fieldcost::analysis
