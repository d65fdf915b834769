import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { basename, join, relative, resolve } from 'node:path';
import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import type { Session } from '../session.js';
import { UsageError } from '../usage-error.js';
import { readVersion } from '../version.js';

export const addInit: AddCommand = (program, cli) => {
  program
    .command('init')
    .description('create a project with a tool, a policy, a plan and a test')
    .argument('[folder]', 'folder of the project', '.')
    .action((folder: string, _options: object, command: Command) =>
      cli.run(command, (session) => init(session, resolve(session.cwd, folder))),
    );
};

const init = async (session: Session, folder: string): Promise<ExitCode> => {
  await mkdir(folder, { recursive: true });
  const taken = (await readdir(folder)).filter((name) => name in FILES);
  if (taken.length > 0)
    throw new UsageError(`will not overwrite ${taken.join(', ')}`, 'Use another folder: capstan init my-tools');
  const name =
    basename(folder)
      .toLowerCase()
      .replace(/[^a-z0-9-]+/g, '-') || 'tools';
  for (const [file, content] of Object.entries(FILES))
    await writeFile(join(folder, file), content.replaceAll('{{name}}', name).replaceAll('{{version}}', readVersion()));
  const here = relative(session.cwd, folder);
  const { colors } = session.out;
  await session.out.write(
    [
      `${colors.green('✓')} ${Object.keys(FILES).join('  ')}`,
      '',
      ...(here === '' ? [] : [`  cd ${here}`]),
      '  npm install',
      '  npm test',
      '  npm run dev',
      `  npx capstan invoke app:shop:refund '{"order": "A-17", "amount": 20}'`,
      '',
    ].join('\n'),
  );
  return EXIT.success;
};

const FILES: Record<string, string> = {
  'package.json': `{
  "name": "{{name}}",
  "private": true,
  "type": "module",
  "scripts": {
    "dev": "capstan dev tools.ts",
    "test": "node --import tsx --test tools.test.ts"
  },
  "dependencies": {
    "@capstan/client": "^{{version}}",
    "zod": "^4.2.0"
  },
  "devDependencies": {
    "@types/node": "^20.19.0",
    "capstan": "^{{version}}",
    "tsx": "^4.20.0"
  }
}
`,
  // For editors and tsc: Node.js and capstan do not read it.
  'tsconfig.json': `{
  "compilerOptions": {
    "module": "nodenext",
    "target": "es2023",
    "types": ["node"],
    "strict": true,
    "noEmit": true,
    "skipLibCheck": true,
    "allowImportingTsExtensions": true
  }
}
`,
  'tools.ts': `import { Fatal, tool } from '@capstan/client';
import { z } from 'zod';

/** These tools are called as app:shop:<id>. */
export const pool = 'shop';

export const refund = tool({
  id: 'refund',
  description: 'Pays money back to a customer',
  input: z.object({ order: z.string(), amount: z.number().positive() }),
  output: z.object({ refund_id: z.string() }),
  risk: 'MED',
  side_effects: ['payments'],
  effects: { idempotent: true, destructive: false, reversible: false, billable: true },
  run: async ({ order, amount }, { log, idempotency_key }) => {
    if (!order.startsWith('A-')) throw new Fatal(\`there is no order \${order}\`);
    log(\`refunding \${amount} of \${order}\`);
    // Pass idempotency_key to the payment API, so that a second attempt does not pay twice.
    return { refund_id: \`re_\${idempotency_key}\` };
  },
});
`,
  'tools.test.ts': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serveTools } from '@capstan/client';
import { refund } from './tools.ts';

test('a refund has an id', async () => {
  const { refund_id } = await serveTools.test(refund).call({ order: 'A-17', amount: 20 });
  assert.match(refund_id, /^re_/);
});

test('an order that nobody knows is not refunded', async () => {
  await assert.rejects(serveTools.test(refund).call({ order: 'B-1', amount: 20 }), /no order/);
});
`,
  'policy.yaml': `# What may run. capstan dev puts it as the policy of the tenant default, and again when it changes.
version: "1.0"
boundary: deny_by_default
rules:
  - id: small-refunds
    effect: allow
    match: { tool: "app:shop:refund" }
    if: inputs.amount <= 100.0
    reason: small amounts need nobody
  - id: large-refunds
    effect: hold
    match: { tool: "app:shop:refund" }
    if: inputs.amount > 100.0
    approvals: { required: 1, allow_self: true }
    reason: a person looks at large amounts
`,
  'plan.yaml': `# capstan run plan.yaml
version: "1.0"
name: two-refunds
steps:
  - id: first
    tool: app:shop:refund
    args: { order: A-17, amount: 20 }
  - id: second
    tool: app:shop:refund
    args: { order: A-18, amount: 30 }
    needs: [first]
`,
  '.gitignore': `node_modules/
.capstan/
`,
};
