import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { EXIT, type ExitCode } from '../exit-code.js';
import type { Session } from '../session.js';
import { UsageError } from '../usage-error.js';
import { currentPolicy, putPolicy } from './put-policy.js';

/** Opens a policy in an editor and puts the result. If that fails, the edited file is kept. */
export const editPolicy = async (
  session: Session,
  name: string,
  options: { yes?: boolean | undefined },
): Promise<ExitCode> => {
  const { err } = session;
  const before = await currentPolicy(session, name);
  const file = join(await mkdtemp(join(tmpdir(), 'capstan-policy-')), `${name}.yaml`);
  await writeFile(file, before?.text ?? '', { mode: 0o600 });
  let isDone = false;
  try {
    await openEditor(session, file);
    const after = await readFile(file, 'utf8');
    if (after === (before?.text ?? '')) {
      isDone = true;
      await err.line(err.colors.dim('No changes.'));
      return EXIT.success;
    }
    const code = await putPolicy(session, name, after, { ...options, base: before ?? undefined });
    isDone = code === EXIT.success;
    return code;
  } finally {
    if (isDone) await rm(dirname(file), { recursive: true });
    else await err.line(err.colors.dim(`Your changes are in ${file}.`));
  }
};

/** $EDITOR may have arguments, as in `code --wait`, so it is run by a shell, as git does. */
const openEditor = async ({ env }: Session, file: string): Promise<void> => {
  const editor = env.VISUAL || env.EDITOR || 'vi';
  const child = spawn('sh', ['-c', `${editor} "$1"`, editor, file], { stdio: 'inherit', env: { ...env } });
  const [code] = await once(child, 'exit');
  if (code !== 0)
    throw new UsageError(
      `the editor exited with ${code ?? 'a signal'}: ${editor}`,
      'Set EDITOR to an installed editor.',
    );
};
