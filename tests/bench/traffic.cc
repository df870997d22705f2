#include "tests/bench/traffic.h"

#include <fstream>
#include <string>
#include <string_view>

#include "common/base/text.h"

namespace fieldcost::bench {
namespace {

void WriteText(std::ostream& out, std::string_view text) {
  const std::uint64_t size = text.size();
  out.write(reinterpret_cast<const char*>(&size), sizeof size);
  out.write(text.data(), static_cast<std::streamsize>(size));
}

std::string ReadText(std::istream& in) {
  std::uint64_t size = 0;
  in.read(reinterpret_cast<char*>(&size), sizeof size);
  std::string text(in ? size : 0, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  return text;
}

}  // namespace

Status WriteTraffic(const std::filesystem::path& path, std::span<const SentBatch> batches) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  for (const SentBatch& batch : batches) {
    WriteText(out, std::to_string(batch.agent));
    WriteText(out, std::to_string(batch.epoch));
    WriteText(out, std::to_string(batch.sequence));
    WriteText(out, batch.body);
  }
  out.flush();
  if (!out) return Fail(ErrorCode::kIo, "cannot write {}", path.string());
  return {};
}

Result<std::vector<SentBatch>> ReadTraffic(const std::filesystem::path& path, std::size_t limit) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return Fail(ErrorCode::kNotFound, "cannot read {}", path.string());
  std::vector<SentBatch> batches;
  while (batches.size() < limit && in.peek() != std::ifstream::traits_type::eof()) {
    SentBatch batch;
    batch.agent = ParseUint64(ReadText(in)).value_or(0);
    batch.epoch = ParseUint64(ReadText(in)).value_or(0);
    batch.sequence = ParseUint64(ReadText(in)).value_or(0);
    batch.body = ReadText(in);
    if (!in) return Fail(ErrorCode::kCorrupt, "{} ends in the middle", path.string());
    batches.push_back(std::move(batch));
  }
  return batches;
}

}  // namespace fieldcost::bench
