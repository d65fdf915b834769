import { type Catalog, type CatalogEntry, catalogOf } from '@capstan/catalog';
import { Failure, type Page, Risk, RunnerType, SideEffect, ToolSource, Trust } from '@capstan/contracts';
import { z } from 'zod';

/** In a query, several values are written with commas or by repeating the parameter. */
const many = <T extends z.ZodType>(item: T) =>
  z
    .preprocess((value) => (typeof value === 'string' ? value.split(',').filter(Boolean) : value), z.array(item))
    .optional();

export const ToolQuery = z.strictObject({
  q: z.string().max(500).optional(),
  source: many(ToolSource),
  runner: many(RunnerType),
  risk_max: Risk.optional(),
  exclude_side_effects: many(SideEffect),
  trust_min: Trust.optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(1000),
  enabled: z.enum(['true', 'false', 'any']).default('true').describe('false lists disabled tools only'),
  cursor: z.string().max(512).optional(),
});
export type ToolQuery = z.infer<typeof ToolQuery>;

/** Ranked for a search, else sorted by id. The cursor is the id of the last tool of the page before. */
export function findTools(catalog: Catalog, query: ToolQuery): Page<CatalogEntry> {
  const words = query.q?.trim() ?? '';
  const pool = poolOf(catalog, query.enabled);
  const found = (words === '' ? sorted(pool.list()) : pool.search(words)).filter(matching(query));
  const start = query.cursor === undefined ? 0 : after(found, query.cursor);
  const items = found.slice(start, start + query.limit);
  const more = start + query.limit < found.length;
  return { items, next_cursor: more ? (items.at(-1)?.descriptor.tool_id ?? null) : null };
}

function poolOf(catalog: Catalog, enabled: ToolQuery['enabled']): Pick<Catalog, 'list' | 'search'> {
  if (enabled === 'true') return catalog;
  return catalogOf([...(enabled === 'any' ? catalog.list() : []), ...catalog.listDisabled()]);
}

const sorted = (entries: CatalogEntry[]): CatalogEntry[] =>
  entries.sort((one, other) => (one.descriptor.tool_id < other.descriptor.tool_id ? -1 : 1));

function after(found: CatalogEntry[], cursor: string): number {
  const at = found.findIndex(({ descriptor }) => descriptor.tool_id === cursor);
  if (at < 0) throw new Failure('INVALID_REQUEST', { detail: 'cursor: take it from next_cursor of the page before.' });
  return at + 1;
}

const matching =
  ({ source, runner, risk_max, exclude_side_effects, trust_min }: ToolQuery) =>
  ({ descriptor }: CatalogEntry): boolean =>
    (source?.includes(descriptor.source) ?? true) &&
    (runner?.includes(descriptor.runner) ?? true) &&
    (risk_max === undefined || Risk.options.indexOf(descriptor.risk) <= Risk.options.indexOf(risk_max)) &&
    !descriptor.side_effects.some((side_effect) => exclude_side_effects?.includes(side_effect)) &&
    (trust_min === undefined || Trust.options.indexOf(descriptor.trust) <= Trust.options.indexOf(trust_min));
