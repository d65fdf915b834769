import { z } from 'zod';

export const PageQuery = z.object({
  limit: z.coerce.number().int().min(1).max(1000).default(50).describe('The most items of a page'),
  cursor: z.string().optional().describe('next_cursor of the page before'),
});
export type PageQuery = z.infer<typeof PageQuery>;

/** For lists whose cursor is a sequence number. */
export const SequenceQuery = PageQuery.extend({
  cursor: z
    .string()
    .regex(/^\d{1,18}$/, 'take it from next_cursor of the page before')
    .optional()
    .describe('next_cursor of the page before'),
});

export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.object({ items: z.array(item), next_cursor: z.string().nullable() });
export type Page<Item> = { items: Item[]; next_cursor: string | null };
