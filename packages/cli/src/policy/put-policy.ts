import { visibleLine } from '@capstan/contracts/visible-text';
import { readYaml } from '@capstan/expression';
import { type Pair, stringify } from 'yaml';
import { confirm } from '../confirm.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { formatDiff } from '../format/diff.js';
import type { Session } from '../session.js';

export type PolicyText = object | string;

/** Puts a new version. On a terminal it shows first what changes, and asks. */
export const putPolicy = async (
  session: Session,
  name: string,
  document: PolicyText,
  { yes = false }: { yes?: boolean | undefined } = {},
): Promise<ExitCode> => {
  const { out, err } = session;
  if (!yes && session.stdin.isTTY && err.tty && !(await isMeant(session, name, document))) {
    await err.line(err.colors.dim('Nothing was changed.'));
    return EXIT.failed;
  }
  const client = await session.client();
  const policy = await client.policies.put(name, document);
  if (session.json) await session.printJson(policy);
  else await out.line(`${out.colors.green('✓')} ${policy.name} is now version ${policy.version}`);
  for (const { field, message } of policy.warnings)
    await err.line(`${err.colors.yellow('warning')} ${field}: ${visibleLine(message)}`);
  return EXIT.success;
};

const isMeant = async (session: Session, name: string, document: PolicyText): Promise<boolean> => {
  const { err } = session;
  const after = normalize(document);
  // The gateway refuses what cannot be read, and says where the mistake is.
  if (after === null) return true;
  const before = normalize((await currentPolicy(session, name)) ?? '');
  const lines = formatDiff(before ?? '', after, err.colors);
  await err.line(lines.length > 0 ? lines.join('\n') : err.colors.dim('No rule and no limit changes.'));
  return confirm(session, `put this as the policy ${name}?`);
};

/** The text of the version in force; null when there is none yet. */
export const currentPolicy = async (session: Session, name: string): Promise<string | null> => {
  const { CapstanError } = await import('@capstan/client');
  const client = await session.client();
  try {
    return withoutHeader(await client.policies.yaml(name));
  } catch (error) {
    if (error instanceof CapstanError && error.status === 404) return null;
    throw error;
  }
};

/** Without the line that names the version, which is wrong as soon as the text is put again. */
const withoutHeader = (text: string): string => text.replace(/^# \S+, version \d+, \S+\n/, '');

/** One way to write the same document: only what it says is compared. Null when it is not YAML. */
const normalize = (document: PolicyText): string | null => {
  const { value, errors } = typeof document === 'string' ? readYaml(document) : { value: document, errors: [] };
  if (errors.length > 0) return null;
  return stringify(value, { sortMapEntries: byName, lineWidth: 100 });
};

const FIRST = ['version', 'boundary', 'id', 'effect', 'match'];

/** The order of keys says nothing and is not kept. */
const byName = (a: Pair, b: Pair): number => {
  const [left, right] = [String(a.key), String(b.key)];
  const place = (key: string): number => (FIRST.includes(key) ? FIRST.indexOf(key) : FIRST.length);
  return place(left) - place(right) || (left < right ? -1 : 1);
};
