#include "common/wire/pprof.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <array>
#include <unordered_map>
#include <vector>

#include "common/wire/gzip.h"
#include "common/wire/limits.h"
#include "common/wire/pprof.pb.h"
#include "common/wire/row_table.h"

namespace fieldcost::wire {
namespace {

constexpr std::string_view kGzipMagic = "\x1f\x8b";
constexpr int kWireTypeBits = 3;
constexpr std::size_t kPlainFields = 7;  // sample_type .. string_table have numbers 1 .. 6

// Counts the repeated fields before memory is taken for them: an empty message has 2 bytes in the
// file and about 100 in memory.
class EntryCounter {
 public:
  explicit EntryCounter(std::string_view untrusted_bytes)
      : input_(reinterpret_cast<const std::uint8_t*>(untrusted_bytes.data()),
               static_cast<int>(untrusted_bytes.size())) {}

  Status Check() {
    while (const std::uint32_t tag = input_.ReadTag()) {
      const std::uint32_t field = tag >> kWireTypeBits;
      if (field < counts_.size() && ++counts_[field] > kMaxPprofEntries) return TooMany();
      if (tag != kLocationTag) {
        FIELDCOST_TRY(Skip(tag));
        continue;
      }
      std::uint32_t length = 0;
      if (!input_.ReadVarint32(&length) || length > kMaxPprofDecodedBytes) return NoProfile();
      const auto limit = input_.PushLimit(static_cast<int>(length));
      while (const std::uint32_t inner = input_.ReadTag()) {
        if (inner == kLineTag && ++lines_ > kMaxPprofEntries) return TooMany();
        FIELDCOST_TRY(Skip(inner));
      }
      if (input_.BytesUntilLimit() != 0) return NoProfile();
      input_.PopLimit(limit);
    }
    return {};
  }

 private:
  static constexpr std::uint32_t kLocationTag = 4 << kWireTypeBits | 2;  // a message
  static constexpr std::uint32_t kLineTag = 4 << kWireTypeBits | 2;      // in a location

  static Status TooMany() {
    return Fail(ErrorCode::kTooLarge, "more than {} entries of one kind", kMaxPprofEntries);
  }
  static Status NoProfile() { return Fail(ErrorCode::kCorrupt, "not a profile"); }

  Status Skip(std::uint32_t tag) {
    std::uint64_t ignored = 0;
    std::uint32_t length = 0;
    bool is_good = false;
    switch (tag & ((1 << kWireTypeBits) - 1)) {
      case 0:
        is_good = input_.ReadVarint64(&ignored);
        break;
      case 1:
        is_good = input_.Skip(8);
        break;
      case 2:
        is_good = input_.ReadVarint32(&length) && length <= kMaxPprofDecodedBytes &&
                  input_.Skip(static_cast<int>(length));
        break;
      case 5:
        is_good = input_.Skip(4);
        break;
      default:
        break;
    }
    if (!is_good) return NoProfile();
    return {};
  }

  google::protobuf::io::CodedInputStream input_;
  std::array<std::size_t, kPlainFields> counts_{};
  std::size_t lines_ = 0;  // of all locations
};

class Reader {
 public:
  explicit Reader(const proto::PprofProfile& untrusted_profile) : profile_(untrusted_profile) {}

  Status Prepare() {
    for (int i = 0; i < profile_.mapping_size(); ++i) mappings_[profile_.mapping(i).id()] = i;
    for (int i = 0; i < profile_.function_size(); ++i) functions_[profile_.function(i).id()] = i;
    frames_.resize(static_cast<std::size_t>(profile_.location_size()));
    for (int i = 0; i < profile_.location_size(); ++i) {
      locations_[profile_.location(i).id()] = i;
      std::vector<std::string>& frames = frames_[static_cast<std::size_t>(i)];
      FIELDCOST_TRY(NameFrames(profile_.location(i), frames));
      for (const std::string& frame : frames) name_bytes_ += frame.size();
      // Many locations may share one long text.
      if (name_bytes_ > kMaxPprofDecodedBytes) {
        return Fail(ErrorCode::kTooLarge, "names of more than {} bytes", kMaxPprofDecodedBytes);
      }
    }
    return ChooseType();
  }

  Result<PprofUnit> Unit() const {
    PprofUnit unit;
    if (profile_.sample_type_size() == 0) return unit;
    FIELDCOST_ASSIGN(unit.untrusted_type, String(profile_.sample_type(type_).type()));
    FIELDCOST_ASSIGN(unit.untrusted_unit, String(profile_.sample_type(type_).unit()));
    return unit;
  }

