/** The completion script for zsh. For the names of spiders it starts crawlnode, as that of bash. */
import type { CommandTree, TreeOption, Value } from './command-tree.js';

export function zshScript({ globals, commands, settings }: CommandTree): string {
  return `#compdef crawlnode
# Completion of crawlnode for zsh, written by "crawlnode completion zsh".

_crawlnode_spiders() {
  local -a names
  names=(\${(f)"$(crawlnode completion spiders 2>/dev/null)"})
  compadd -a names
}

_crawlnode_settings() {
  if compset -P 1 '*='; then
    case \${IPREFIX##*[[:space:]]} in
${settings
  .filter(({ values }) => values.length > 0)
  .map(({ name, values }) => `      ${name}=) compadd -- ${values.join(' ')} ;;`)
  .join('\n')}
    esac
  else
    compadd -S '' -- ${settings.map(({ name }) => `${name}=`).join(' ')}
  fi
}

_crawlnode() {
  local curcontext=$curcontext state line
  typeset -A opt_args
  local -a globals commands
  globals=(
${globals.flatMap(optionSpecs).join('\n')}
  )
  commands=(
${commands.map(({ name, text }) => `    ${quoted(`${name}:${text.replaceAll(':', '\\:')}`)}`).join('\n')}
    'help:show the help of a command'
  )
  _arguments -C $globals '1:command:->command' '*::argument:->argument'
  case $state in
    command) _describe command commands ;;
    argument)
      case $line[1] in
        help) _describe command commands ;;
${commands.map((command) => `        ${command.name}) _arguments $globals ${specsOf(command)} ;;`).join('\n')}
      esac
      ;;
  esac
}

if [[ $funcstack[1] == _crawlnode ]]; then _crawlnode "$@"; else compdef _crawlnode crawlnode; fi
`;
}

function specsOf({ options, args }: CommandTree['commands'][number]): string {
  const places = args.map((value, at) => quoted(`${at + 1}:${placeName(value)}:${actionOf(value)}`));
  return [
    '\\',
    ...options.flatMap(optionSpecs).map((spec) => `    ${spec} \\`),
    `        ${places.join(' ')}`,
  ].join('\n      ');
}

/** One for each flag; the others are not offered with it, unless it may repeat. */
function optionSpecs({ flags, text, value }: TreeOption): string[] {
  const words = text.replace(/[[\]\\]/g, '\\$&').replaceAll(':', '\\:');
  const argument = value === null ? '' : `:${placeName(value)}:${actionOf(value)}`;
  const before = /may repeat/.test(text) ? '*' : `(${flags.join(' ')})`;
  return flags.map((flag) => `    ${quoted(`${before}${flag}[${words}]${argument}`)}`);
}

const placeName = (value: Value) => (typeof value === 'string' ? value : 'word');

function actionOf(value: Value): string {
  if (typeof value !== 'string') return `(${value.join(' ')})`;
  const actions = { file: '_files', folder: '_files -/', spider: '_crawlnode_spiders', any: ' ' } as const;
  return value === 'setting' ? '_crawlnode_settings' : actions[value];
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
