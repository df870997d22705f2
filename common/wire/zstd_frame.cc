// One zstd frame (RFC 8878): magic, a header with the content's size, blocks, and, in frames that
// we write, a checksum of the content.
#include "common/wire/zstd_frame.h"

#include <zstd.h>

#include <cstring>

#include "common/base/check.h"

namespace fieldcost::wire {
namespace {

struct FreeCompressor {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};
struct FreeDecompressor {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

bool HasFrameMagic(std::string_view bytes) {
  constexpr unsigned char kMagic[] = {0x28, 0xb5, 0x2f, 0xfd};
  return bytes.size() >= sizeof kMagic && std::memcmp(bytes.data(), kMagic, sizeof kMagic) == 0;
}

using Compressor = std::unique_ptr<ZSTD_CCtx, FreeCompressor>;

Compressor MakeCompressor(int level) {
  Compressor context(ZSTD_createCCtx());
  FIELDCOST_CHECK(context != nullptr);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_contentSizeFlag, 1);
  return context;
}

Error CannotCompress(std::string_view bytes, std::string_view why) {
  return Fail(ErrorCode::kInternal, "compressing {} bytes: {}", bytes.size(), why);
}

// One per thread, since creating one takes longer than decompressing a small frame.
ZSTD_DCtx* ThreadContext() {
  thread_local const std::unique_ptr<ZSTD_DCtx, FreeDecompressor> context(ZSTD_createDCtx());
  FIELDCOST_CHECK(context != nullptr);
  return context.get();
}

}  // namespace

Result<std::string> Compress(std::string_view bytes, int level) {
  const Compressor context = MakeCompressor(level);
  std::string frame(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size =
      ZSTD_compress2(context.get(), frame.data(), frame.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(size) != 0) return CannotCompress(bytes, ZSTD_getErrorName(size));
  frame.resize(size);
  return frame;
}

Result<std::string> CompressInBlocks(std::string_view bytes, std::span<const std::size_t> ends,
                                     int level) {
  constexpr std::size_t kBlockHeaderBytes = 3;
  const Compressor context = MakeCompressor(level);
  ZSTD_CCtx_setPledgedSrcSize(context.get(), bytes.size());
  std::string frame(ZSTD_compressBound(bytes.size()) + kBlockHeaderBytes * ends.size(), '\0');
  ZSTD_outBuffer output{frame.data(), frame.size(), 0};
  ZSTD_inBuffer input{bytes.data(), 0, 0};
  for (std::size_t i = 0; i <= ends.size(); ++i) {
    const bool is_last = i == ends.size();
    input.size = is_last ? bytes.size() : ends[i];
    FIELDCOST_CHECK(input.pos <= input.size && input.size <= bytes.size());
    const std::size_t left =
        ZSTD_compressStream2(context.get(), &output, &input, is_last ? ZSTD_e_end : ZSTD_e_flush);
    if (ZSTD_isError(left) != 0) return CannotCompress(bytes, ZSTD_getErrorName(left));
    if (left != 0) return CannotCompress(bytes, "the frame is longer than expected");
  }
  frame.resize(output.pos);
  return frame;
}

std::string BeginningOf(std::string_view untrusted_frame, std::size_t bytes) {
  constexpr int kWindowLog = 26;  // frames that need more memory are not ours
  if (!HasFrameMagic(untrusted_frame)) return "";
  // Not the thread's context, which would keep the memory of the window.
  const std::unique_ptr<ZSTD_DCtx, FreeDecompressor> context(ZSTD_createDCtx());
  FIELDCOST_CHECK(context != nullptr);
  ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, kWindowLog);
  std::string content(bytes, '\0');
  ZSTD_inBuffer input{untrusted_frame.data(), untrusted_frame.size(), 0};
  ZSTD_outBuffer output{content.data(), content.size(), 0};
  while (output.pos < output.size && input.pos < input.size) {
    const std::size_t left = ZSTD_decompressStream(context.get(), &output, &input);
    if (left == 0 || ZSTD_isError(left) != 0) break;
  }
  content.resize(output.pos);
  return content;
}

struct Decompressor::State {
  std::unique_ptr<char[]> buffer;
  std::size_t capacity = 0;
};

Decompressor::Decompressor() : state_(std::make_unique<State>()) {}
Decompressor::~Decompressor() = default;

Result<std::string_view> Decompressor::Decompress(std::string_view untrusted_frame,
                                                  const DecompressionLimits& limits) {
  const std::string_view frame = untrusted_frame;
  if (frame.size() > limits.max_compressed_bytes) {
    return Fail(ErrorCode::kTooLarge, "{} compressed bytes, at most {} are accepted", frame.size(),
                limits.max_compressed_bytes);
  }
  if (!HasFrameMagic(frame)) return Fail(ErrorCode::kCorrupt, "not a zstd frame");
  const unsigned long long content = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (content == ZSTD_CONTENTSIZE_ERROR) return Fail(ErrorCode::kCorrupt, "broken zstd header");
  if (content == ZSTD_CONTENTSIZE_UNKNOWN) {
    return Fail(ErrorCode::kCorrupt, "zstd frame without a content size");
  }
  if (content > limits.max_decoded_bytes) {
    return Fail(ErrorCode::kTooLarge, "{} decompressed bytes, at most {} are accepted", content,
                limits.max_decoded_bytes);
  }
  if (limits.max_ratio != 0 && content > limits.ratio_free_bytes &&
      content > limits.max_ratio * frame.size()) {
    return Fail(ErrorCode::kTooLarge, "{} bytes decompress to {}, more than {} times as many",
                frame.size(), content, limits.max_ratio);
  }
  if (ZSTD_findFrameCompressedSize(frame.data(), frame.size()) != frame.size()) {
    return Fail(ErrorCode::kCorrupt, "not exactly one whole zstd frame");
  }
  const auto size = static_cast<std::size_t>(content);
  if (size > state_->capacity || state_->buffer == nullptr) {
    state_->buffer = std::make_unique_for_overwrite<char[]>(size + 1);
    state_->capacity = size;
  }
  const std::size_t got =
      ZSTD_decompressDCtx(ThreadContext(), state_->buffer.get(), size, frame.data(), frame.size());
  if (ZSTD_isError(got) != 0) {
    return Fail(ErrorCode::kCorrupt, "decompressing: {}", ZSTD_getErrorName(got));
  }
  if (got != size) return Fail(ErrorCode::kCorrupt, "zstd content shorter than announced");
  return std::string_view(state_->buffer.get(), size);
}

}  // namespace fieldcost::wire
