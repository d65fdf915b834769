import type { CommandDescription } from '../describe-program.js';

type Shell = 'bash' | 'zsh' | 'fish';
type Word = { word: string; about: string };
/** The words that can follow a command. `''` is capstan itself, `policy put` one of its commands. */
type Place = { path: string; commands: Word[]; options: Word[] };

const GLOBAL: Word[] = [
  { word: '--url', about: 'the gateway' },
  { word: '--key', about: 'the API key' },
  { word: '--profile', about: 'a login to use' },
  { word: '--json', about: 'machine output' },
  { word: '--raw', about: 'control characters as they are' },
  { word: '--no-color', about: 'no colours' },
  { word: '--help', about: 'help' },
];

/** Renders a completion script for a shell. It contains all words, so completing one starts no process. */
export const renderCompletion = (shell: Shell, commands: readonly CommandDescription[]): string => {
  const places = placesOf(commands);
  return { bash: renderBash, zsh: renderZsh, fish: renderFish }[shell](places);
};

const placesOf = (commands: readonly CommandDescription[]): Place[] =>
  ['', ...commands.map(({ path }) => path)].map((path) => {
    const self = commands.find((command) => command.path === path);
    const inside = commands.filter((command) => parentOf(command.path) === path);
    return {
      path,
      commands: inside.flatMap(({ path: of, aliases, description }) =>
        [of.split(' ').at(-1) ?? '', ...aliases].map((word) => ({ word, about: description })),
      ),
      options: [
        ...(self?.options ?? []).flatMap(({ flags, description }) =>
          (flags.match(/--[\w-]+/g) ?? []).map((word) => ({ word, about: description })),
        ),
        ...GLOBAL,
      ],
    };
  });

const parentOf = (path: string): string => path.split(' ').slice(0, -1).join(' ');
const words = (all: readonly Word[]): string => all.map(({ word }) => word).join(' ');
/** Within single quotes, shells take every character literally, except a single quote. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const table = (name: string, places: readonly Place[], of: (place: Place) => string): string =>
  [
    `${name}() {`,
    '  case "$1" in',
    ...places.flatMap((place) => {
      const text = of(place);
      return text === '' ? [] : [`    ${quoted(place.path)}) ${text} ;;`];
    }),
    '  esac',
    '}',
  ].join('\n');

const renderBash = (places: readonly Place[]): string =>
  `# capstan in bash: source <(capstan completion bash)
${table('__capstan_commands', places, (place) => (place.commands.length === 0 ? '' : `echo ${quoted(words(place.commands))}`))}
${table('__capstan_options', places, (place) => `echo ${quoted(words(place.options))}`)}
_capstan() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path='' word at
  for ((at = 1; at < COMP_CWORD; at++)); do
    word="\${COMP_WORDS[at]}"
    case " $(__capstan_commands "$path") " in
      *" $word "*) path="\${path:+$path }$word" ;;
    esac
  done
  if [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$(__capstan_options "$path")" -- "$current"))
  else
    COMPREPLY=($(compgen -W "$(__capstan_commands "$path")" -- "$current"))
  fi
}
complete -o default -F _capstan capstan
`;

const described = (all: readonly Word[]): string =>
  all.map(({ word, about }) => quoted(`${word.replaceAll(':', '\\:')}:${about}`)).join(' ');

const renderZsh = (places: readonly Place[]): string =>
  `#compdef capstan
# capstan in zsh: source <(capstan completion zsh), after compinit
${table('__capstan_commands', places, (place) => (place.commands.length === 0 ? '' : `reply=(${described(place.commands)})`))}
${table('__capstan_options', places, (place) => `reply=(${described(place.options)})`)}
_capstan() {
  local path_so_far='' word
  local -a reply
  for word in "\${(@)words[2,CURRENT-1]}"; do
    reply=()
    __capstan_commands "$path_so_far"
    if (( \${reply[(I)$word:*]} )); then path_so_far="\${path_so_far:+$path_so_far }$word"; fi
  done
  reply=()
  if [[ $PREFIX == -* ]]; then
    __capstan_options "$path_so_far"
    _describe option reply
  else
    __capstan_commands "$path_so_far"
    if (( \${#reply} )); then _describe command reply; else _files; fi
  fi
}
if [[ $funcstack[1] == _capstan ]]; then _capstan "$@"; else compdef _capstan capstan; fi
`;

const renderFish = (places: readonly Place[]): string =>
  `# capstan in fish: capstan completion fish > ~/.config/fish/completions/capstan.fish
function __capstan_commands
  switch "$argv[1]"
${places.flatMap(({ path, commands }) => (commands.length === 0 ? [] : [`    case ${quoted(path)}\n      printf '%s\\n' ${words(commands)}`])).join('\n')}
  end
end
function __capstan_path
  set -l path ''
  for word in (commandline -opc)[2..]
    if contains -- $word (__capstan_commands "$path")
      set path (string trim "$path $word")
    end
  end
  echo "$path"
end
function __capstan_at
  test (__capstan_path) = "$argv[1]"
end
${places
  .flatMap(({ path, commands, options }) => {
    const at = `complete -c capstan -n ${quoted(`__capstan_at ${quoted(path)}`)}`;
    return [
      ...commands.map(({ word, about }) => `${at} -f -a ${quoted(word)} -d ${quoted(about)}`),
      ...options.map(({ word, about }) => `${at} -l ${word.slice('--'.length)} -d ${quoted(about)}`),
    ];
  })
  .join('\n')}
`;
