import type { McpToolChange } from '@capstan/contracts';
import { visibleLine } from '@capstan/contracts/visible-text';
import type { Colors } from '../output.js';

const FIELDS = ['description', 'input_schema', 'output_schema', 'risk', 'effects'] as const;

/** The difference between the accepted description of a tool and the server's current one. */
export const formatToolChange = ({ tool_id, before, after }: McpToolChange, colors: Colors): string[] => [
  `${tool_id} has changed`,
  ...FIELDS.flatMap((field) => {
    const [was, is] = [before[field], after[field]].map((value) => visibleLine(JSON.stringify(value)));
    return was === is ? [] : [`  ${field}`, colors.red(`  - ${was}`), colors.green(`  + ${is}`)];
  }),
];
