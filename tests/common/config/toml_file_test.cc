#include "common/config/toml_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>

#include "common/base/file.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::config {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TomlFile Parsed(std::string_view text) {
  Result<TomlFile> file = TomlFile::Parse(text, "conf/a.toml");
  EXPECT_TRUE(file) << file.error().message;
  return *std::move(file);
}

std::string FinishMessage(TomlFile& file) {
  const Status status = file.Finish();
  if (status) return "";
  EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(status.error().message.find('\n'), std::string::npos) << status.error().message;
  return status.error().message;
}

TEST(TomlFileTest, ReadsEveryKindOfValue) {
  TomlFile file = Parsed(R"(
name = "fieldcost"
[listen]
port = 8443
share = 0.25
whole = 3
open = true
hosts = ["a", "b"]
[tls.files]
certificate = "tls/cert.pem"
key = "/etc/key.pem"
none = ""
)");
  std::string name;
  std::uint64_t port = 0;
  double share = 0;
  double whole = 0;
  bool open = false;
  std::vector<std::string> hosts;
  std::filesystem::path certificate;
  std::filesystem::path key;
  std::filesystem::path none = "default";
  file.ReadString("name", name);
  file.ReadUint("listen.port", 0, 65535, port);
  file.ReadDouble("listen.share", 0, 1, share);
  file.ReadDouble("listen.whole", 0, 3, whole);
  file.ReadBool("listen.open", open);
  file.ReadStrings("listen.hosts", hosts);
  file.ReadPath("tls.files.certificate", certificate);
  file.ReadPath("tls.files.key", key);
  file.ReadPath("tls.files.none", none);
  EXPECT_EQ(FinishMessage(file), "");
  EXPECT_EQ(name, "fieldcost");
  EXPECT_EQ(port, 8443u);
  EXPECT_EQ(share, 0.25);
  EXPECT_EQ(whole, 3);
  EXPECT_TRUE(open);
  EXPECT_THAT(hosts, ElementsAre("a", "b"));
  EXPECT_EQ(certificate, "conf/tls/cert.pem");
  EXPECT_EQ(key, "/etc/key.pem");
  EXPECT_EQ(none, "");
}

TEST(TomlFileTest, AbsentKeysLeaveTheDefaults) {
  TomlFile file = Parsed("");
  std::string name = "default";
  std::uint64_t port = 7;
  std::vector<std::string> hosts = {"x"};
  file.ReadString("name", name);
  file.ReadUint("listen.port", 1, 9, port);
  file.ReadStrings("listen.hosts", hosts);
  EXPECT_EQ(FinishMessage(file), "");
  EXPECT_EQ(name, "default");
  EXPECT_EQ(port, 7u);
  EXPECT_THAT(hosts, ElementsAre("x"));
}

TEST(TomlFileTest, UnknownKeysAreNamedWithPlaceAndNearestKnownKey) {
  TomlFile file = Parsed("[listen]\naddress = \"::1\"\n  prot = 1\n");
  std::string address;
  std::uint64_t port = 0;
  file.ReadString("listen.address", address);
  file.ReadUint("listen.port", 0, 65535, port);
  EXPECT_EQ(FinishMessage(file),
            "conf/a.toml:3:3: listen.prot: unknown key; the nearest known one is listen.port");
}

TEST(TomlFileTest, NoKeyIsSuggestedForOneThatIsLikeNone) {
  const auto message = [](std::string_view text) {
    TomlFile file = Parsed(text);
    std::uint64_t port = 0;
    file.ReadUint("server.port", 0, 65535, port);
    file.ReadUint("policy.modules", 0, 9, port);
    return FinishMessage(file);
  };
  EXPECT_EQ(message("x = 1\n"), "conf/a.toml:1:1: x: unknown key");
  EXPECT_EQ(message("[store]\nfoo = 1\n"), "conf/a.toml:1:2: store: unknown key");
  EXPECT_EQ(message("[polcy]\nmodules = 1\n"),
            "conf/a.toml:1:2: polcy: unknown key; the nearest known one is policy");
}

TEST(TomlFileTest, UnknownTablesAreRefusedEvenIfEmpty) {
  TomlFile file = Parsed("[listn]\n");
  std::uint64_t port = 0;
  file.ReadUint("listen.port", 0, 65535, port);
  EXPECT_THAT(FinishMessage(file), StartsWith("conf/a.toml:1:2: listn: unknown key"));
  TomlFile arrays = Parsed("[[listen]]\nport = 1\n");
  arrays.ReadUint("listen.port", 0, 65535, port);
  EXPECT_THAT(FinishMessage(arrays), HasSubstr("listen: expected a table, found an array"));
}

