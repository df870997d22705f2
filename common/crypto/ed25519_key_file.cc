// The file of a private key: PrivateKey::LoadOrCreate().
//
//   file := digit*64 "\n"          ; the seed of RFC 8032 §5.1.5 in hexadecimal; mode 0600
#include <fcntl.h>
#include <openssl/crypto.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <optional>
#include <span>

#include "common/base/file.h"
#include "common/base/secret_file.h"
#include "common/base/text.h"
#include "common/crypto/ed25519.h"
#include "common/crypto/random.h"

namespace fieldcost::crypto {
namespace {

constexpr std::size_t kSeedBytes = 32;
constexpr std::size_t kKeyFileBytes = 2 * kSeedBytes + 1;  // digits and a newline

Result<std::string> ReadSeed(const std::filesystem::path& path) {
  // Reads more than a key's size, so that longer files are refused like shorter ones.
  FIELDCOST_ASSIGN(std::string text, ReadSecretFile("key file", path, 2 * kKeyFileBytes));
  std::string_view digits(text);
  if (digits.ends_with('\n')) digits.remove_suffix(1);
  std::optional<std::string> seed = HexDecode(digits);
  OPENSSL_cleanse(text.data(), text.size());
  if (!seed || seed->size() != kSeedBytes) {
    return Fail(ErrorCode::kCorrupt,
                "read key file {}: expected 64 hexadecimal digits and a newline", path.string());
  }
  return *std::move(seed);
}

// Creates the file only if it does not exist: if several programs start at once, one wins and the
// others then load its key (kAlreadyExists).
Status WriteNewKey(const std::filesystem::path& path, const std::string& seed) {
  const std::string suffix = RandomBytes(8);
  std::filesystem::path draft = path;
  draft += "." + HexEncode(suffix);
  std::string text = HexEncode(seed) + "\n";
  Status status = WriteFileAtomically(draft, text, 0600);
  OPENSSL_cleanse(text.data(), text.size());
  FIELDCOST_TRY(status);
  if (::link(draft.c_str(), path.c_str()) != 0) {
    status = ErrnoError("create key file", path, errno);
  }
  ::unlink(draft.c_str());
  FIELDCOST_TRY(status);
  const std::filesystem::path directory = path.has_parent_path() ? path.parent_path() : ".";
  const UniqueFd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid() || ::fsync(fd.get()) != 0) return ErrnoError("sync directory", directory, errno);
  return {};
}

}  // namespace

Result<PrivateKey> PrivateKey::LoadOrCreate(const std::filesystem::path& path) {
  Result<std::string> seed = ReadSeed(path);
  if (!seed && seed.error().code == ErrorCode::kNotFound) {
    std::string made = RandomBytes(kSeedBytes);
    const Status written = WriteNewKey(path, made);
    OPENSSL_cleanse(made.data(), made.size());
    if (!written && written.error().code != ErrorCode::kAlreadyExists) return written.error();
    seed = ReadSeed(path);
  }
  if (!seed) return seed.error();
  std::string& secret = *seed;
  PrivateKey key = FromSeed(secret);
  OPENSSL_cleanse(secret.data(), secret.size());
  return key;
}

}  // namespace fieldcost::crypto
