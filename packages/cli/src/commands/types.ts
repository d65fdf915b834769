import type { Tool } from '@capstan/contracts';
import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { schemaToType } from '../format/schema-to-type.js';
import type { Session } from '../session.js';

export const addTypes: AddCommand = (program, cli) => {
  program
    .command('types')
    .description('the types of all tools, for createClient<Tools>(): capstan types > capstan-tools.d.ts')
    .action((_options: object, command: Command) => cli.run(command, printTypes));
};

const printTypes = async (session: Session): Promise<ExitCode> => {
  const client = await session.client();
  const tools: Tool[] = [];
  for await (const tool of client.tools.list()) tools.push(tool);
  const entries = tools.map(
    ({ tool_id, description, input_schema, output_schema }) =>
      `  /** ${description.replace(/\s+/g, ' ').replaceAll('*/', '* /').slice(0, 200)} */\n  ${JSON.stringify(tool_id)}: {\n    input: ${schemaToType(input_schema, 2)};\n    output: ${output_schema ? schemaToType(output_schema, 2) : 'unknown'};\n  };`,
  );
  await session.out.write(
    `// Written by capstan types. Not to be edited.\n\nexport type Tools = {\n${entries.join('\n')}\n};\n`,
  );
  return EXIT.success;
};