  Status Visit(const StackVisitor& visit) const {
    std::vector<std::string_view> stack;
    for (const proto::PprofSample& sample : profile_.sample()) {
      if (sample.value_size() <= type_ || sample.value(type_) < 0) {
        return Fail(ErrorCode::kCorrupt, "a sample without a value, or with a negative one");
      }
      stack.clear();
      for (int i = sample.location_id_size() - 1; i >= 0; --i) {
        const auto place = locations_.find(sample.location_id(i));
        if (place == locations_.end()) return Fail(ErrorCode::kCorrupt, "an unknown location");
        const auto& frames = frames_[static_cast<std::size_t>(place->second)];
        if (stack.size() + frames.size() > kMaxStackFrames) {
          return Fail(ErrorCode::kTooLarge, "a stack of more than {} functions", kMaxStackFrames);
        }
        stack.insert(stack.end(), frames.begin(), frames.end());
      }
      FIELDCOST_TRY(visit(stack, static_cast<std::uint64_t>(sample.value(type_))));
    }
    return {};
  }

 private:
  using Places = std::unordered_map<std::uint64_t, int>;

  Result<std::string> String(std::int64_t index) const {
    if (index < 0 || index >= profile_.string_table_size()) {
      return Fail(ErrorCode::kCorrupt, "a text that is not there");
    }
    const std::string& text = profile_.string_table(static_cast<int>(index));
    if (text.size() > kMaxPprofTextBytes) {
      return Fail(ErrorCode::kTooLarge, "a text of {} bytes", text.size());
    }
    return text;
  }

  // Outermost first.
  Status NameFrames(const proto::PprofLocation& location, std::vector<std::string>& frames) const {
    std::string module;
    if (const auto place = mappings_.find(location.mapping_id()); place != mappings_.end()) {
      FIELDCOST_ASSIGN(module, String(profile_.mapping(place->second).filename()));
      module.erase(0, module.rfind('/') + 1);
      if (!module.empty()) module += '!';
    }
    for (int i = location.line_size() - 1; i >= 0; --i) {
      const auto place = functions_.find(location.line(i).function_id());
      if (place == functions_.end()) return Fail(ErrorCode::kCorrupt, "an unknown function");
      FIELDCOST_ASSIGN(const std::string name, String(profile_.function(place->second).name()));
      frames.push_back(module + name);
    }
    if (frames.empty()) frames.push_back(fmt::format("{}0x{:x}", module, location.address()));
    return {};
  }

  Status ChooseType() {
    type_ = std::max(profile_.sample_type_size() - 1, 0);
    if (profile_.default_sample_type() == 0) return {};
    for (int i = 0; i < profile_.sample_type_size(); ++i) {
      if (profile_.sample_type(i).type() == profile_.default_sample_type()) type_ = i;
    }
    return {};
  }

  const proto::PprofProfile& profile_;
  Places mappings_;
  Places functions_;
  Places locations_;
  std::vector<std::vector<std::string>> frames_;  // of each location
  std::size_t name_bytes_ = 0;
  int type_ = 0;
};

Result<PprofUnit> Read(std::string_view untrusted_bytes, const StackVisitor& visit) {
  std::string decompressed;
  if (IsGzip(untrusted_bytes)) {
    FIELDCOST_ASSIGN(decompressed, Gunzip(untrusted_bytes, kMaxPprofDecodedBytes));
    untrusted_bytes = decompressed;
  }
  if (untrusted_bytes.size() > kMaxPprofDecodedBytes) {
    return Fail(ErrorCode::kTooLarge, "{} bytes, at most {} are accepted", untrusted_bytes.size(),
                kMaxPprofDecodedBytes);
  }
  FIELDCOST_TRY(EntryCounter(untrusted_bytes).Check());
  proto::PprofProfile profile;
  FIELDCOST_TRY(ParseMessage(untrusted_bytes, profile));
  Reader reader(profile);
  FIELDCOST_TRY(reader.Prepare());
  FIELDCOST_ASSIGN(PprofUnit unit, reader.Unit());
  FIELDCOST_TRY(reader.Visit(visit));
  return unit;
}

}  // namespace

bool IsGzip(std::string_view untrusted_bytes) { return untrusted_bytes.starts_with(kGzipMagic); }

Result<PprofUnit> ReadPprof(std::string_view untrusted_bytes, const StackVisitor& visit) {
  Result<PprofUnit> unit = Read(untrusted_bytes, visit);
  if (!unit) return Within(std::move(unit).error(), "reading a pprof profile");
  return unit;
}

}  // namespace fieldcost::wire
