#include "common/base/build_id.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/common/base/build_id_of_file.h"
#include "tests/support/process.h"

namespace fieldcost {
namespace {

constexpr char kLibrary[] = "/lib/x86_64-linux-gnu/libc.so.6";

// An ELF file with one note segment.
std::string ElfWith(const std::string& notes) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 1;
  Elf64_Phdr segment{};
  segment.p_type = PT_NOTE;
  segment.p_offset = sizeof header + sizeof segment;
  segment.p_filesz = notes.size();
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) +
         std::string(reinterpret_cast<const char*>(&segment), sizeof segment) + notes;
}

std::string Note(const std::string& name, std::uint32_t type, const std::string& content) {
  const Elf64_Nhdr header{.n_namesz = static_cast<Elf64_Word>(name.size()),
                          .n_descsz = static_cast<Elf64_Word>(content.size()),
                          .n_type = type};
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes += name + std::string((4 - name.size() % 4) % 4, '\0');
  return bytes + content + std::string((4 - content.size() % 4) % 4, '\0');
}

const std::string kGnu("GNU\0", 4);

TEST(BuildIdTest, IsWhatReadelfShows) {
  const auto shown = testing::RunProcess({.arguments = {"readelf", "-n", kLibrary},
                                          .environment = {{"LC_ALL", "C"}},
                                          .unset = {},
                                          .directory = {},
                                          .input = {}});
  const std::string id = testing::BuildIdOfFile(kLibrary);
  EXPECT_EQ(id.size(), 40U);
  EXPECT_THAT(shown.output, ::testing::HasSubstr("Build ID: " + id));
}

TEST(BuildIdTest, IsFoundAmongOtherNotesAndCutToWhatARunFileHolds) {
  const std::string other = Note("Owner", NT_GNU_BUILD_ID, "not it") + Note(kGnu, 1, "abc");
  EXPECT_EQ(testing::BuildIdIn(ElfWith(other + Note(kGnu, NT_GNU_BUILD_ID, "\x0a\xff"))), "0aff");
  EXPECT_EQ(testing::BuildIdIn(ElfWith(other)), "");
  EXPECT_EQ(testing::BuildIdIn(ElfWith(Note(kGnu, NT_GNU_BUILD_ID, std::string(40, 'a')))).size(),
            64U);
}

TEST(BuildIdTest, DamagedFilesHaveNone) {
  const std::string good = ElfWith(Note(kGnu, NT_GNU_BUILD_ID, "abcdefgh"));
  EXPECT_EQ(testing::BuildIdIn(good), "6162636465666768");
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_EQ(testing::BuildIdIn(good.substr(0, size)), "") << size;
  }
  std::string endless = good;
  endless[good.size() - 16] = '\xff';  // the content's length
  EXPECT_EQ(testing::BuildIdIn(endless), "");
  EXPECT_EQ(testing::BuildIdIn(std::string(1000, 'x')), "");
}

}  // namespace
}  // namespace fieldcost
