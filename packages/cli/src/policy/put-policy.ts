import type { PutPolicy } from '@capstan/contracts';
import { visibleLine } from '@capstan/contracts/visible-text';
import { readYaml } from '@capstan/expression';
import { type Pair, stringify } from 'yaml';
import { confirm } from '../confirm.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { formatDiff } from '../format/diff.js';
import type { Session } from '../session.js';
import { UsageError } from '../usage-error.js';

export type PolicyText = object | string;
/** The version that a change is based on. */
export type PolicyBase = { version: number; text: string };

type PutOptions = {
  yes?: boolean | undefined;
  /** The version the document is based on. The put fails if another version is current by now. */
  base?: PolicyBase | undefined;
  /** The same, if only the number is known. Takes precedence over `base`. */
  if_version?: number | undefined;
  /** Restore this version. The document is then only used to show the changes. */
  rollback_to?: number | undefined;
};

const PRECONDITION_FAILED = 412;

/** Puts a new version. On a terminal, shows the changes and asks first. */
export const putPolicy = async (
  session: Session,
  name: string,
  document: PolicyText,
  { yes = false, base, if_version: made_from, rollback_to }: PutOptions = {},
): Promise<ExitCode> => {
  const { out, err } = session;
  let if_version = made_from ?? base?.version;
  if (!yes && session.stdin.isTTY && err.tty) {
    const before = base ?? (await currentPolicy(session, name));
    if (!(await isMeant(session, name, before?.text ?? '', document))) {
      await err.line(err.colors.dim('Nothing was put.'));
      return EXIT.failed;
    }
    // The confirmation was for a change to the version shown.
    if_version = made_from ?? before?.version;
  }
  const policy = await send(session, name, document, { if_version, rollback_to });
  if (session.json) await session.printJson(policy);
  else await out.line(`${out.colors.green('✓')} ${policy.name} is now version ${policy.version}`);
  for (const { field, message } of policy.warnings)
    await err.line(`${err.colors.yellow('warning')} ${field}: ${visibleLine(message)}`);
  return EXIT.success;
};

const send = async (
  session: Session,
  name: string,
  document: PolicyText,
  { if_version, rollback_to }: Pick<PutOptions, 'rollback_to'> & { if_version: number | undefined },
): Promise<PutPolicy> => {
  const { Conflict } = await import('@capstan/client');
  const { policies } = await session.client();
  try {
    return await (rollback_to === undefined
      ? policies.put(name, document, { if_version })
      : policies.rollback(name, rollback_to, { if_version }));
  } catch (error) {
    if (!(error instanceof Conflict) || error.status !== PRECONDITION_FAILED) throw error;
    throw new UsageError(
      `somebody else has changed the policy ${name} meanwhile`,
      'Nothing was put. Run the command again and review the changes.',
    );
  }
};

const isMeant = async (session: Session, name: string, current: string, document: PolicyText): Promise<boolean> => {
  const { err } = session;
  const after = normalize(document);
  // The gateway rejects an invalid document and names the place of the mistake.
  if (after === null) return true;
  const before = normalize(current);
  const lines = formatDiff(before ?? '', after, err.colors);
  await err.line(lines.length > 0 ? lines.join('\n') : err.colors.dim('No rules or limits change.'));
  return confirm(session, `Put this as the policy ${name}?`);
};

/** The current version and its text. Null if there is none yet. */
export const currentPolicy = async (session: Session, name: string): Promise<PolicyBase | null> => {
  const { NotFound } = await import('@capstan/client');
  const client = await session.client();
  try {
    const { version, text, document } = await client.policies.get(name);
    return { version, text: text ?? stringify(document, { lineWidth: 120 }) };
  } catch (error) {
    if (error instanceof NotFound) return null;
    throw error;
  }
};

/** A canonical text, so that only the meaning of two documents is compared. Null if it is not valid YAML. */
const normalize = (document: PolicyText): string | null => {
  const { value, errors } = typeof document === 'string' ? readYaml(document) : { value: document, errors: [] };
  if (errors.length > 0) return null;
  return stringify(value, { sortMapEntries: byName, lineWidth: 100 });
};

const FIRST = ['version', 'boundary', 'id', 'effect', 'match'];

/** The order of keys has no meaning, so it is normalized. */
const byName = (a: Pair, b: Pair): number => {
  const [left, right] = [String(a.key), String(b.key)];
  const place = (key: string): number => (FIRST.includes(key) ? FIRST.indexOf(key) : FIRST.length);
  return place(left) - place(right) || (left < right ? -1 : 1);
};
