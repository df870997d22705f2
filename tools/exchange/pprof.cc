// Decodes pprof profiles: one gzip member, or the bare message. PPROF.md has the grammar and the
// limits, pprof.proto the field numbers. Texts are indices into string_table.
#include "tools/exchange/pprof.h"
#include "tools/exchange/exchange_limits.h"

#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>
#include <vector>

#include "common/wire/wire_limits.h"
#include "common/wire/wire_message.h"
#include "tools/exchange/gzip.h"
#include "tools/exchange/pprof.pb.h"
#include "tools/exchange/pprof_labels.h"

namespace fieldcost::exchange {
namespace {

constexpr std::string_view kGzipMagic = "\x1f\x8b";
constexpr int kWireTypeBits = 3;
constexpr std::size_t kPlainFields = 7;  // sample_type .. string_table have numbers 1 .. 6

// Counts the repeated fields before memory is allocated for them: an empty message has 2 bytes in
// the file and about 100 in memory.
class EntryCounter {
 public:
  explicit EntryCounter(std::string_view untrusted_bytes)
      : input_(reinterpret_cast<const std::uint8_t*>(untrusted_bytes.data()),
               static_cast<int>(untrusted_bytes.size())) {}

  Status Check() {
    while (const std::uint32_t tag = input_.ReadTag()) {
      const std::uint32_t field = tag >> kWireTypeBits;
      if (field < counts_.size() && ++counts_[field] > kMaxPprofEntries) return TooMany();
      if (tag != kLocationTag && tag != kSampleTag) {
        FIELDCOST_TRY(Skip(tag));
        continue;
      }
      std::uint32_t length = 0;
      if (!input_.ReadVarint32(&length) || length > kMaxPprofDecodedBytes) return NoProfile();
      const auto limit = input_.PushLimit(static_cast<int>(length));
      while (const std::uint32_t inner = input_.ReadTag()) {
        if (tag == kLocationTag && inner == kLineTag && ++lines_ > kMaxPprofEntries) {
          return TooMany();
        }
        if (tag == kSampleTag && inner == kLabelTag && ++labels_ > kMaxPprofLabels) {
          return Fail(ErrorCode::kTooLarge, "more than {} labels", kMaxPprofLabels);
        }
        FIELDCOST_TRY(Skip(inner));
      }
      if (input_.BytesUntilLimit() != 0) return NoProfile();
      input_.PopLimit(limit);
    }
    return {};
  }

 private:
  static constexpr std::uint32_t kLocationTag = 4 << kWireTypeBits | 2;  // a message
  static constexpr std::uint32_t kSampleTag = 2 << kWireTypeBits | 2;
  static constexpr std::uint32_t kLabelTag = 3 << kWireTypeBits | 2;  // in a sample
  static constexpr std::uint32_t kLineTag = 4 << kWireTypeBits | 2;   // in a location

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
  std::size_t lines_ = 0;   // of all locations
  std::size_t labels_ = 0;  // of all samples
};

class Decoder {
 public:
  explicit Decoder(const proto::PprofProfile& untrusted_profile) : profile_(untrusted_profile) {}

  Result<PprofContent> Decode() {
    for (int i = 0; i < profile_.mapping_size(); ++i) mappings_[profile_.mapping(i).id()] = i;
    for (int i = 0; i < profile_.function_size(); ++i) functions_[profile_.function(i).id()] = i;
    for (const proto::PprofValueType& type : profile_.sample_type()) {
      FIELDCOST_ASSIGN(PprofValueType added, Type(type));
      content_.types.push_back(std::move(added));
    }
    // Values without a type are of one type without a name.
    if (content_.types.empty()) content_.types.emplace_back();
    ChooseType();
    if (profile_.period() > 0) {
      content_.period = static_cast<std::uint64_t>(profile_.period());
      FIELDCOST_ASSIGN(content_.period_type, Type(profile_.period_type()));
    }
    for (const proto::PprofLocation& location : profile_.location()) FIELDCOST_TRY(Add(location));
    for (const proto::PprofSample& sample : profile_.sample()) FIELDCOST_TRY(Add(sample));
    for (const std::int64_t comment : profile_.comment()) {
      FIELDCOST_ASSIGN(std::string text, String(comment));
      FIELDCOST_TRY(CountBytes(text.size()));
      content_.comments.push_back(std::move(text));
    }
    return std::move(content_);
  }

