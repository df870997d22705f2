#include "aggregator/demo/libraries.h"

#include <array>

#include "common/base/text.h"
#include "common/crypto/sha256.h"

namespace fieldcost::demo {
namespace {

constexpr std::string_view kSqlite = "libsqlite3.so.0";
constexpr std::string_view kZlib = "libz.so.1";
constexpr std::string_view kJsoncpp = "libjsoncpp.so.25";

constexpr std::array<std::string_view, kVersions> kSqliteVersions = {
    "3.44.2+synthetic", "3.45.3+synthetic", "3.46.1+synthetic"};
constexpr std::array<std::string_view, kVersions> kZlibVersions = {
    "1.2.13+synthetic", "1.3.0+synthetic", "1.3.1+synthetic"};
constexpr std::array<std::string_view, kVersions> kJsoncppVersions = {
    "1.9.4+synthetic", "1.9.5+synthetic", "1.9.6+synthetic"};

constexpr std::array kSqliteApis = {
    ApiModel{.symbol = "sqlite3_step",
             .typical = 1050,
             .spread = 60,
             .between = 35,
             .slow_percent = 7,
             .slow = 620,
             .disk_read = 1200},
    ApiModel{.symbol = "sqlite3_column_text", .typical = 620, .spread = 45, .between = 20},
    ApiModel{.symbol = "sqlite3_column_int64", .typical = 480, .spread = 30, .between = 15},
    ApiModel{.symbol = "sqlite3_bind_text",
             .typical = 690,
             .spread = 50,
             .between = 25,
             .allocated = 600},
    ApiModel{.symbol = "sqlite3_bind_int64", .typical = 520, .spread = 35, .between = 15},
    ApiModel{.symbol = "sqlite3_reset", .typical = 660, .spread = 55, .between = 25},
    ApiModel{.symbol = "sqlite3_prepare_v2",
             .typical = 1420,
             .spread = 80,
             .between = 40,
             .first_call = 350,
             .allocated = 1150},
    ApiModel{.symbol = "sqlite3_finalize", .typical = 830, .spread = 60, .between = 30},
    ApiModel{.symbol = "sqlite3_changes", .typical = 400, .spread = 25, .between = 10},
    ApiModel{.symbol = "sqlite3_errmsg", .typical = 560, .spread = 50, .between = 30},
    ApiModel{.symbol = "sqlite3_exec",
             .typical = 1630,
             .spread = 110,
             .between = 50,
             .tail_percent = 8,
             .allocated = 1250},
    ApiModel{.symbol = "sqlite3_open_v2",
             .typical = 1700,
             .spread = 70,
             .between = 55,
             .first_call = 280,
             .allocated = 1500},
    ApiModel{.symbol = "sqlite3_close_v2", .typical = 1500, .spread = 90, .between = 50},
    ApiModel{.symbol = "sqlite3_wal_checkpoint_v2",
             .typical = 2050,
             .spread = 120,
             .between = 60,
             .tail_percent = 20},
};

constexpr std::array kZlibApis = {
    ApiModel{.symbol = "crc32", .typical = 700, .spread = 40, .between = 15, .input = 300},
    ApiModel{.symbol = "inflate", .typical = 1150, .spread = 60, .between = 30, .input = 400},
    ApiModel{.symbol = "deflate", .typical = 1350, .spread = 70, .between = 35, .input = 400},
    ApiModel{.symbol = "adler32", .typical = 680, .spread = 35, .between = 15, .input = 300},
    ApiModel{.symbol = "inflateReset2", .typical = 620, .spread = 40, .between = 20},
    ApiModel{.symbol = "gzread",
             .typical = 1100,
             .spread = 60,
             .between = 35,
             .slow_percent = 12,
             .slow = 500,
             .disk_read = 1500},
    ApiModel{
        .symbol = "inflateInit2_", .typical = 1020, .spread = 50, .between = 25, .allocated = 1280},
    ApiModel{.symbol = "inflateEnd", .typical = 760, .spread = 45, .between = 20},
    ApiModel{.symbol = "deflateInit_",
             .typical = 1380,
             .spread = 55,
             .between = 30,
             .first_call = 220,
             .allocated = 1800},
    ApiModel{.symbol = "deflateEnd", .typical = 900, .spread = 50, .between = 25},
    ApiModel{.symbol = "compress2",
             .typical = 1600,
             .spread = 80,
             .between = 40,
             .input = 400,
             .allocated = 1800},
    ApiModel{.symbol = "gzopen",
             .typical = 1450,
             .spread = 80,
             .between = 60,
             .first_call = 300,
             .allocated = 1320},
};

// libjsoncpp's names are mangled C++ names, in order to have namespaces and overloads, too.
constexpr std::string_view kParse =
    "_ZN4Json6Reader5parseERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEERNS_5ValueEb";
constexpr std::string_view kWrite =
    "_ZN4Json11writeStringB5cxx11ERKNS_12StreamWriter7FactoryERKNS_5ValueE";
constexpr std::string_view kIsMember = "_ZNK4Json5Value8isMemberEPKc";
constexpr std::string_view kCopy = "_ZN4Json5ValueC1ERKS0_";

constexpr std::array kJsoncppApis = {
    ApiModel{.symbol = "_ZNK4Json5ValueixEPKc", .typical = 640, .spread = 50, .between = 20},
    ApiModel{.symbol = "_ZN4Json5ValueD1Ev", .typical = 520, .spread = 70, .between = 20},
    ApiModel{.symbol = "_ZNK4Json5Value6asBoolEv", .typical = 420, .spread = 25, .between = 10},
    ApiModel{.symbol = "_ZNK4Json5Value5asIntEv", .typical = 430, .spread = 30, .between = 10},
    ApiModel{.symbol = "_ZN4Json5ValueixEPKc",
             .typical = 780,
             .spread = 60,
             .between = 25,
             .slow_percent = 15,
             .slow = 300,
             .allocated = 680},
    ApiModel{.symbol = "_ZNK4Json5Value8asStringB5cxx11Ev",
             .typical = 700,
             .spread = 55,
             .between = 25,
             .allocated = 560},
    ApiModel{.symbol = kIsMember, .typical = 660, .spread = 50, .between = 25},
    ApiModel{.symbol = "_ZN4Json5Value6appendERKS0_",
             .typical = 840,
             .spread = 60,
             .between = 30,
             .allocated = 650},
    ApiModel{.symbol = kCopy,
             .typical = 900,
             .spread = 70,
             .between = 30,
             .input = 300,
             .allocated = 800},
    ApiModel{
        .symbol = "_ZN4Json5ValueC1ENS_9ValueTypeE", .typical = 500, .spread = 30, .between = 15},
    ApiModel{.symbol = kWrite,
             .typical = 1350,
             .spread = 80,
             .between = 40,
             .input = 300,
             .allocated = 1200},
    ApiModel{.symbol = kParse,
             .typical = 1480,
             .spread = 80,
             .between = 45,
             .input = 300,
             .first_call = 250,
             .allocated = 1300},
    ApiModel{.symbol = "_ZN4Json19StreamWriterBuilderC1Ev",
             .typical = 1120,
             .spread = 60,
             .between = 35,
             .allocated = 900},
};

constexpr std::array kLibraries = {
    LibraryModel{.soname = kSqlite, .versions = kSqliteVersions, .apis = kSqliteApis},
    LibraryModel{.soname = kZlib, .versions = kZlibVersions, .apis = kZlibApis},
    LibraryModel{.soname = kJsoncpp, .versions = kJsoncppVersions, .apis = kJsoncppApis},
};

constexpr std::array kPlanted = {
    PlantedChange{kSqlite, "sqlite3_prepare_v2", 1, 175},
    PlantedChange{kSqlite, "sqlite3_column_text", 1, 55},
    PlantedChange{kSqlite, "sqlite3_step", 2, 180},
    PlantedChange{kSqlite, "sqlite3_exec", 2, 50},
    PlantedChange{kZlib, "crc32", 1, 190},
    PlantedChange{kZlib, "inflate", 1, 50},
    PlantedChange{kZlib, "deflateInit_", 2, 200},
    PlantedChange{kZlib, "compress2", 2, 50},
    PlantedChange{kJsoncpp, kIsMember, 1, 190},
    PlantedChange{kJsoncpp, kWrite, 1, 50},
    PlantedChange{kJsoncpp, kParse, 2, 185},
    PlantedChange{kJsoncpp, kCopy, 2, 50},
};

}  // namespace

std::span<const LibraryModel> Libraries() { return kLibraries; }

std::span<const PlantedChange> PlantedChanges() { return kPlanted; }

std::uint32_t CostPercent(const LibraryModel& library, std::size_t version,
                          std::string_view symbol) {
  std::uint32_t percent = 100;
  for (const PlantedChange& change : kPlanted) {
    if (change.soname == library.soname && change.symbol == symbol && change.version <= version) {
      percent = percent * change.percent / 100;
    }
  }
  return percent;
}

stats::ApiKey KeyOf(const LibraryModel& library, std::size_t version, const ApiModel& api) {
  const std::string build =
      crypto::Sha256(std::string(library.soname) + "!" + std::string(library.versions[version]));
  constexpr std::size_t kBuildIdBytes = 20;
  return {.soname = std::string(library.soname),
          .package_version = std::string(library.versions[version]),
          .build_id = HexEncode({build.data(), kBuildIdBytes}),
          .symbol = std::string(api.symbol),
          .symbol_version = ""};
}

std::span<const HardwareModel> HardwareModels() {
  static const std::array<HardwareModel, 4> models = {
      HardwareModel{.hardware = {.architecture = "x86_64",
                                 .cpu_family = "GenuineIntel-6",
                                 .log2_cores = 2,
                                 .log2_memory_mib = 13,
                                 .os_release = "debian-12"},
                    .slower = 0},
      HardwareModel{.hardware = {.architecture = "x86_64",
                                 .cpu_family = "GenuineIntel-6",
                                 .log2_cores = 4,
                                 .log2_memory_mib = 15,
                                 .os_release = "debian-12"},
                    .slower = 20},
      HardwareModel{.hardware = {.architecture = "x86_64",
                                 .cpu_family = "AuthenticAMD-25",
                                 .log2_cores = 3,
                                 .log2_memory_mib = 14,
                                 .os_release = "ubuntu-24.04"},
                    .slower = -10},
      HardwareModel{.hardware = {.architecture = "x86_64",
                                 .cpu_family = "AuthenticAMD-23",
                                 .log2_cores = 6,
                                 .log2_memory_mib = 17,
                                 .os_release = "debian-12"},
                    .slower = 5},
  };
  return models;
}

}  // namespace fieldcost::demo
