// The lab file as the lab reads it. It is large and nearly empty, so an input states where its
// bytes go: the first byte is the mode (even: map), then follow pieces: kind, number (2 bytes),
// offset in that part (2), length (1), bytes. They change a complete header of a program that has
// called nothing.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "agent/lab/lab_file_reader.h"
#include "common/base/check.h"
#include "tests/agent/lab/lab_bytes.h"

namespace {

namespace shm = fieldcost::shm;
using fieldcost::testing::LabBytes;

constexpr std::size_t kPieceHead = 6;

std::uint64_t PlaceOf(unsigned kind, std::uint32_t mode, std::uint64_t number) {
  switch (kind % 6) {
    case 1:
      return fieldcost::testing::LabApiAt(number % shm::kLabApis);
    case 2:
      return fieldcost::testing::LabPairWordAt(number % shm::kLabApis, 0);
    case 3:  // only the first four slots
      return fieldcost::testing::LabNodeAt(number / shm::kLabNodes, number % shm::kLabNodes);
    case 4:
      return fieldcost::testing::LabBlockAt(mode, number);
    case 5:
      return fieldcost::testing::LabIoBlockAt(number);
    default:
      return 0;
  }
}

LabBytes FileOf(std::uint32_t mode, std::string_view pieces) {
  LabBytes file(mode);
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(pieces[i]); };
  while (pieces.size() > kPieceHead) {
    const unsigned number = byte(1) | unsigned{byte(2)} << 8U;
    const unsigned offset = byte(3) | unsigned{byte(4)} << 8U;
    const std::size_t length = std::min<std::size_t>(byte(5), pieces.size() - kPieceHead);
    const std::uint64_t at = PlaceOf(byte(0), mode, number) + offset;
    if (at + length <= file.size()) file.Write(at, pieces.substr(kPieceHead, length));
    pieces.remove_prefix(kPieceHead + length);
  }
  return file;
}

void Check(const fieldcost::lab::LabFile& file) {
  for (const auto& [outer, inner] : file.pairs) {
    FIELDCOST_CHECK(outer < file.apis.size() && inner < file.apis.size());
  }
  for (std::size_t i = 0; i < file.nodes.size(); ++i) {
    const auto& node = file.nodes[i];
    FIELDCOST_CHECK(node.parent == fieldcost::lab::LabFileNode::kRoot || node.parent < i);
    FIELDCOST_CHECK(node.api < file.apis.size());
  }
  for (const auto& api : file.apis) {
    FIELDCOST_CHECK(api.calls <= fieldcost::runs::kMaxRunCalls);
    FIELDCOST_CHECK(api.nested <= api.calls && api.abandoned <= api.calls);
    FIELDCOST_CHECK(!api.api.symbol.empty() && !api.api.soname.empty());
    for (const auto* histogram : {&api.inclusive, &api.exclusive, &api.sizes, &api.time}) {
      FIELDCOST_CHECK(histogram->saturated() || fieldcost::stats::Validate(*histogram).has_value());
    }
    FIELDCOST_CHECK(fieldcost::stats::IsPossible(api.log_time));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::uint32_t mode = data[0] % 2 == 0 ? shm::kLabMap : shm::kLabTime;
  const auto file = fieldcost::lab::ReadLabFile(
      FileOf(mode, {reinterpret_cast<const char*>(data) + 1, size - 1}));
  if (file) Check(*file);
  return 0;
}
