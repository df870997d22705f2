#include "agent/reach/reach.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "agent/reach/elf_file.h"
#include "agent/reach/x86_64/reach_machine.h"
#include "common/base/file.h"
#include "common/shm/sanitizer_runtimes.h"

namespace fieldcost::reach {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxInterpreterBytes = 4096;
constexpr std::size_t kMaxLibraryNameBytes = 256;
constexpr std::size_t kMaxLibraryNamesBytes = 4 << 20;
constexpr std::size_t kMaxScriptLineBytes = 256;  // the kernel's BINPRM_BUF_SIZE
constexpr int kMaxInterpreters = 5;               // nested scripts; the kernel's limit

// Symbols that an instrumented program calls, or defines if the runtime is linked in.
constexpr std::array<std::string_view, 4> kSanitizerSymbols = {"__asan_init", "__tsan_init",
                                                               "__hwasan_init", "__msan_init"};

struct ReachText {
  std::string_view name;
  std::string_view phrase;
};

constexpr ReachText TextOf(Reach reach) {
  switch (reach) {
    case Reach::kMeasuring:
      return {"measuring", "being measured now"};
    case Reach::kAble:
      return {"able", "can be measured"};
    case Reach::kNotAsked:
      return {"not_asked", "started without fieldcost (before or outside an activated session)"};
    case Reach::kNotLoaded:
      return {"not_loaded", "the measuring library was missing when it started"};
    case Reach::kPrivileged:
      return {"privileged", "runs with privileges other than its user's, so it is never measured"};
    case Reach::kStatic:
      return {"static", "linked statically, so nothing can be loaded into it"};
    case Reach::kOtherMachine:
      return {"other_machine", "not a 64-bit x86-64 program"};
    case Reach::kOtherRoot:
      return {"other_root",
              "in a container or chroot, whose root directory does not have the measuring library"};
    case Reach::kOtherLibc:
      return {"other_libc", "does not use the GNU C library"};
    case Reach::kSanitizer:
      return {"sanitizer", "built with a sanitizer, whose runtime wants to be loaded first"};
    case Reach::kSandboxStrict:
      return {"sandbox_strict", "in a strict seccomp sandbox"};
    case Reach::kSandboxFilter:
      return {"sandbox_filter", "measured until it installed a seccomp filter"};
    case Reach::kNotProgram:
      return {"not_program", "not a program"};
    case Reach::kUnreadable:
      return {"unreadable", "cannot be examined"};
  }
  return {"", ""};
}

Explanation Because(Reach reach, std::string detail = {}) { return {reach, std::move(detail), {}}; }

Explanation Damaged() { return Because(Reach::kNotProgram, "damaged ELF file"); }

// Returns the text at `offset` up to its terminating zero; nullopt if none within `max_bytes`.
std::optional<std::string> ReadText(const ReadAt& read, std::uint64_t offset,
                                    std::size_t max_bytes) {
  if (max_bytes == 0) return std::nullopt;
  std::string text(max_bytes, '\0');
  text.resize(read(offset, text.data(), max_bytes));
  const std::size_t end = text.find('\0');
  if (end == std::string::npos) return std::nullopt;
  text.resize(end);
  return text;
}

struct DynamicPart {
  std::vector<std::uint64_t> needed;  // offsets into the string table
  std::uint64_t strings_address = 0;
  std::uint64_t strings_bytes = 0;
  bool is_program = false;  // position independent, built with -static-pie
};

DynamicPart ReadDynamic(const ReadAt& read, const Elf64_Phdr& header) {
  DynamicPart part;
  const std::size_t count = static_cast<std::size_t>(
      std::min<std::uint64_t>(header.p_filesz / sizeof(Elf64_Dyn), kMaxDynamicEntries));
  std::vector<Elf64_Dyn> entries(count);
  if (count == 0) return part;
  entries.resize(read(header.p_offset, entries.data(), count * sizeof(Elf64_Dyn)) /
                 sizeof(Elf64_Dyn));
  for (const Elf64_Dyn& entry : entries) {
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_NEEDED) part.needed.push_back(entry.d_un.d_val);
    if (entry.d_tag == DT_STRTAB) part.strings_address = entry.d_un.d_ptr;
    if (entry.d_tag == DT_STRSZ) part.strings_bytes = entry.d_un.d_val;
    if (entry.d_tag == DT_FLAGS_1) part.is_program = (entry.d_un.d_val & DF_1_PIE) != 0;
  }
  return part;
}

