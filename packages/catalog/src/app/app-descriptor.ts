import type { Descriptor, Pool, ToolDeclaration } from '@capstan/contracts';
import { mergeEffects, undeclaredEffects } from '../effects/merge-effects.js';
import { inferDanger } from '../infer/infer-danger.js';
import { cluesInWords } from '../infer/words.js';

/**
 * The descriptor of a tool in a user's own process. Its developers operate it themselves, so their declarations are trusted. Effects that they do not
 * declare get the dangerous value, and the risk is inferred from the words of the tool.
 */
export function toAppDescriptor(pool: Pool, tool: ToolDeclaration): Descriptor {
  const { id, description = '', effects = {} } = tool;
  const clues =
    tool.risk === undefined || tool.side_effects === undefined
      ? cluesInWords({ name: id, description, input_schema: tool.input_schema })
      : [];
  const danger = inferDanger({ risk: tool.risk, side_effects: tool.side_effects }, clues);
  return {
    tool_id: `app:${pool}:${id}`,
    name: tool.name ?? id,
    description,
    source: 'app',
    origin: pool,
    runner: 'app',
    binding: { kind: 'app', pool, id },
    input_schema: tool.input_schema,
    ...(tool.output_schema ? { output_schema: tool.output_schema } : {}),
    risk: tool.risk ?? danger.risk,
    side_effects: tool.side_effects ?? danger.side_effects,
    effects: { ...mergeEffects(effects), interactive: effects.interactive ?? false },
    trust: 'org',
    inferred: [
      ...danger.inferred.filter(({ field }) => field === 'risk' || field === 'side_effects'),
      ...undeclaredEffects(effects).map((field) => ({ field, why: 'not declared, so taken as the dangerous value' })),
    ].filter(({ field }) => !(field === 'risk' && tool.risk) && !(field === 'side_effects' && tool.side_effects)),
    ...(tool.timeout_ms === undefined ? {} : { timeout_ms: tool.timeout_ms }),
  };
}
