import type { Command } from 'commander';
import type { AddCommand } from '../cli.js';
import { EXIT } from '../exit-code.js';
import { formatFields } from '../format/fields.js';
import { relativeTime } from '../format/relative-time.js';

export const addWhoami: AddCommand = (program, cli) => {
  program
    .command('whoami')
    .description('show the actor, tenant and roles of the current key')
    .action((_options: object, command: Command) =>
      cli.run(command, async (session) => {
        const me = await (await session.client()).whoami();
        if (session.json) {
          await session.printJson(me);
          return EXIT.success;
        }
        const { url, key } = session.connection();
        const fields = formatFields(
          [
            ['tenant', me.tenant],
            ['roles', me.roles.join(', ')],
            ['via', me.via === 'jwt' ? 'token' : me.via],
            ['gateway', url],
            ['key', key && `from ${key.origin}`],
            ['expires', me.expires_at && relativeTime(me.expires_at, session.now())],
          ],
          session.out,
        );
        await session.out.line([me.actor, ...fields].join('\n'));
        return EXIT.success;
      }),
    );
};