// The sanitizer's library, or the symbol that reveals a linked-in one; empty if neither.
std::string FindSanitizer(const ReadAt& read, const ElfFile& elf, const DynamicPart& part) {
  const auto strings = elf.OffsetOf(part.strings_address);
  if (!strings || part.strings_bytes == 0) return {};
  std::string table(
      static_cast<std::size_t>(std::min<std::uint64_t>(part.strings_bytes, kMaxLibraryNamesBytes)),
      '\0');
  table.resize(read(*strings, table.data(), table.size()));
  for (const std::uint64_t offset : part.needed) {
    if (offset >= table.size()) continue;
    const std::string_view rest = std::string_view(table).substr(offset, kMaxLibraryNameBytes);
    const std::string_view name = rest.substr(0, rest.find('\0'));
    if (IsSanitizerRuntime(name)) return std::string(name);
  }
  for (const std::string_view symbol : kSanitizerSymbols) {
    const std::string sought = '\0' + std::string(symbol) + '\0';
    if (table.find(sought) != std::string::npos) return std::string(symbol);
  }
  return {};
}

// Explains a file that has no interpreter.
Explanation ExplainUnlinked(const ReadAt& read, const ElfFile& elf, unsigned type) {
  const bool is_program =
      type == ET_EXEC || (elf.dynamic && ReadDynamic(read, *elf.dynamic).is_program);
  return is_program ? Because(Reach::kStatic) : Because(Reach::kNotProgram, kSharedLibrary);
}

bool IsOfGlibc(std::string_view interpreter) {
  const std::string_view name = interpreter.substr(interpreter.rfind('/') + 1);
  return name.starts_with("ld-linux") || name.starts_with("ld-lsb");
}

std::string FirstScriptWord(std::string_view& rest) {
  const std::size_t begin = rest.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  rest.remove_prefix(begin);
  const std::size_t end = std::min(rest.find_first_of(" \t"), rest.size());
  const std::string word(rest.substr(0, end));
  rest.remove_prefix(end);
  return word;
}

// The program named by the text after "#!"; python3 for "/usr/bin/env -S NAME=VALUE python3 -u".
fs::path InterpreterOf(std::string_view line) {
  const std::string interpreter = FirstScriptWord(line);
  if (fs::path(interpreter).filename() != "env") return interpreter;
  for (std::string word = FirstScriptWord(line); !word.empty(); word = FirstScriptWord(line)) {
    if (word[0] == '-' || word.find('=') != std::string::npos) continue;
    const fs::path program = FindProgram(word);
    return program.empty() ? fs::path(interpreter) : program;
  }
  return interpreter;
}

// The reason why the kernel would set AT_SECURE if we started this file; empty if it would not.
std::string PrivilegeOf(const fs::path& path, const struct stat& info) {
  struct statvfs file_system {};
  if (::statvfs(path.c_str(), &file_system) == 0 && (file_system.f_flag & ST_NOSUID) != 0)
    return {};
  if ((info.st_mode & S_ISUID) != 0 && info.st_uid != ::getuid()) return "set-user-id";
  if ((info.st_mode & S_ISGID) != 0 && (info.st_mode & S_IXGRP) != 0 && info.st_gid != ::getgid()) {
    return "set-group-id";
  }
  if (::getuid() != 0 && ::getxattr(path.c_str(), "security.capability", nullptr, 0) > 0) {
    return "file capabilities";
  }
  return {};
}

UniqueFd OpenToLook(const fs::path& path) {
  return UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
}

