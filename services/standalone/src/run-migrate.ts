import { BackboneEnv, readEnv } from '@capstan/backbone';
import { migrate, openStore } from '@capstan/store';

/** `capstan migrate`: brings the database of DATABASE_URL up to date, or one step back. */
export async function runMigrate({ down }: { down: boolean }): Promise<void> {
  const env = readEnv(BackboneEnv, process.env);
  const store = openStore({ url: env.DATABASE_URL, name: 'capstan-migrate', connections: 2 });
  try {
    const done = await migrate(store, down ? 'down' : 'up');
    process.stdout.write(
      done.length > 0
        ? `${done.map((name) => `${down ? 'reverted' : 'applied'} ${name}`).join('\n')}\n`
        : 'nothing to do\n',
    );
  } finally {
    await store.close();
  }
}
