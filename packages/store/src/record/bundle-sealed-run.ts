import { type Entry, readColumnsOf, type Seal, writeBundleLine } from '@capstan/integrity';
import type { Store } from '../open-store.js';
import { readLinks } from '../seal/read-seal.js';
import { bundleDocuments } from './bundle-run.js';
import { type ReadEntry, readEntries } from './read-entries.js';

/** The bundle, in version 1.0, of a run that was sealed before the log existed. */
export async function* bundleSealedRun(store: Store, seal: Seal, kind: string): AsyncGenerator<string> {
  const { run_id, count } = seal;
  yield writeBundleLine({ line: 'header', capstan_bundle: '1.0', run_id, kind, count });
  yield* bundleDocuments(store, run_id);
  for await (const links of readLinks(store, run_id)) {
    const entries = await readEntries(store.db, run_id, links);
    let page = '';
    links.forEach((link, at) => {
      page += writeBundleLine({ line: 'record', ...link, tables: coveredOf(entries[at]) });
    });
    yield page;
  }
  yield writeBundleLine({ line: 'seal', ...seal });
}

/** Rows as they are hashed, without columns that only matter in this installation. */
function coveredOf(entry: ReadEntry | undefined): Entry['tables'] {
  const tables = Object.entries(entry?.tables ?? {});
  return Object.fromEntries(
    tables.map(([table, rows]) => [
      table,
      rows.map((row) => Object.fromEntries(readColumnsOf(table).map((column) => [column, row[column]]))),
    ]),
  );
}
