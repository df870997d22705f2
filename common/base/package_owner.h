#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fieldcost {

// Which package a file belongs to; both empty if it belongs to none.
struct PackageOwner {
  std::string package;  // "zlib1g", without architecture
  std::string version;  // "1:1.2.13.dfsg-1"; of rpm's packages "1:1.2.13-7.fc38"
  bool operator==(const PackageOwner&) const = default;
};

// The package managers of this machine.
struct PackageManagers {
  std::filesystem::path dpkg_query = "/usr/bin/dpkg-query";
  std::filesystem::path rpm = "/usr/bin/rpm";
  // One that exists shows that rpm is in use; it changes when packages are installed. These are the
  // backends sqlite, ndb (openSUSE) and bdb (before rpm 4.16), where distributions have them.
  std::vector<std::filesystem::path> rpm_databases = {
      "/usr/lib/sysimage/rpm/rpmdb.sqlite", "/var/lib/rpm/rpmdb.sqlite",
      "/usr/lib/sysimage/rpm/Packages.db", "/var/lib/rpm/Packages.db", "/var/lib/rpm/Packages"};
};

// Asks dpkg-query, then rpm, whose file this is; takes up to 0.2 s. nullopt: not known now, which
// may change while the file stays.
std::optional<PackageOwner> AskOwner(const PackageManagers& managers,
                                     const std::string& untrusted_path);

// The names under which a package database may know a file: as given, resolved, and each with and
// without a leading /usr (merged /usr). Empty if the path is not absolute or has characters that
// dpkg-query takes for patterns.
std::vector<std::string> PackagePaths(const std::string& untrusted_path);

// The package in what `dpkg-query --search` prints: the first of the first line that is about no
// diversion, with its architecture if it has one; empty if there is none.
std::string PackageIn(std::string_view untrusted_search_output);

// The package in what `rpm -qf --queryformat '%{NAME} %{EVR}\n'` prints; empty if the file belongs
// to none, which rpm reports there, too.
PackageOwner RpmOwnerIn(std::string_view untrusted_query_output);

}  // namespace fieldcost
