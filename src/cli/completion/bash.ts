/**
 * The completion script for bash 3.2 and later. The names of commands and options are in the script. Only for the names of
 * spiders it starts crawlnode, which loads no spider then.
 */
import type { CommandTree, TreeOption, Value } from './command-tree.js';

export function bashScript({ globals, commands, settings }: CommandTree): string {
  const flagsOf = (options: readonly TreeOption[]) => options.flatMap(({ flags }) => flags).join(' ');
  const valued = [
    ...commands.flatMap(({ name, options }) => valuedOptions(`${name} `, options)),
    ...valuedOptions('* ', globals),
  ];
  return `# Completion of crawlnode for bash, written by "crawlnode completion bash".

_crawlnode_settings='${settings.map(({ name }) => `${name}=`).join(' ')}'

# Prints the values of a setting that has a few.
_crawlnode_values_of_setting() {
  case $1 in
${settings
  .filter(({ values }) => values.length > 0)
  .map(({ name, values }) => `    ${name}) echo ${quoted(values.join(' '))} ;;`)
  .join('\n')}
  esac
}

# Sets "kind" to what the value of an option is. Fails for an option without one.
_crawlnode_value_of() {
  case "$1 $2" in
${valued.map(({ pattern, value }) => `    ${pattern}) kind=${quoted(kindOf(value))} ;;`).join('\n')}
    *) return 1 ;;
  esac
}

_crawlnode() {
  local cur=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]}
  local command='' place=0 kind='' words='' word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    case $word in
      # bash takes NAME=VALUE and URLs apart here.
      '=' | ':') ((i++)) ;;
      -*) _crawlnode_value_of "$command" "$word" && ((i++)) ;;
      *) if [[ -z $command ]]; then command=$word; else ((place++)); fi ;;
    esac
  done
  kind=''
  # NAME=VALUE is three words here, and a cursor behind "=" is on that word.
  local name='' before=''
  if [[ $cur == '=' ]]; then
    name=$previous before=\${COMP_WORDS[COMP_CWORD-2]} cur=''
  elif [[ $previous == '=' ]]; then
    name=\${COMP_WORDS[COMP_CWORD-2]} before=\${COMP_WORDS[COMP_CWORD-3]}
  fi
  if [[ -n $name ]]; then
    if [[ $before == -s || $before == --set ]]; then words=$(_crawlnode_values_of_setting "$name"); fi
  elif ! _crawlnode_value_of "$command" "$previous"; then
    if [[ $cur == -* ]]; then
      case $command in
${commands.map(({ name, options }) => `        ${name}) words='${flagsOf(options)}' ;;`).join('\n')}
      esac
      words="$words ${flagsOf(globals)}"
    else
      case "$command $place" in
        ' 0') words='${commands.map(({ name }) => name).join(' ')} help' ;;
        'help 0') words='${commands.map(({ name }) => name).join(' ')}' ;;
${commands.flatMap(({ name, args }) => args.map((value, at) => `        '${name} ${at}') kind=${quoted(kindOf(value))} ;;`)).join('\n')}
      esac
    fi
  fi
  # With no words, bash completes file names.
  case $kind in
    spider) words=$(crawlnode completion spiders 2>/dev/null) ;;
    setting) words=$_crawlnode_settings; compopt -o nospace 2>/dev/null ;;
    words:*) words=\${kind#words:} ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}

complete -o bashdefault -o default -F _crawlnode crawlnode
`;
}

function valuedOptions(before: string, options: readonly TreeOption[]) {
  return options.flatMap(({ flags, value }) => {
    if (value === null) return [];
    const pattern = flags
      .map((flag) => (before === '* ' ? `*' ${flag}'` : quoted(before + flag)))
      .join(' | ');
    return [{ pattern, value }];
  });
}

const kindOf = (value: Value) => (typeof value === 'string' ? value : `words:${value.join(' ')}`);
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
