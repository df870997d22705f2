// Writes the indexes of static sites, without their pages of functions: write_sites FOLDER
//
//   small/  six functions, and names that try to be markup
//   large/  50,000 functions of 1,000 libraries

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "common/base/check.h"
#include "tools/report/cards/site_pages.h"
#include "tools/report/file_names.h"

namespace fieldcost {
namespace {

constexpr std::size_t kLargeLibraries = 1'000;
constexpr std::size_t kLargeFunctions = 50'000;

Status WriteFile(const std::filesystem::path& path, const std::string& bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
  return {};
}

report::SiteName MakeName(const std::string& soname, const std::string& function,
                          const std::string& symbol, const std::string& cost) {
  return {.untrusted_function = function,
          .untrusted_searched = function.substr(0, function.find('(')),
          .untrusted_soname = soname,
          .page = report::PagePath({.soname = soname, .package_version = {}, .symbol = symbol}),
          .cost = cost};
}

void WriteSite(const std::filesystem::path& folder, const std::vector<report::SiteName>& names) {
  const auto write = [&](const std::string& path, const std::string& bytes) {
    return WriteFile(folder / path, bytes);
  };
  std::vector<report::SiteLibrary> libraries;
  for (const report::SiteName& name : names) {
    if (libraries.empty() || libraries.back().untrusted_soname != name.untrusted_soname) {
      libraries.push_back({.untrusted_soname = name.untrusted_soname,
                           .folder = report::SafeFileName(name.untrusted_soname),
                           .cards = {}});
    }
    libraries.back().cards.emplace_back();
  }
  const auto root = report::WriteSiteNames(names, write);
  FIELDCOST_CHECK(root.has_value());
  const report::SiteIndex index{
      .libraries = libraries, .names_root = *root, .provenance = {.synthetic = true}};
  for (std::size_t page = 0; page < index.pages(); ++page) {
    FIELDCOST_CHECK(write(report::SiteIndexPath(page), SiteIndexHtml(index, page)).has_value());
  }
}

std::vector<report::SiteName> SmallNames() {
  return {MakeName("libx.so.2", "Json::Reader::parse(char const*)", "_ZN1", "3 µs"),
          MakeName("libx.so.2", "<b>", "<b>", ""),
          MakeName("libx.so.2", "</script>\u2028größe", "</script>", "1 µs"),
          MakeName("libz.so.1", "deflate", "deflate", "90 µs"),
          MakeName("libz.so.1", "deflateInit_", "deflateInit_", "5 µs"),
          MakeName("libz.so.1", "flate", "flate", "1 µs"),
          MakeName("libz.so.1", "inflate", "inflate", "10 µs")};
}

// Names of three words, most of them frequent.
std::vector<report::SiteName> LargeNames() {
  constexpr std::array<const char*, 10> kWords = {"get", "set",  "value", "open",   "read",
                                                  "key", "list", "copy",  "string", "buffer"};
  std::vector<report::SiteName> names;
  for (std::size_t i = 0; i < kLargeFunctions; ++i) {
    const std::size_t library = i / (kLargeFunctions / kLargeLibraries);
    const std::string function =
        fmt::format("l{}_{}_{}_{}", library, kWords[i % 10], kWords[i / 10 % 10], i % 997);
    names.push_back(MakeName(fmt::format("lib{:04}.so.1", library), function, function, "1.5 µs"));
  }
  return names;
}

}  // namespace
}  // namespace fieldcost

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::filesystem::path folder = argv[1];
  fieldcost::WriteSite(folder / "small", fieldcost::SmallNames());
  fieldcost::WriteSite(folder / "large", fieldcost::LargeNames());
  return 0;
}
