/** The completion script for fish. For the names of spiders it starts crawlnode, as that of bash. */
import type { CommandTree, TreeOption, Value } from './command-tree.js';

export function fishScript({ globals, commands, settings }: CommandTree): string {
  const first = '__fish_use_subcommand';
  return `# Completion of crawlnode for fish, written by "crawlnode completion fish".

function __crawlnode_spiders
    crawlnode completion spiders 2>/dev/null
end

function __crawlnode_settings
    switch (commandline -ct)
${settings
  .filter(({ values }) => values.length > 0)
  .map(
    ({ name, values }) =>
      `        case '${name}=*'\n            printf '%s\\n' ${values.map((value) => `${name}=${value}`).join(' ')}`,
  )
  .join('\n')}
        case '*'
            printf '%s\\n' ${settings.map(({ name }) => `${name}=`).join(' ')}
    end
end

complete -c crawlnode -f
${globals.map((option) => `complete -c crawlnode ${optionWords(option)}`).join('\n')}
${[...commands, { name: 'help', text: 'show the help of a command' }]
  .map(({ name, text }) => `complete -c crawlnode -n ${first} -a ${name} -d ${quoted(text)}`)
  .join('\n')}
complete -c crawlnode -n '__fish_seen_subcommand_from help' -a ${quoted(commands.map(({ name }) => name).join(' '))}
${commands
  .flatMap(({ name, options, args }) => {
    const within = `complete -c crawlnode -n '__fish_seen_subcommand_from ${name}'`;
    return [
      ...options.map((option) => `${within} ${optionWords(option)}`),
      ...args.flatMap((value) => (value === 'any' ? [] : [`${within} ${valueWords(value)}`])),
    ];
  })
  .join('\n')}
`;
}

function optionWords({ flags, text, value }: TreeOption): string {
  const names = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
  const argument = value === null ? [] : ['-r', ...(value === 'any' ? [] : [valueWords(value)])];
  return [...names, ...argument, `-d ${quoted(text)}`].join(' ');
}

/** `-F` allows files, which are otherwise off. */
function valueWords(value: Value): string {
  if (typeof value !== 'string') return `-a ${quoted(value.join(' '))}`;
  const words = {
    file: '-F',
    folder: "-a '(__fish_complete_directories)'",
    spider: "-a '(__crawlnode_spiders)'",
    setting: "-a '(__crawlnode_settings)'",
    any: '',
  } as const;
  return words[value];
}

const quoted = (text: string) => `'${text.replace(/[\\']/g, '\\$&')}'`;
