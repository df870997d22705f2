#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fieldcost {

// The package that a file belongs to; both members are empty if there is none.
struct PackageOwner {
  std::string package;  // "zlib1g", without architecture
  std::string version;  // "1:1.2.13.dfsg-1"; for rpm "1:1.2.13-7.fc38"
  bool operator==(const PackageOwner&) const = default;
};

// The package managers of this machine.
struct PackageManagers {
  std::filesystem::path dpkg_query = "/usr/bin/dpkg-query";
  std::filesystem::path rpm = "/usr/bin/rpm";
  // If one of these exists, rpm is in use; the file changes when packages are installed. The
  // backends are sqlite, ndb (openSUSE) and bdb (before rpm 4.16), at the paths used by
  // distributions.
  std::vector<std::filesystem::path> rpm_databases = {
      "/usr/lib/sysimage/rpm/rpmdb.sqlite", "/var/lib/rpm/rpmdb.sqlite",
      "/usr/lib/sysimage/rpm/Packages.db", "/var/lib/rpm/Packages.db", "/var/lib/rpm/Packages"};
};

// Asks dpkg-query, then rpm, for the owner of the file; takes up to 0.2 s. nullopt if the owner is
// currently unknown, which may change even if the file does not.
std::optional<PackageOwner> AskOwner(const PackageManagers& managers,
                                     const std::string& untrusted_path);

// The names under which a package database may list a file: as given and resolved, each with and
// without a leading /usr (merged /usr). Empty if the path is not absolute or contains characters
// that dpkg-query would treat as patterns.
std::vector<std::string> PackagePaths(const std::string& untrusted_path);

// Parses the output of `dpkg-query --search`: the first package of the first line that is not about
// a diversion, with its architecture if given; empty if there is none.
std::string PackageIn(std::string_view untrusted_search_output);

// Parses the output of `rpm -qf --queryformat '%{NAME} %{EVR}\n'`; empty if the file belongs to no
// package, which rpm also reports on standard output.
PackageOwner RpmOwnerIn(std::string_view untrusted_query_output);

}  // namespace fieldcost
