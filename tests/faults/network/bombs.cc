#include "tests/faults/network/bombs.h"

#include <random>

#include "common/base/check.h"
#include "common/wire/wire_limits.h"
#include "common/wire/zstd_frame.h"

namespace fieldcost::faults {
namespace {

constexpr std::uint32_t kBlockBytes = 128 * 1024;
constexpr std::uint8_t kWindowOf2GiB = 21 << 3;
constexpr std::uint8_t kLargestWindow = 31 << 3;
constexpr std::size_t kNestings = 100'000;
constexpr std::size_t kManyFields = 400'000;
constexpr std::size_t kPaddingBytes = 24 * 1024;  // incompressible: stays below the ratio limit
constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

std::string LittleEndian(std::uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
  return out;
}

std::string Repeat(std::string_view part, std::size_t times) {
  std::string out;
  out.reserve(part.size() * times);
  for (std::size_t i = 0; i < times; ++i) out += part;
  return out;
}

std::string Varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  return out + static_cast<char>(value);
}

// Returns a length-delimited field.
std::string Field(unsigned number, const std::string& bytes) {
  return Varint(number << 3 | 2) + Varint(bytes.size()) + bytes;
}

std::string Noise(std::size_t size) {
  std::mt19937 random(7);  // always the same bytes
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

// Returns a valid frame.
std::string Zipped(const std::string& content) {
  const auto frame = wire::Compress(content, 3);
  FIELDCOST_CHECK(frame.has_value());
  FIELDCOST_CHECK(frame->size() <= wire::kMaxBatchBodyBytes);
  return *frame;
}

std::string RunBlocks(std::size_t count) {
  std::string blocks;
  for (std::size_t i = 1; i <= count; ++i) blocks += RunBlock(kBlockBytes, '\0', i == count);
  return blocks;
}

void AddFrames(std::vector<Bomb>& bombs) {
  const std::string good = Zipped("x");
  bombs.push_back(
      {"1 GiB announced", Frame{.content_size = kGiB, .blocks = RunBlocks(8192)}.Bytes(), 413});
  bombs.push_back({"2^63 bytes announced",
                   Frame{.content_size = kGiB << 33, .blocks = RunBlocks(1)}.Bytes(), 413});
  for (const std::uint64_t back : {1, 2}) {  // zstd's values for "unknown" and "error"
    bombs.push_back({"2^64 - " + std::to_string(back) + " bytes announced",
                     Frame{.content_size = 0 - back, .blocks = RunBlocks(1)}.Bytes()});
  }
  bombs.push_back({"1 MiB in 45 bytes",
                   Frame{.content_size = 8 * kBlockBytes, .blocks = RunBlocks(8)}.Bytes(), 413});
  bombs.push_back(
      {"more than announced", Frame{.content_size = 1000, .blocks = RunBlocks(8192)}.Bytes()});
  bombs.push_back({"less than announced",
                   Frame{.content_size = 2 * kBlockBytes, .blocks = RunBlocks(1)}.Bytes()});
  bombs.push_back({"no size", Frame{.window = 0, .blocks = RunBlocks(8192)}.Bytes()});
  for (const std::uint8_t window : {kWindowOf2GiB, kLargestWindow}) {
    const std::string name = " with window " + std::to_string(window);
    bombs.push_back({"no size" + name, Frame{.window = window, .blocks = RunBlocks(9)}.Bytes()});
    bombs.push_back(
        {"small" + name,
         Frame{.content_size = 1, .window = window, .blocks = RawBlock("x", true)}.Bytes()});
  }
  std::string empty_blocks;
  for (int i = 0; i < 80'000; ++i) empty_blocks += RawBlock("", false);
  bombs.push_back({"80,000 empty blocks",
                   Frame{.content_size = 0, .blocks = empty_blocks + RawBlock("", true)}.Bytes()});
  bombs.push_back({"reserved block type",
                   Frame{.content_size = 1, .blocks = LittleEndian(7 | 8, 3) + "x"}.Bytes()});
  bombs.push_back(
      {"a dictionary", std::string("\x28\xb5\x2f\xfd\x21\x01\x01", 7) + RawBlock("x", true)});
  bombs.push_back(
      {"a skippable frame first", std::string("\x50\x2a\x4d\x18\x04\0\0\0abcd", 12) + good});
  bombs.push_back(
      {"a skippable frame last", good + std::string("\x50\x2a\x4d\x18\x04\0\0\0abcd", 12)});
  bombs.push_back({"a skippable frame that announces 4 GiB",
                   std::string("\x50\x2a\x4d\x18\xff\xff\xff\xff", 8)});
  bombs.push_back({"two frames", good + good});
  bombs.push_back({"20,000 frames", Repeat(good, 256 * 1024 / good.size())});
  bombs.push_back({"a byte after the frame", good + "x"});
  bombs.push_back({"half a frame", good.substr(0, good.size() / 2)});
  std::string wrong_sum = Zipped(std::string(100, 'x'));
  wrong_sum.back() = static_cast<char>(wrong_sum.back() ^ 1);
  bombs.push_back({"a wrong checksum", wrong_sum});
  bombs.push_back({"nothing", ""});
  bombs.push_back({"noise", Noise(wire::kMaxBatchBodyBytes)});
  bombs.push_back({"zstd's magic and noise", "\x28\xb5\x2f\xfd" + Noise(200'000)});
  bombs.push_back({"gzip", std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03", 10) + Noise(1000)});
}

void AddMessages(std::vector<Bomb>& bombs) {
  const std::string version("\x08\x01", 2);
  const std::string noise = Field(100, Noise(kPaddingBytes));  // an unknown field
  const auto table = [&](const std::string& columns) {
    return Zipped(version + Field(4, columns) + noise);
  };
  bombs.push_back({"groups in groups", Zipped(Repeat("\x2b", kNestings))});
  bombs.push_back({"groups in groups, all closed",
                   Zipped(Repeat("\x2b", kNestings) + Repeat("\x2c", kNestings))});
  std::string nested;
  for (int depth = 0; depth < 64; ++depth) nested = Field(4, nested);
  bombs.push_back({"tables in tables", Zipped(version + nested)});
  bombs.push_back({"400,000 texts", table(Repeat(std::string("\x0a\0", 2), kManyFields)), 413});
  bombs.push_back({"400,000 modules, one by one", table(Repeat("\x10\x01", kManyFields))});
  bombs.push_back({"900,000 modules, packed", table(Field(2, std::string(900'000, '\x01')))});
  bombs.push_back({"a text that announces 2 GiB", Zipped("\x22\x06\x0a\xff\xff\xff\xff\x07")});
  bombs.push_back({"a column that announces 2 GiB", Zipped("\x22\x06\x12\xff\xff\xff\xff\x07")});
  bombs.push_back(
      {"400,000 tables", Zipped(version + Repeat(std::string("\x22\0", 2), kManyFields) + noise)});
  bombs.push_back({"a processor's name of 900 kB",
                   Zipped(version + Field(3, Field(2, std::string(900'000, 'x'))) + noise), 413});
  const std::string texts = Field(1, "") + Field(1, "libx.so") + Field(1, "f");
  const std::string one_api = texts + Field(2, "\x01") + Field(3, std::string(1, '\0')) +
                              Field(4, std::string(1, '\0')) + Field(5, std::string(1, '\0')) +
                              Field(6, "\x02") + Field(7, std::string(1, '\0'));
  const auto rows = [&](std::size_t count, const std::string& bucket_counts) {
    const std::string zeros(count, '\0');
    return table(one_api + Field(8, zeros) + Field(9, zeros) + Field(10, zeros) +
                 Field(11, bucket_counts));
  };
  bombs.push_back({"200,000 rows", rows(200'000, std::string(200'000, '\0')), 413});
  bombs.push_back({"a row of 2^32 - 1 buckets", rows(1, "\xff\xff\xff\xff\x0f")});
  bombs.push_back({"rows of 2^32 buckets together",
                   rows(16, Repeat(std::string("\x80\x80\x80\x80\x01", 5), 16))});
  bombs.push_back({"a number of eleven bytes", Zipped("\x08" + std::string(10, '\xff') + "\x01")});
  bombs.push_back({"zeros", Zipped(std::string(256 * 1024, '\0'))});
}

}  // namespace

std::string RunBlock(std::uint32_t size, char byte, bool last) {
  return LittleEndian((last ? 1 : 0) | 1 << 1 | size << 3, 3) + byte;
}

std::string RawBlock(const std::string& bytes, bool last) {
  return LittleEndian((last ? 1 : 0) | bytes.size() << 3, 3) + bytes;
}

std::string Frame::Bytes() const {
  const bool single_segment = !window;
  std::string frame("\x28\xb5\x2f\xfd", 4);
  frame += static_cast<char>((content_size ? 3 << 6 : 0) | (single_segment ? 1 << 5 : 0));
  if (window) frame += static_cast<char>(*window);
  if (content_size) frame += LittleEndian(*content_size, 8);
  return frame + blocks;
}

std::vector<Bomb> MakeBombs() {
  std::vector<Bomb> bombs;
  AddFrames(bombs);
  AddMessages(bombs);
  return bombs;
}

}  // namespace fieldcost::faults