TEST(TomlFileTest, AQuotedKeyWithADotIsNotATablesKey) {
  TomlFile file = Parsed("'listen.port' = 5\n");
  std::uint64_t port = 7;
  file.ReadUint("listen.port", 0, 65535, port);
  EXPECT_THAT(FinishMessage(file), HasSubstr("'listen.port': unknown key"));
  EXPECT_EQ(port, 7u);
}

TEST(TomlFileTest, DistinguishesTablesFromValues) {
  TomlFile table = Parsed("[port]\nx = 1\n");
  std::uint64_t port = 7;
  table.ReadUint("port", 0, 9, port);
  EXPECT_THAT(FinishMessage(table),
              HasSubstr("port: expected an integer from 0 to 9, found a table"));
  TomlFile value = Parsed("listen = 3\n");
  value.ReadUint("listen.port", 0, 9, port);
  EXPECT_THAT(FinishMessage(value), HasSubstr("listen: expected a table, found an integer"));
  EXPECT_EQ(port, 7u);
}

TEST(TomlFileTest, WrongTypesAndRangesSayWhatIsExpectedAndWhere) {
  std::uint64_t number = 7;
  double real = 0.5;
  bool flag = false;
  std::string text = "default";
  std::vector<std::string> texts;
  std::filesystem::path path;
  const struct {
    const char* value;
    std::function<void(TomlFile&)> read;
    const char* expected;
  } kRows[] = {
      {"70000", [&](TomlFile& f) { f.ReadUint("k", 1, 65535, number); },
       "expected an integer from 1 to 65535, found 70000"},
      {"0", [&](TomlFile& f) { f.ReadUint("k", 1, 65535, number); }, "found 0"},
      {"-1", [&](TomlFile& f) { f.ReadUint("k", 0, ~std::uint64_t{0}, number); }, "found -1"},
      {"'8443'", [&](TomlFile& f) { f.ReadUint("k", 0, 9, number); }, "found a string"},
      {"1.0", [&](TomlFile& f) { f.ReadUint("k", 0, 9, number); }, "found a number with"},
      {"nan", [&](TomlFile& f) { f.ReadDouble("k", 0, 1, real); }, "a number from 0 to 1"},
      {"inf", [&](TomlFile& f) { f.ReadDouble("k", 0, 1, real); }, "a number from 0 to 1"},
      {"true", [&](TomlFile& f) { f.ReadDouble("k", 0, 1, real); }, "found true or false"},
      {"1", [&](TomlFile& f) { f.ReadBool("k", flag); }, "expected true or false"},
      {"1", [&](TomlFile& f) { f.ReadString("k", text); }, "expected a string"},
      {"'a'", [&](TomlFile& f) { f.ReadStrings("k", texts); }, "expected an array of strings"},
      {"['a', 1]", [&](TomlFile& f) { f.ReadStrings("k", texts); }, "found an integer in it"},
      {"['a', '']", [&](TomlFile& f) { f.ReadStrings("k", texts); }, "an empty string"},
      {"2020-01-01", [&](TomlFile& f) { f.ReadPath("k", path); }, "found a date or time"},
      {"\"a\\u0000b\"", [&](TomlFile& f) { f.ReadPath("k", path); }, "no zero byte"},
  };
  for (const auto& row : kRows) {
    TomlFile file = Parsed(std::string("k = ") + row.value);
    row.read(file);
    const std::string message = FinishMessage(file);
    EXPECT_THAT(message, StartsWith("conf/a.toml:1:")) << row.value;
    EXPECT_THAT(message, HasSubstr(": k: ")) << row.value;
    EXPECT_THAT(message, HasSubstr(row.expected)) << row.value;
  }
  EXPECT_EQ(number, 7u);
  EXPECT_EQ(real, 0.5);
  EXPECT_EQ(text, "default");
  EXPECT_TRUE(texts.empty());
  EXPECT_TRUE(path.empty());
}

TEST(TomlFileTest, TheFirstErrorIsTheOneReported) {
  TomlFile file = Parsed("a = 'x'\nb = 'y'\nc = 1\n");
  std::uint64_t number = 0;
  file.ReadUint("b", 0, 9, number);
  file.ReadUint("a", 0, 9, number);
  EXPECT_THAT(FinishMessage(file), StartsWith("conf/a.toml:2:5: b: "));
}

TEST(TomlFileTest, RefuseReportsAtTheKeysPlaceOrAtTheFile) {
  TomlFile present = Parsed("a = 'x'\n");
  std::string text;
  present.ReadString("a", text);
  present.Refuse("a", "must be a colour");
  EXPECT_EQ(FinishMessage(present), "conf/a.toml:1:5: a: must be a colour");
  TomlFile absent = Parsed("");
  absent.ReadString("a", text);
  absent.Refuse("a", "is needed");
  EXPECT_EQ(FinishMessage(absent), "conf/a.toml: a: is needed");
}

