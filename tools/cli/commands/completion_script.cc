#include "tools/cli/commands/completion_script.h"

namespace fieldcost::cli {
namespace {

constexpr char kBash[] =
    R"script(# bash completion for fieldcost: made by `fieldcost completion bash`

_fieldcost() {
  local -a words=() places=()
  local word quoted= joined= i
  # The words up to the cursor, without quotes, as the program would get them. Bash makes three of
  # Json::Reader, and replaces the last one only.
  for ((i = 1; i <= COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    [[ $word == [\'\"]* ]] && quoted=1 || quoted=
    word=${word#[\'\"]}
    word=${word%[\'\"]}
    word=${word//\\/}
    if [[ $COMP_WORDBREAKS == *:* && ( $joined || $word == +(:) ) && ${#words[@]} -gt 0 ]]; then
      words[-1]+=$word
    else
      words+=("$word")
      places+=("$i")
    fi
    [[ $word == +(:) ]] && joined=1 || joined=
  done
  local current=${words[-1]} before=
  [[ $quoted || $COMP_WORDBREAKS != *:* ]] || before=${current%"${current##*:}"}
  COMPREPLY=()
  {
    local more= text description
    read -r more
    while IFS=$'\t' read -r text description; do
      [[ $text == "$before"* ]] || continue
      text=${text#"$before"}
      [[ $quoted ]] || printf -v text %q "$text"
      COMPREPLY+=("$text")
    done
  } < <("${COMP_WORDS[0]/#\~/$HOME}" __complete "${words[@]}" 2> /dev/null)
  local program=${more#command }
  case $more in
    files)
      compopt -o filenames 2> /dev/null
      mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$current")
      ;;
    programs)
      mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -c -- "$current")
      ;;
    command*)
      if declare -F _command_offset > /dev/null; then
        _command_offset "${places[program]}"
      else
        compopt -o filenames 2> /dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
      fi
      ;;
  esac
}

complete -F _fieldcost fieldcost
)script";

constexpr char kZsh[] = R"script(#compdef fieldcost
# zsh completion for fieldcost: made by `fieldcost completion zsh`

_fieldcost() {
  local -a answer texts shown
  local line text description
  # The words up to the cursor, without quotes, as the program would get them.
  answer=("${(@f)$("${(Q)words[1]/#\~/$HOME}" __complete "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2> /dev/null)}")
  for line in "${(@)answer[2,-1]}"; do
    text=${line%%$'\t'*}
    description=${line#*$'\t'}
    texts+=("$text")
    shown+=("$text${description:+  -- $description}")
  done
  # -U: the program has matched them; a bare symbol may become soname!symbol.
  (( ${#texts} )) && compadd -U -l -d shown -a texts
  case ${answer[1]} in
    files) _files ;;
    programs) _command_names -e ;;
    command*)
      local program=${answer[1]#command }
      (( CURRENT -= program + 1 ))
      words=("${(@)words[program + 2,-1]}")
      _normal
      ;;
  esac
}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _fieldcost "$@"
else
  compdef _fieldcost fieldcost
fi
)script";

constexpr char kFish[] =
    R"script(# fish completion for fieldcost: made by `fieldcost completion fish`

function __fieldcost_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct | string unescape)
    set -l program (string replace -r '^~' $HOME -- $words[1])
    set -l answer ($program __complete $words[2..-1] "$current" 2>/dev/null)
    test (count $answer) -gt 1; and printf '%s\n' $answer[2..-1]
    switch "$answer[1]"
        case files
            __fish_complete_path "$current"
        case programs
            __fish_complete_command
        case 'command *'
            set -l first (math (string replace 'command ' '' -- $answer[1]) + 2)
            complete -C (string join ' ' -- (string escape -- $words[$first..-1]) (commandline -ct))
    end
end

complete -c fieldcost -f -a '(__fieldcost_complete)'
)script";

}  // namespace

std::string CompletionScript(Shell shell) {
  switch (shell) {
    case Shell::kBash:
      return kBash;
    case Shell::kZsh:
      return kZsh;
    case Shell::kFish:
      break;
  }
  return kFish;
}

}  // namespace fieldcost::cli
