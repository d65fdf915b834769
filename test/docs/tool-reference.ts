import { BUILTIN_TOOLS } from '@capstan/catalog';
import { type Descriptor, Effects, RUNNER_TYPES, SideEffect } from '@capstan/contracts';

const code = (names: string[]): string => names.map((name) => `\`${name}\``).join(' ');

/** Inputs by name; those in bold are required. */
function inputsOf({ input_schema: { properties, required } }: Descriptor): string {
  const needed: unknown[] = Array.isArray(required) ? required : [];
  return Object.keys(properties ?? {})
    .map((name) => (needed.includes(name) ? `**\`${name}\`**` : `\`${name}\``))
    .join(' ');
}

const rowOf = (tool: Descriptor): string =>
  `| \`${tool.tool_id}\` | ${tool.description.replaceAll('|', '\\|')} | ${tool.risk} | ${inputsOf(tool)} | ${code(tool.side_effects)} |`;

const sectionOf = (runner: string): string => {
  const rows = BUILTIN_TOOLS.filter((tool) => tool.runner === runner).map(rowOf);
  return rows.length === 0
    ? ''
    : `\n## ${runner}\n\n| tool | | risk | inputs | side effects |\n|---|---|---|---|---|\n${rows.join('\n')}\n`;
};

/** docs/reference/tools.md, from the descriptors of the native tools. */
export const toolReference = (): string => `# Built-in tools

The tools of every installation, by runner type. Inputs in bold are required; \`capstan tools <id>\` shows the schemas. The [default policy](../guides/policies.md)
allows those that touch nothing outside of their session, and holds \`cap:sandbox:*\` for approval. All others need a rule.

A new installation also has the extension \`text.tools\` (\`ext:text.tools:*\`). Further tools come from [extensions](../guides/extensions.md), [MCP servers](../guides/mcp.md),
[OpenAPI documents](../guides/openapi.md) and [your own code](../guides/own-tools.md).

| id | source |
|---|---|
| \`cap:<capability>:<tool>\`, and \`fs.read\`, \`shell.run\` … | built in |
| \`ext:<extension>:<action>\` | extension |
| \`mcp:<server>:<tool>\` | MCP server |
| \`openapi:<document>:<operation>\` | OpenAPI document |
| \`atip:<tool>:<command.path>\` | ATIP document |
| \`app:<pool>:<tool>\` | a pool of your own processes |

\`fs_read\`, \`fs_write\`, \`http_get\` and \`shell_run\` are other names of \`fs.read\`, \`fs.write\`, \`http.get\` and \`shell.run\`.

## What a tool declares

| | values | not declared |
|---|---|---|
| risk | \`LOW\` \`MED\` \`HIGH\` \`CRITICAL\` | inferred, at least \`MED\` |
| side effects | ${code(SideEffect.options)} | inferred |
| effects | ${code(Object.keys(Effects.shape).filter((name) => name !== 'cost_units'))} | the dangerous value; \`interactive\` is false |
| expected cost | \`cost_units\`, a number | 0 |
| trust | \`native\` \`vendor\` \`org\` \`community\` \`user\` \`inferred\` | \`inferred\` |

Risk and side effects are inferred from permissions and from the words of names and descriptions: *write*, *delete* and *execute* mean HIGH, payments and the creation of cloud resources CRITICAL. Clear words count
even against a milder declaration. \`inferred\` of a tool names each inferred value with its reason.
${RUNNER_TYPES.map(sectionOf).join('')}
This page is generated from the descriptors in \`packages/catalog/src/native\`.
`;
