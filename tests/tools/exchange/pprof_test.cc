#include "tools/exchange/pprof.h"
#include "tools/exchange/exchange_limits.h"

#include <gmock/gmock.h>
#include <zlib.h>

#include <algorithm>
#include <functional>

#include "common/base/file.h"
#include "common/wire/wire_limits.h"
#include "tests/tools/exchange/read_pprof.h"
#include "tools/exchange/gzip.h"
#include "tools/exchange/pprof.pb.h"
#include "tools/exchange/pprof_labels.h"

namespace fieldcost::exchange {
namespace {

using ::testing::ElementsAre;

// "main;run" in a program, and "inflate" inlined into "uncompress" in libz.
proto::PprofProfile Sample() {
  proto::PprofProfile profile;
  for (const char* text : {"", "samples", "count", "cpu", "nanoseconds", "/usr/bin/app",
                           "/usr/lib/libz.so.1.2.13", "main", "run", "inflate", "uncompress"}) {
    profile.add_string_table(text);
  }
  const auto type = [&](int name, int unit) {
    proto::PprofValueType& added = *profile.add_sample_type();
    added.set_type(name);
    added.set_unit(unit);
  };
  type(1, 2);
  type(3, 4);
  const auto mapping = [&](std::uint64_t id, int file) {
    proto::PprofMapping& added = *profile.add_mapping();
    added.set_id(id);
    added.set_filename(file);
  };
  mapping(1, 5);
  mapping(2, 6);
  for (int i = 0; i < 4; ++i) {
    proto::PprofFunction& function = *profile.add_function();
    function.set_id(static_cast<std::uint64_t>(i + 1));
    function.set_name(7 + i);
  }
  const auto location = [&](std::uint64_t id, std::uint64_t module,
                            std::initializer_list<std::uint64_t> functions) {
    proto::PprofLocation& added = *profile.add_location();
    added.set_id(id);
    added.set_mapping_id(module);
    added.set_address(0x1000 + id);
    for (const std::uint64_t function : functions) added.add_line()->set_function_id(function);
  };
  location(10, 1, {1});
  location(11, 1, {2});
  location(12, 2, {3, 4});
  location(13, 0, {});
  const auto sample = [&](std::initializer_list<std::uint64_t> stack, std::int64_t nanoseconds) {
    proto::PprofSample& added = *profile.add_sample();
    for (const std::uint64_t place : stack) added.add_location_id(place);
    added.add_value(1);
    added.add_value(nanoseconds);
  };
  sample({12, 11, 10}, 7000);
  sample({13, 10}, 500);
  return profile;
}

std::string Gzip(const std::string& bytes) {
  z_stream stream{};
  EXPECT_EQ(::deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(::deflateBound(&stream, bytes.size()), '\0');
  std::string input = bytes;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(::deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  ::deflateEnd(&stream);
  return packed;
}

std::vector<std::string> Stacks(const std::string& bytes) {
  std::vector<std::string> stacks;
  const auto unit = ReadPprof(bytes, [&](const auto& frames, std::uint64_t value) -> Status {
    std::string text;
    for (const std::string_view frame : frames) text += std::string(frame) + ";";
    stacks.push_back(text + " " + std::to_string(value));
    return {};
  });
  EXPECT_TRUE(unit.has_value()) << unit.error().message;
  return stacks;
}

ErrorCode CodeOf(const std::string& bytes) {
  const auto unit = ReadPprof(bytes, [](const auto&, std::uint64_t) -> Status { return {}; });
  return unit.has_value() ? ErrorCode{} : unit.error().code;
}

ErrorCode CodeAfter(const std::function<void(proto::PprofProfile&)>& spoil) {
  proto::PprofProfile profile = Sample();
  spoil(profile);
  return CodeOf(profile.SerializeAsString());
}

TEST(PprofTest, StacksAreReadFromTheOutermostFunctionOnInlinedOnesToo) {
  const std::string plain = Sample().SerializeAsString();
  const auto expected =
      ElementsAre("app!main;app!run;libz.so.1.2.13!uncompress;libz.so.1.2.13!inflate; 7000",
                  "app!main;0x100d; 500");
  EXPECT_THAT(Stacks(plain), expected);
  EXPECT_TRUE(IsGzip(Gzip(plain)));
  EXPECT_THAT(Stacks(Gzip(plain)), expected);
}

TEST(PprofTest, TheValueIsThatOfTheDefaultType) {
  proto::PprofProfile profile = Sample();
  profile.set_default_sample_type(1);
  EXPECT_THAT(Stacks(profile.SerializeAsString())[1], "app!main;0x100d; 1");
  const auto unit = ReadPprof(profile.SerializeAsString(),
                              [](const auto&, std::uint64_t) -> Status { return {}; });
  EXPECT_EQ(unit->untrusted_type, "samples");
  EXPECT_EQ(unit->untrusted_unit, "count");
}

TEST(PprofTest, ReferencesThatLeadNowhereAreRefused) {
  EXPECT_EQ(CodeAfter([](auto&) {}), ErrorCode{});
  EXPECT_EQ(CodeAfter([](auto& p) { p.mutable_sample(0)->add_location_id(99); }),
            ErrorCode::kCorrupt);
  EXPECT_EQ(CodeAfter([](auto& p) { p.mutable_location(0)->add_line()->set_function_id(99); }),
            ErrorCode::kCorrupt);
  EXPECT_EQ(CodeAfter([](auto& p) { p.mutable_function(0)->set_name(99); }), ErrorCode::kCorrupt);
  EXPECT_EQ(CodeAfter([](auto& p) { p.mutable_function(0)->set_name(-1); }), ErrorCode::kCorrupt);
  EXPECT_EQ(CodeAfter([](auto& p) { p.mutable_sample_type(1)->set_unit(99); }),
            ErrorCode::kCorrupt);
  EXPECT_EQ(CodeAfter([](auto& p) { p.mutable_sample(0)->set_value(1, -5); }), ErrorCode::kCorrupt);
  EXPECT_EQ(CodeAfter([](auto& p) { p.mutable_sample(0)->clear_value(); }), ErrorCode::kCorrupt);
}

TEST(PprofTest, EveryCutProfileIsRefusedOrReadAsOne) {
  const std::string packed = Gzip(Sample().SerializeAsString());
  for (std::size_t size = 2; size < packed.size(); ++size) {
    EXPECT_EQ(CodeOf(packed.substr(0, size)), ErrorCode::kCorrupt) << size;
  }
  EXPECT_EQ(CodeOf(packed + "x"), ErrorCode::kCorrupt);
  EXPECT_EQ(CodeOf("no profile at all"), ErrorCode::kCorrupt);
}

TEST(PprofTest, BombsAreRefusedBeforeTheyTakeMemory) {
  EXPECT_EQ(CodeOf(Gzip(std::string(kMaxPprofDecodedBytes + 1, '\0'))), ErrorCode::kTooLarge);
  EXPECT_EQ(Gunzip(Gzip(std::string(1000, 'x')), 999).error().code, ErrorCode::kTooLarge);
  EXPECT_EQ(Gunzip(Gzip(std::string(1000, 'x')), 1000).value(), std::string(1000, 'x'));
  // Empty samples, two bytes each.
  std::string many;
  for (std::size_t i = 0; i <= kMaxPprofEntries; ++i) many += std::string("\x12\x00", 2);
  EXPECT_EQ(CodeOf(many), ErrorCode::kTooLarge);
  // Empty lines of one location; the bytes after them are not read.
  std::string lines;
  for (std::size_t i = 0; i <= kMaxPprofEntries; ++i) lines += std::string("\x22\x00", 2);
  const std::string length = {'\x82', '\x80', '\x80', '\x01'};  // 2^21 + 2, as a varint
  ASSERT_EQ(lines.size(), (1U << 21) + 2);
  EXPECT_EQ(CodeOf("\x22" + length + lines + "\x07"), ErrorCode::kTooLarge);
  // Many locations with the same long name.
  EXPECT_EQ(CodeAfter([](auto& p) {
              p.set_string_table(7, std::string(kMaxPprofTextBytes, 'x'));
              for (std::uint64_t i = 0; i <= kMaxPprofDecodedBytes / kMaxPprofTextBytes; ++i) {
                auto& location = *p.add_location();
                location.set_id(1000 + i);
                location.add_line()->set_function_id(1);
              }
            }),
            ErrorCode::kTooLarge);
  EXPECT_EQ(
      CodeAfter([](auto& p) { p.set_string_table(7, std::string(kMaxPprofTextBytes + 1, 'x')); }),
      ErrorCode::kTooLarge);
}

TEST(PprofTest, KeepsTheOutermostFunctionsOfDeepStacks) {
  proto::PprofProfile profile = Sample();
  const auto before = DecodePprof(profile.SerializeAsString()).value().samples[0].frames.size();
  for (std::size_t i = 0; i < wire::kMaxStackFrames; ++i) {
    profile.mutable_sample(0)->add_location_id(10);
  }
  const PprofContent content = DecodePprof(profile.SerializeAsString()).value();
  EXPECT_EQ(content.samples[0].frames,
            std::vector(wire::kMaxStackFrames, content.samples[0].frames[0]));
  EXPECT_EQ(content.samples[0].deeper, before);
  EXPECT_EQ(content.samples[1].deeper, 0U);
}

TEST(PprofTest, ReadsAProfileInSeveralGzipMembersButNotSeveralProfiles) {
  const std::string bytes = Sample().SerializeAsString();
  const std::string members = Gzip(bytes.substr(0, 9)) + Gzip("") + Gzip(bytes.substr(9));
  EXPECT_EQ(DecodePprof(members).value(), DecodePprof(bytes).value());
  EXPECT_EQ(DecodePprof(members + std::string(512, '\0')).value(), DecodePprof(bytes).value());
  EXPECT_EQ(CodeOf(Gzip(bytes) + Gzip(bytes)), ErrorCode::kCorrupt);
  for (std::size_t size = Gzip(bytes.substr(0, 9)).size() + 1; size < members.size(); ++size) {
    EXPECT_EQ(CodeOf(members.substr(0, size)), ErrorCode::kCorrupt) << size;
  }
}

TEST(PprofTest, LargeProfilesWithinTheLimitAreRead) {
  // An ignored field, number 100, of 80 MiB.
  std::string bytes = Sample().SerializeAsString() + "\xa2\x06" + "\x80\x80\x80\x28";
  bytes.append(80 * kMiB, '\0');
  EXPECT_EQ(CodeOf(Gzip(bytes)), ErrorCode{});
}

PprofContent Written() {
  return {.types = {{"calls", "count"}, {"time", "nanoseconds"}},
          .default_type = 1,
          .functions = {{"app", "main"}, {"libz.so.1", "inflate"}, {"", "jit"}},
          .samples = {{{0}, {1, 0}}, {{0, 1}, {20, 7000}}, {{0, 1, 2}, {3, 500}}, {{1, 1}, {4, 9}}},
          .comments = {"time is estimated"}};
}

TEST(EncodePprofTest, ReadingGivesBackWhatWasWritten) {
  PprofContent content = Written();
  for (const std::size_t type : {0U, 1U}) {
    content.default_type = type;
    const auto bytes = EncodePprof(content);
    ASSERT_TRUE(bytes.has_value()) << bytes.error().message;
    std::vector<std::pair<std::vector<std::string>, std::uint64_t>> samples;
    const auto unit =
        ReadPprof(*bytes, [&](std::span<const std::string_view> frames, std::uint64_t value) {
          samples.emplace_back(std::vector<std::string>(frames.begin(), frames.end()), value);
          return Status();
        });
    ASSERT_TRUE(unit.has_value()) << unit.error().message;
    EXPECT_EQ(unit->untrusted_type, content.types[type].type);
    EXPECT_EQ(unit->untrusted_unit, content.types[type].unit);
    ASSERT_EQ(samples.size(), content.samples.size());
    for (std::size_t i = 0; i < samples.size(); ++i) {
      EXPECT_EQ(samples[i].second, content.samples[i].values[type]);
    }
    EXPECT_THAT(samples[2].first, ElementsAre("app!main", "libz.so.1!inflate", "jit"));
    EXPECT_THAT(samples[3].first, ElementsAre("libz.so.1!inflate", "libz.so.1!inflate"));
  }
  EXPECT_EQ(EncodePprof(content).value(), EncodePprof(content).value());
}

TEST(EncodePprofTest, AllThatIsWrittenIsReadAgain) {
  PprofContent content = Written();
  EXPECT_EQ(DecodePprof(EncodePprof(content).value()).value(), content);
  content.functions.push_back({"libz.so.1", "local", "trees.c"});
  content.functions.push_back(
      {.module = "libz.so.1", .name = "", .build_id = "c0ffee", .address = 0x1234});
  content.functions.push_back({.module = "", .name = "", .address = ~std::uint64_t{0}});
  content.samples.push_back({{}, {1, 1}});  // no stack
  content.samples.push_back({{3, 4, 5}, {0, std::uint64_t{1} << 62}});
  content.period_type = {"cpu", "nanoseconds"};
  content.period = 1'003'009;
  EXPECT_EQ(DecodePprof(EncodePprof(content).value()).value(), content);
  content.period = std::uint64_t{1} << 63;
  EXPECT_EQ(EncodePprof(content).error().code, ErrorCode::kTooLarge);
}

TEST(EncodePprofTest, LabelsNameTheThreadsOfSamples) {
  const PprofContent content{.types = {{"wall", "nanoseconds"}},
                             .functions = {{.module = "app", .name = "main"}},
                             .samples = {{{0}, {1}}, {{0}, {2}, 1}, {{0}, {3}, 2}, {{0}, {4}, 1}},
                             .threads = {{"app", "io", 7, 8}, {"", "idle", 0, 0}},
                             .comments = {}};
  const std::string bytes = EncodePprof(content).value();
  EXPECT_EQ(DecodePprof(bytes).value(), content);
  proto::PprofProfile profile;
  ASSERT_TRUE(profile.ParseFromString(Gunzip(bytes, 1 << 20).value()));
  std::vector<std::string> labels;
  for (const proto::PprofLabel& label : profile.sample(1).label()) {
    labels.push_back(profile.string_table(static_cast<int>(label.key())) + "=" +
                     profile.string_table(static_cast<int>(label.str())) +
                     std::to_string(label.num()));
  }
  EXPECT_THAT(labels, ElementsAre("process=app0", "pid=7", "thread=io0", "tid=8"));
  profile.mutable_sample(1)->mutable_label(2)->set_str(99);
  EXPECT_EQ(DecodePprof(profile.SerializeAsString()).error().code, ErrorCode::kCorrupt);
  PprofContent wrong = content;
  wrong.samples[0].thread = 3;
  EXPECT_EQ(EncodePprof(wrong).error().code, ErrorCode::kInvalidArgument);
}

TEST(PprofTest, LabelsBeyondTheLimitAreRefusedBeforeTheyTakeMemory) {
  proto::PprofProfile profile = Sample();
  std::string many;
  for (std::size_t i = 0; i <= kMaxPprofLabels; ++i) many.append("\x1a\x00", 2);
  ASSERT_TRUE(profile.mutable_sample(0)->MergeFromString(many.substr(0, 2 * 1000)));
  EXPECT_TRUE(DecodePprof(profile.SerializeAsString()).has_value());
  // A message may be split into several pieces: this one belongs to the sample.
  std::string sample = Sample().sample(0).SerializeAsString() + many;
  std::string bytes = "\x12";
  for (std::size_t size = sample.size(); size != 0; size >>= 7) {
    bytes += static_cast<char>((size & 0x7f) | (size > 0x7f ? 0x80 : 0));
  }
  const Result<PprofContent> read = DecodePprof(Sample().SerializeAsString() + bytes + sample);
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code, ErrorCode::kTooLarge);
  EXPECT_NE(read.error().message.find("labels"), std::string::npos) << read.error().message;
}

TEST(PprofTest, AddressesAreThoseInTheModulesFile) {
  proto::PprofProfile profile = Sample();
  profile.mutable_location(3)->set_mapping_id(2);
  profile.mutable_mapping(1)->set_memory_start(0x1000);
  profile.mutable_mapping(1)->set_file_offset(0x200);
  const PprofContent content = DecodePprof(profile.SerializeAsString()).value();
  EXPECT_EQ(content.functions.back(),
            (PprofFunction{.module = "/usr/lib/libz.so.1.2.13", .name = "", .address = 0x20d}));
}

TEST(EncodePprofTest, ToolsFindNamesAndComments) {
  const std::string bytes = EncodePprof(Written()).value();
  EXPECT_TRUE(IsGzip(bytes));
  proto::PprofProfile profile;
  ASSERT_TRUE(profile.ParseFromString(Gunzip(bytes, kMaxPprofDecodedBytes).value()));
  EXPECT_EQ(profile.string_table(0), "");
  ASSERT_EQ(profile.comment_size(), 1);
  EXPECT_EQ(profile.string_table(static_cast<int>(profile.comment(0))), "time is estimated");
  ASSERT_EQ(profile.mapping_size(), 2);
  EXPECT_TRUE(profile.mapping(1).has_functions());
  for (const proto::PprofLocation& location : profile.location()) EXPECT_NE(location.id(), 0U);
  // The leaf is first.
  EXPECT_EQ(profile.sample(1).location_id(0), 2U);
}

TEST(EncodePprofTest, WritesNothingThatCannotBeRead) {
  PprofContent content = Written();
  content.samples[0].frames[0] = 3;
  EXPECT_EQ(EncodePprof(content).error().code, ErrorCode::kInvalidArgument);
  content = Written();
  content.samples[0].values.pop_back();
  EXPECT_EQ(EncodePprof(content).error().code, ErrorCode::kInvalidArgument);
  content = Written();
  content.samples[0].values[0] = std::uint64_t{1} << 63;
  EXPECT_EQ(EncodePprof(content).error().code, ErrorCode::kTooLarge);
  content = Written();
  content.samples[0].frames.assign(wire::kMaxStackFrames + 1, 0);
  EXPECT_EQ(EncodePprof(content).error().code, ErrorCode::kTooLarge);
  content = Written();
  content.functions[0].name.assign(kMaxPprofTextBytes + 1, 'a');
  EXPECT_EQ(EncodePprof(content).error().code, ErrorCode::kTooLarge);
}

}  // namespace
}  // namespace fieldcost::exchange