Result<Explanation> ExplainFile(const fs::path& path, int interpreters_left) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    if (errno == EACCES) return Explanation{Reach::kUnreadable, "", path};
    return ErrnoError("inspect", path, errno);
  }
  if (!S_ISREG(info.st_mode)) return Explanation{Reach::kNotProgram, "not a regular file", path};
  const UniqueFd fd = OpenToLook(path);
  std::string head(kMaxScriptLineBytes, '\0');
  head.resize(ReaderOf(fd)(0, head.data(), head.size()));
  if (head.starts_with("#!") && interpreters_left > 0) {
    // The kernel ignores a script's own privileges.
    const std::size_t end = std::min(head.find('\n'), head.size());
    const fs::path interpreter = InterpreterOf(std::string_view(head).substr(2, end - 2));
    auto explanation = ExplainFile(interpreter, interpreters_left - 1);
    if (explanation) return explanation;
    return Explanation{Reach::kNotProgram,
                       "its interpreter " + interpreter.string() + " is missing", path};
  }
  if (const std::string privilege = PrivilegeOf(path, info); !privilege.empty()) {
    return Explanation{Reach::kPrivileged, privilege, path};
  }
  if (!fd.valid()) return Explanation{Reach::kUnreadable, "", path};
  Explanation explanation = ExplainElf(ReaderOf(fd));
  if (explanation.reach == Reach::kAble && (info.st_mode & 0111) == 0) {
    explanation = Because(Reach::kNotProgram, "not marked executable");
  }
  explanation.program = path;
  return explanation;
}

}  // namespace

std::string_view Name(Reach reach) { return TextOf(reach).name; }
std::string_view Phrase(Reach reach) { return TextOf(reach).phrase; }

Explanation ExplainElf(const ReadAt& read) {
  unsigned char ident[EI_NIDENT];
  if (!ReadObject(read, 0, ident) || std::memcmp(ident, ELFMAG, SELFMAG) != 0) {
    return Because(Reach::kNotProgram, "neither an ELF file nor a script");
  }
  if (ident[EI_CLASS] != ELFCLASS64) return Because(Reach::kOtherMachine, "32 bit");
  if (ident[EI_DATA] != ELFDATA2LSB) return Because(Reach::kOtherMachine, "big endian");
  Elf64_Ehdr header;
  if (!ReadObject(read, 0, header)) return Damaged();
  if (header.e_machine != kElfMachine) {
    return Because(Reach::kOtherMachine, fmt::format("ELF machine {}", header.e_machine));
  }
  if (header.e_type != ET_EXEC && header.e_type != ET_DYN) {
    return Because(Reach::kNotProgram, "not an executable ELF file");
  }
  const auto found = ReadElfFile(read, header);
  if (!found) return Damaged();
  const ElfFile& elf = *found;
  if (!elf.interpreter) return ExplainUnlinked(read, elf, header.e_type);
  const auto interpreter = ReadText(read, elf.interpreter->p_offset,
                                    static_cast<std::size_t>(std::min<std::uint64_t>(
                                        elf.interpreter->p_filesz, kMaxInterpreterBytes)));
  if (!interpreter) return Damaged();
  if (!IsOfGlibc(*interpreter)) return Because(Reach::kOtherLibc, *interpreter);
  if (!elf.dynamic) return Because(Reach::kAble);
  std::string sanitizer = FindSanitizer(read, elf, ReadDynamic(read, *elf.dynamic));
  if (!sanitizer.empty()) return Because(Reach::kSanitizer, std::move(sanitizer));
  return Because(Reach::kAble);
}

Result<Explanation> ExplainProgram(const fs::path& path) {
  return ExplainFile(path, kMaxInterpreters);
}

Result<Explanation> ExplainProgramFile(const fs::path& path) {
  const UniqueFd fd = OpenToLook(path);
  if (!fd.valid()) return ErrnoError("open", path, errno);
  Explanation explanation = ExplainElf(ReaderOf(fd));
  explanation.program = path;
  return explanation;
}

bool IsSanitizerRuntime(std::string_view file_name) {
  return std::any_of(std::begin(shm::kSanitizerRuntimes), std::end(shm::kSanitizerRuntimes),
                     [&](std::string_view runtime) { return file_name.starts_with(runtime); });
}

fs::path FindProgram(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "/bin:/usr/bin" : path;
  for (;;) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const fs::path candidate = (end == 0 ? fs::path(".") : fs::path(rest.substr(0, end))) / name;
    std::error_code error;
    if (fs::is_regular_file(candidate, error) && ::access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
    if (end == rest.size()) return {};
    rest.remove_prefix(end + 1);
  }
}

}  // namespace fieldcost::reach
