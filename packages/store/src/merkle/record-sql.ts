import { LOG_COLUMNS, LOG_KINDS, type LogKind, type LogTable } from '@capstan/integrity';

/** A late report of a lost worker changes its attempt, possibly long after the end, so the record ignores that change. */
const LATE = (alias: string) => `${alias}.outcome IN ('lost', 'refused')`;
const ATTEMPTS: Readonly<Record<string, (alias: string) => string>> = {
  outcome: (alias) => `CASE WHEN ${LATE(alias)} THEN 'lost' ELSE ${alias}.outcome END`,
  ended_at: (alias) => `CASE WHEN ${LATE(alias)} THEN NULL ELSE ${alias}.ended_at::text END`,
  error: (alias) => `CASE WHEN ${LATE(alias)} THEN NULL ELSE ${alias}.error END`,
};

/** A covered column as text, as it is hashed. */
export const textOf = (table: LogTable, alias: string, column: string): string =>
  (table === 'attempts' ? ATTEMPTS[column]?.(alias) : undefined) ?? `${alias}."${column}"::text`;

const textsOf = (table: LogTable, alias: string): string[] =>
  LOG_COLUMNS[table].map((column) => textOf(table, alias, column));

/** As encodeFields of integrity. */
const encoded = (texts: readonly string[]): string => `record_send(ROW(${texts.join(', ')}))`;

/** As rowDigest of integrity: two bytes for each field, of which int8send packs four at a time. */
function digested(texts: readonly string[]): string {
  const parts: string[] = [];
  const bits = (text: string | undefined) => `(coalesce(hashtext(${text}), 0) & 65535)`;
  let at = 0;
  for (; at + 2 <= texts.length; at += 2) parts.push(`int4send(${bits(texts[at])} << 16 | ${bits(texts[at + 1])})`);
  if (at < texts.length) parts.push(`int2send((${bits(texts[at])} - (${bits(texts[at])} & 32768) * 2)::int2)`);
  return parts.join(' || ');
}

/** Rows of any number, in this order: their hash as a field of the record, and their digests. */
function many(table: LogTable, from: string, order: string): string {
  const texts = textsOf(table, 'x');
  return `(SELECT ARRAY[
      coalesce(sha256(string_agg(${encoded(texts)}, '' ORDER BY ${order})), ''),
      int4send(count(*)::int) || coalesce(string_agg(${digested(texts)}, '' ORDER BY ${order}), '')]
    FROM ${from} AS x)`;
}

/**
 * The texts of a record's own rows, each computed once: the record and the digests both use them, and the conversion to text is half of
 * the work. OFFSET 0 prevents Postgres from inlining the expressions.
 */
const textsAs = (kind: LogKind, aliases: Partial<Record<LogTable, string>>): string =>
  LOG_KINDS[kind].one
    .flatMap((table) => textsOf(table, aliases[table] ?? table))
    .map((text, at) => `${text} AS t${at}`)
    .join(', ');

/** The two columns of a record in a batch: its hash, and the digests of its fields. */
function columnsFor(kind: LogKind, rows: readonly string[]): string {
  const { version, one } = LOG_KINDS[kind];
  let at = 0;
  const texts = one.map((table) => LOG_COLUMNS[table].map(() => `t.t${at++}`));
  const hashes = rows.map((name) => `nullif(encode(${name}[1], 'hex'), '')`);
  return `sha256(${encoded([`'${version}'::text`, ...texts.flat(), ...hashes])}) AS hash,
    ${texts.map(digested).join(' || ')} ||
    ${rows.map((name) => `coalesce(${name}[2], int4send(0))`).join(' || ')} AS digests`;
}

/** Comments are not part of the record, because they may be added at any time. */
export const VOTES = `kind <> 'comment'`;

/**
 * SQL for `t`, an invocation and its result. Most calls have no further attempts and no hold; checking whether there are any costs a tenth of
 * aggregating an empty set. OFFSET 0 prevents Postgres from computing each twice.
 */
const INVOCATION = {
  columns: columnsFor('invocation', ['m.attempts', 'm.holds', 'm.hold_entries']),
  joins: `
    LEFT JOIN holds h ON h.invocation_id = t.invocation_id
    CROSS JOIN LATERAL (SELECT
      CASE WHEN EXISTS (SELECT FROM attempts a WHERE a.invocation_id = t.invocation_id)
        THEN ${many('attempts', '(SELECT * FROM attempts a WHERE a.invocation_id = t.invocation_id)', 'x.attempt')} END AS attempts,
      CASE WHEN h.hold_id IS NOT NULL
        THEN ${many('holds', '(SELECT * FROM holds o WHERE o.hold_id = h.hold_id)', 'x.hold_id')} END AS holds,
      CASE WHEN h.hold_id IS NOT NULL
        THEN ${many('hold_entries', `(SELECT * FROM hold_entries e WHERE e.hold_id = h.hold_id AND e.${VOTES})`, 'x.seq')}
        END AS hold_entries
      OFFSET 0) AS m`,
};

/** SQL for `t`, a run. */
const RUN = {
  columns: columnsFor('run', ['plan_runs', 'steps', 'calls']),
  joins: `
    LEFT JOIN LATERAL ${many('plan_runs', '(SELECT * FROM plan_runs p WHERE p.run_id = t.run_id)', 'x.run_id')}
      AS of_plan (plan_runs) ON true
    LEFT JOIN LATERAL ${many('steps', '(SELECT * FROM steps s WHERE s.run_id = t.run_id)', 'x.step, x.element')}
      AS of_steps (steps) ON true
    LEFT JOIN LATERAL ${many('calls', '(SELECT * FROM invocations c WHERE c.run_id = t.run_id)', 'x.seq')}
      AS of_calls (calls) ON true`,
};

/** Records of ended calls, by a condition on `r`: tenant, xid, seq, hash, digests. */
export const invocationRecords = (where: string): string => `
  SELECT t.tenant, t.xid, t.seq, ${INVOCATION.columns}
  FROM (
    SELECT i.tenant, i.invocation_id, r.xid, r.seq, ${textsAs('invocation', { invocations: 'i', results: 'r' })}
    FROM results r JOIN invocations i ON i.invocation_id = r.invocation_id
    WHERE ${where} OFFSET 0
  ) AS t ${INVOCATION.joins}`;

/** The same for runs, by a condition on `n`. */
export const runRecords = (where: string): string => `
  SELECT t.tenant, t.xid, t.seq, ${RUN.columns}
  FROM (
    SELECT n.tenant, n.run_id, n.end_xid AS xid, n.end_seq AS seq, ${textsAs('run', { runs: 'n' })} FROM runs n WHERE ${where} OFFSET 0
  ) AS t ${RUN.joins}`;
