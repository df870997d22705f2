#include "aggregator/operate/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fieldcost::aggregator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<CommandLine> Parse(std::vector<const char*> arguments) {
  return ParseCommandLine(arguments);
}

TEST(CommandLineTest, EveryCommandIsReadAndInTheHelp) {
  const struct {
    std::vector<const char*> words;
    Command command;
  } cases[] = {
      {{}, Command::kServe},
      {{"serve"}, Command::kServe},
      {{"verify"}, Command::kVerify},
      {{"publish"}, Command::kPublish},
      {{"compact"}, Command::kCompact},
      {{"expire", "--before", "2900"}, Command::kExpire},
      {{"revoke", "--agent", "k"}, Command::kRevoke},
      {{"backup", "--to", "d"}, Command::kBackup},
      {{"restore", "--from", "d"}, Command::kRestore},
      {{"policy", "sign", "file"}, Command::kPolicySign},
      {{"policy", "show"}, Command::kPolicyShow},
      {{"keys", "show"}, Command::kKeysShow},
      {{"keys", "rotate", "root"}, Command::kKeysRotate},
      {{"keys", "add-policy"}, Command::kKeysAddPolicy},
      {{"keys", "renew"}, Command::kKeysRenew},
  };
  for (const auto& c : cases) {
    std::vector<const char*> arguments = c.words;
    arguments.insert(arguments.end(), {"--config", "file.toml"});
    const auto line = Parse(arguments);
    ASSERT_TRUE(line.has_value()) << line.error().message;
    EXPECT_EQ(line->command, c.command);
    EXPECT_EQ(line->config_file, "file.toml");
    std::string words;
    for (const char* word : c.words) {
      if (word[0] == '-' || words == "policy sign" || words == "keys rotate") break;
      words += (words.empty() ? "" : " ") + std::string(word);
    }
    EXPECT_THAT(std::string(kHelpText), HasSubstr(words));
    arguments.insert(arguments.begin(), "--json");
    EXPECT_EQ(Parse(arguments).has_value(), c.command != Command::kServe) << words;
    arguments.push_back("surplus");
    EXPECT_FALSE(Parse(arguments).has_value());
  }
}

TEST(CommandLineTest, OptionsAndOperandsReachTheirPlaces) {
  const auto rotate = Parse({"keys", "rotate", "--config=c", "root", "--root-key", "a",
                             "--root-key=b", "--keys", "3", "--threshold=2"});
  ASSERT_TRUE(rotate.has_value()) << rotate.error().message;
  EXPECT_EQ(rotate->role, "root");
  EXPECT_THAT(rotate->root_key_files, ElementsAre("a", "b"));
  EXPECT_EQ(rotate->root_keys, 3U);
  EXPECT_EQ(rotate->root_threshold, 2U);
  const auto backup =
      Parse({"--config", "c", "backup", "--without-signing-keys", "--to", "/srv/x", "--json"});
  ASSERT_TRUE(backup.has_value());
  EXPECT_EQ(backup->directory, "/srv/x");
  EXPECT_TRUE(backup->without_signing_keys);
  EXPECT_TRUE(backup->json);
  EXPECT_EQ(Parse({"policy", "sign", "p", "--config", "c"})->policy_file, "p");
  const auto revoke = Parse({"revoke", "k", "--withdraw", "--dry-run", "--config", "c"});
  ASSERT_TRUE(revoke.has_value());
  EXPECT_EQ(revoke->agent, "k");
  EXPECT_TRUE(revoke->withdraw && revoke->dry_run);
  for (const char* week : {"2788", "2023-06-08", "2023-06-14"}) {
    const auto expire = Parse({"expire", "--before", week, "--config", "c"});
    ASSERT_TRUE(expire.has_value());
    EXPECT_EQ(expire->before_week, 2788U) << week;
    EXPECT_FALSE(expire->yes);
  }
  EXPECT_TRUE(Parse({"expire", "--yes", "--before", "1", "--config", "c"})->yes);
  EXPECT_EQ(Parse({"verify", "--config", "c", "--check-config"})->command, Command::kCheckConfig);
  EXPECT_EQ(Parse({"nonsense", "--help"})->command, Command::kHelp);
}

TEST(CommandLineTest, WhatIsWrongIsSaid) {
  const struct {
    std::vector<const char*> arguments;
    const char* message;
  } cases[] = {
      {{}, "--config FILE is missing"},
      {{"--config"}, "--config needs a value"},
      {{"--config="}, "--config cannot be ''"},
      {{"--confg", "x"}, "unknown argument '--confg'"},
      {{"--json=yes", "--config", "c"}, "unknown argument '--json=yes'"},
      {{"backups", "--config", "c"}, "unknown argument 'backups'"},
      {{"policy", "--config", "c"}, "policy needs one of 'sign', 'show'"},
      {{"keys", "rotat", "--config", "c"}, "'show', 'rotate', 'add-policy', 'renew'"},
      {{"policy", "sign", "--config", "c"}, "policy sign needs the file to sign"},
      {{"keys", "rotate", "--config", "c"}, "keys rotate needs the role"},
      {{"backup", "--config", "c"}, "backup needs --to"},
      {{"restore", "--config", "c"}, "restore needs --from"},
      {{"expire", "--yes", "--config", "c"}, "expire needs --before"},
      {{"expire", "--before", "2023-02-29", "--config", "c"}, "--before cannot be '2023-02-29'"},
      {{"expire", "--before", "4294967296", "--config", "c"}, "--before cannot be"},
      {{"compact", "--yes", "--config", "c"}, "--yes does not go with this command"},
      {{"restore", "--to", "d", "--from", "d", "--config", "c"},
       "--to does not go with this command"},
      {{"revoke", "--config", "c"}, "revoke needs the agent's name or public key"},
      {{"revoke", "--config", "c", "k", "--dry-run"}, "--dry-run goes with --withdraw"},
      {{"revoke", "--config", "c", "k", "--agent", "k"}, "unknown argument 'k'"},
      {{"verify", "--agent", "k", "--config", "c"}, "--agent does not go with this command"},
      {{"keys", "renew", "--keys", "2", "--config", "c"}, "--keys does not go with"},
      {{"keys", "rotate", "root", "--keys", "0", "--config", "c"}, "--keys cannot be '0'"},
      {{"keys", "rotate", "root", "--keys", "-1", "--config", "c"}, "--keys cannot be '-1'"},
  };
  for (const auto& c : cases) {
    const auto line = Parse(c.arguments);
    ASSERT_FALSE(line.has_value()) << c.message;
    EXPECT_EQ(line.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(line.error().message, HasSubstr(c.message));
  }
}

}  // namespace
}  // namespace fieldcost::aggregator
