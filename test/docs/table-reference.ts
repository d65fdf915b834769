import { Client } from 'pg';

type TableRow = { table: string; columns: string; indexes: string[] };

/** docs/internals/tables.md, from the catalog of a migrated Postgres. */
export const tableReference = async (connectionString: string): Promise<string> => {
  const client = new Client({ connectionString });
  await client.connect();
  const { rows } = await client.query<TableRow>(`
    SELECT c.relname AS "table",
           (SELECT string_agg(a.attname, ', ' ORDER BY a.attnum) FROM pg_attribute a
             WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns,
           (SELECT coalesce(array_agg(pg_get_indexdef(i.indexrelid) ORDER BY i.indisprimary DESC, i.indexrelid::regclass::text), '{}')
              FROM pg_index i WHERE i.indrelid = c.oid) AS indexes
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname NOT LIKE 'kysely_%'
     ORDER BY c.relname`);
  await client.end();
  const section = ({ table, columns, indexes }: TableRow) =>
    `\n## ${table}\n\n${columns}\n\n${indexes.map((index) => `- \`${shortened(index)}\``).join('\n')}\n`;
  return `# Tables

Every table with its columns and indexes. What the tables are for, and why they have these indexes, is in [packages/store](../../packages/store/README.md) and [the ledger](ledger.md).

This page is generated from a migrated database.
${rows.map(section).join('')}`;
};

const shortened = (definition: string): string =>
  definition
    .replace(/^CREATE (UNIQUE )?INDEX (\S+) ON (?:ONLY )?public\.\S+ USING (\w+)/, (_, unique = '', name, method) =>
      `${name}: ${unique}${method}`.toLowerCase(),
    )
    .replace(/::text/g, '');