 private:
  using Places = std::unordered_map<std::uint64_t, int>;
  struct Frames {  // of a location, in content_.functions, the outermost first
    std::uint32_t begin;
    std::uint32_t end;
  };

  Result<std::string> String(std::int64_t index) const {
    if (index < 0 || index >= profile_.string_table_size()) {
      return Fail(ErrorCode::kCorrupt, "a reference to a text that does not exist");
    }
    const std::string& text = profile_.string_table(static_cast<int>(index));
    if (text.size() > kMaxPprofTextBytes) {
      return Fail(ErrorCode::kTooLarge, "a text of {} bytes", text.size());
    }
    return text;
  }

  // Many entries may share one long text.
  Status CountBytes(std::size_t bytes) {
    bytes_ += bytes;
    if (bytes_ <= kMaxPprofDecodedBytes) return {};
    return Fail(ErrorCode::kTooLarge, "names of more than {} bytes", kMaxPprofDecodedBytes);
  }

  Result<PprofValueType> Type(const proto::PprofValueType& type) const {
    PprofValueType value;
    FIELDCOST_ASSIGN(value.type, String(type.type()));
    FIELDCOST_ASSIGN(value.unit, String(type.unit()));
    return value;
  }

  void ChooseType() {
    content_.default_type = content_.types.size() - 1;
    if (profile_.default_sample_type() == 0) return;
    for (int i = 0; i < profile_.sample_type_size(); ++i) {
      if (profile_.sample_type(i).type() == profile_.default_sample_type()) {
        content_.default_type = static_cast<std::size_t>(i);
      }
    }
  }

  Status Add(PprofFunction function) {
    FIELDCOST_TRY(CountBytes(function.module.size() + function.name.size() + function.file.size() +
                             function.build_id.size()));
    content_.functions.push_back(std::move(function));
    return {};
  }

  Status Add(const proto::PprofLocation& location) {
    PprofFunction place = {.module = {}, .name = {}};
    std::uint64_t shift = 0;  // from addresses to offsets in the file
    if (const auto found = mappings_.find(location.mapping_id()); found != mappings_.end()) {
      const proto::PprofMapping& mapping = profile_.mapping(found->second);
      FIELDCOST_ASSIGN(place.module, String(mapping.filename()));
      FIELDCOST_ASSIGN(place.build_id, String(mapping.build_id()));
      shift = mapping.file_offset() - mapping.memory_start();
    }
    const auto begin = static_cast<std::uint32_t>(content_.functions.size());
    for (int i = location.line_size() - 1; i >= 0; --i) {
      const auto found = functions_.find(location.line(i).function_id());
      if (found == functions_.end())
        return Fail(ErrorCode::kCorrupt, "a reference to a function that does not exist");
      const proto::PprofFunction& function = profile_.function(found->second);
      PprofFunction added = place;
      FIELDCOST_ASSIGN(added.name, String(function.name()));
      FIELDCOST_ASSIGN(added.file, String(function.filename()));
      if (added.name.empty()) added.address = location.address() + shift;
      FIELDCOST_TRY(Add(std::move(added)));
    }
    if (location.line_size() == 0) {
      place.address = location.address() + shift;
      FIELDCOST_TRY(Add(std::move(place)));
    }
    locations_[location.id()] = {begin, static_cast<std::uint32_t>(content_.functions.size())};
    return {};
  }

