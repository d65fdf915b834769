import type { CommandDescription } from '../../packages/cli/dist/describe-commands.js';

/** docs/reference/cli.md, from the commands as they describe themselves. */
export const cliReference = (commands: CommandDescription[]): string => {
  const groups = [...new Set(commands.map(({ group }) => group))];
  return `# Command line

\`capstan <command> --help\` shows the same for one command. Every command takes \`--url\`, \`--key\`, \`--json\`, \`--raw\` and \`--no-color\`.

| exit code | meaning |
|---|---|
| 0 | success |
| 1 | failed |
| 2 | wrong usage, or a request that the gateway found invalid |
| 3 | denied by policy, quota or key |
| 4 | held for approval |
| 5 | timed out |
| 130 | interrupted with Ctrl-C |

This page is generated from the commands in \`packages/cli/src/commands\`.
${groups
  .map(
    (group) =>
      `\n## ${group.replace(/:$/, '')}\n${commands
        .filter((each) => each.group === group)
        .map(section)
        .join('')}`,
  )
  .join('')}`;
};

const section = (command: CommandDescription): string => {
  const rows = [
    ...command.arguments.map(({ name, description }) => [`<${name}>`, description] as const),
    ...command.options.map(({ flags, description }) => [flags, description] as const),
  ].filter(([, description]) => description !== '');
  const table = rows.map(([name, description]) => `| \`${cell(name)}\` | ${cell(description)} |\n`).join('');
  return `
### capstan ${command.path}

\`\`\`text
${command.usage}
\`\`\`

${sentence(command.description)}
${table === '' ? '' : `\n| | |\n|---|---|\n${table}`}`;
};

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
const sentence = (text: string): string => (text === '' ? '' : `${text[0]?.toUpperCase()}${text.slice(1)}.`);