TEST(TomlFileTest, NamesAMisspeltKeyRatherThanTheOneThatIsMissing) {
  TomlFile file = Parsed("[[point]]\nlable = 'x'\nsize = 4\n");
  std::string text;
  std::uint64_t size = 0;
  EXPECT_EQ(file.CountTables("point"), 1u);
  file.ReadString("point.0.label", text);
  file.ReadUint("point.0.size", 0, 9, size);
  file.Refuse("point.0.label", "is needed");
  EXPECT_EQ(FinishMessage(file),
            "conf/a.toml:2:1: point.0.lable: unknown key; the nearest known one is point.0.label");
  TomlFile missing = Parsed("\n[[point]]\nsize = 4\n");
  EXPECT_EQ(missing.CountTables("point"), 1u);
  missing.ReadString("point.0.label", text);
  missing.ReadUint("point.0.size", 0, 9, size);
  missing.Refuse("point.0.label", "is needed");
  missing.Refuse("point.0.size", "is odd");
  EXPECT_EQ(FinishMessage(missing), "conf/a.toml:3:8: point.0.size: is odd");
  TomlFile only = Parsed("\n[[point]]\n");
  EXPECT_EQ(only.CountTables("point"), 1u);
  only.ReadString("point.0.label", text);
  only.Refuse("point.0.label", "is needed");
  EXPECT_THAT(FinishMessage(only), StartsWith("conf/a.toml:2:"));
}

TEST(TomlFileTest, ReportsTheLocationOfInvalidTomlOnOneLine) {
  for (const char* text : {"a = \n", "[x\n", "a = 1\na = 2\n", "a = \"\xff\"\n", "a = 'x\n'\n"}) {
    const Result<TomlFile> file = TomlFile::Parse(text, "a.toml");
    ASSERT_FALSE(file) << text;
    EXPECT_EQ(file.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(file.error().message, StartsWith("a.toml:")) << text;
    EXPECT_THAT(file.error().message, HasSubstr("not TOML")) << text;
    EXPECT_EQ(file.error().message.find('\n'), std::string::npos);
  }
}

TEST(TomlFileTest, EscapesTheParsersQuotationsOnce) {
  const Result<TomlFile> file = TomlFile::Parse("a = \n", "a.toml");
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().message, EndsWith(R"(saw '\n')"));
}

TEST(TomlFileTest, LoadsAFileAndNamesTheOneItCannotRead) {
  const testing::TempDir directory;
  const std::filesystem::path path = directory.path() / "a.toml";
  ASSERT_TRUE(WriteFileAtomically(path, "data = 'd'\n", 0600));
  Result<TomlFile> file = TomlFile::Load(path);
  ASSERT_TRUE(file) << file.error().message;
  std::filesystem::path data;
  file->ReadPath("data", data);
  EXPECT_TRUE(file->Finish());
  EXPECT_EQ(data, directory.path() / "d");

  const Result<TomlFile> missing = TomlFile::Load(directory.path() / "b.toml");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(missing.error().message, HasSubstr("b.toml"));
}

TEST(TomlFileTest, ReadsArraysOfTablesByNumber) {
  TomlFile file = Parsed("[[point]]\nlabel = \"a\"\n[[point]]\nlabel = \"b\"\n");
  ASSERT_EQ(file.CountTables("point"), 2U);
  std::string first;
  std::string second;
  file.ReadString("point.0.label", first);
  file.ReadString("point.1.label", second);
  EXPECT_TRUE(file.Finish());
  EXPECT_EQ(first + second, "ab");
}

TEST(TomlFileTest, AnArrayOfTablesIsAsStrictAsATable) {
  TomlFile none = Parsed("a = 1");
  EXPECT_EQ(none.CountTables("point"), 0U);
  TomlFile other = Parsed("point = [1, 2]");
  EXPECT_EQ(other.CountTables("point"), 0U);
  EXPECT_THAT(FinishMessage(other), HasSubstr("point: expected [[point]] tables, found an array"));
  TomlFile unknown = Parsed("[[point]]\nlabel = \"a\"\n[[point]]\nlable = \"b\"\n");
  ASSERT_EQ(unknown.CountTables("point"), 2U);
  std::string label;
  unknown.ReadString("point.0.label", label);
  unknown.ReadString("point.1.label", label);
  EXPECT_THAT(FinishMessage(unknown),
              HasSubstr("point.1.lable: unknown key; the nearest known one is point.1.label"));
}

}  // namespace
}  // namespace fieldcost::config