  // Ignores labels with other keys.
  Status SetThread(const proto::PprofSample& sample, PprofSample& added) {
    PprofThread thread;
    for (const proto::PprofLabel& label : sample.label()) {
      FIELDCOST_ASSIGN(const std::string key, String(label.key()));
      const bool is_number = label.num() > 0 && label.num() <= UINT32_MAX;
      if (key == kThreadLabel) {
        FIELDCOST_ASSIGN(thread.name, String(label.str()));
      } else if (key == kProcessLabel) {
        FIELDCOST_ASSIGN(thread.process, String(label.str()));
      } else if (key == kTidLabel && is_number) {
        thread.tid = static_cast<std::uint32_t>(label.num());
      } else if (key == kPidLabel && is_number) {
        thread.pid = static_cast<std::uint32_t>(label.num());
      }
    }
    if (thread == PprofThread()) return {};
    const auto [known, is_new] =
        threads_.try_emplace(thread, static_cast<std::uint32_t>(threads_.size() + 1));
    added.thread = known->second;
    if (!is_new) return {};
    FIELDCOST_TRY(CountBytes(thread.name.size() + thread.process.size()));
    content_.threads.push_back(std::move(thread));
    return {};
  }

  Status Add(const proto::PprofSample& sample) {
    PprofSample added;
    if (static_cast<std::size_t>(sample.value_size()) != content_.types.size()) {
      return Fail(ErrorCode::kCorrupt, "a sample of {} values, there are {} types",
                  sample.value_size(), content_.types.size());
    }
    for (const std::int64_t value : sample.value()) {
      if (value < 0) return Fail(ErrorCode::kCorrupt, "a sample with a negative value");
      added.values.push_back(static_cast<std::uint64_t>(value));
    }
    for (int i = sample.location_id_size() - 1; i >= 0; --i) {
      const auto found = locations_.find(sample.location_id(i));
      if (found == locations_.end())
        return Fail(ErrorCode::kCorrupt, "a reference to a location that does not exist");
      const Frames frames = found->second;
      for (std::uint32_t frame = frames.begin; frame < frames.end; ++frame) {
        if (added.frames.size() == wire::kMaxStackFrames) {
          added.deeper += frames.end - frame;
          break;
        }
        added.frames.push_back(frame);
      }
    }
    frames_ += added.frames.size();
    // Locations with many inlined functions produce long stacks from few bytes.
    if (frames_ > kMaxPprofDecodedBytes) {
      return Fail(ErrorCode::kTooLarge, "stacks of more than {} functions", kMaxPprofDecodedBytes);
    }
    FIELDCOST_TRY(SetThread(sample, added));
    content_.samples.push_back(std::move(added));
    return {};
  }

  const proto::PprofProfile& profile_;
  PprofContent content_;
  Places mappings_;
  Places functions_;
  std::unordered_map<std::uint64_t, Frames> locations_;
  std::map<PprofThread, std::uint32_t> threads_;
  std::size_t bytes_ = 0;   // of names
  std::size_t frames_ = 0;  // of all stacks
};

Result<PprofContent> Decode(std::string_view untrusted_bytes) {
  std::string decompressed;
  std::size_t members = 1;
  if (IsGzip(untrusted_bytes)) {
    FIELDCOST_ASSIGN(decompressed, Gunzip(untrusted_bytes, kMaxPprofDecodedBytes, &members));
    untrusted_bytes = decompressed;
  }
  if (untrusted_bytes.size() > kMaxPprofDecodedBytes) {
    return Fail(ErrorCode::kTooLarge, "{} bytes, at most {} are accepted", untrusted_bytes.size(),
                kMaxPprofDecodedBytes);
  }
  FIELDCOST_TRY(EntryCounter(untrusted_bytes).Check());
  proto::PprofProfile profile;
  FIELDCOST_TRY(wire::ParseMessage(untrusted_bytes, profile));
  // Every profile begins with the empty text; the second profile's indices refer to its own texts.
  if (members > 1 && std::ranges::count(profile.string_table(), std::string()) > 1) {
    return Fail(ErrorCode::kCorrupt, "several profiles, one after the other; expected one");
  }
  return Decoder(profile).Decode();
}

}  // namespace

bool IsGzip(std::string_view untrusted_bytes) { return untrusted_bytes.starts_with(kGzipMagic); }

Result<PprofContent> DecodePprof(std::string_view untrusted_bytes) {
  Result<PprofContent> content = Decode(untrusted_bytes);
  if (!content) return Within(std::move(content).error(), "reading a pprof profile");
  return content;
}

}  // namespace fieldcost::exchange
