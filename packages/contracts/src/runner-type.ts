import { z } from 'zod';

/** Each runner type has a queue of its own and workers that scale on their own. */
export const RunnerType = z.enum(['exec', 'analyze', 'browser', 'api', 'mcp', 'file', 'db', 'builtin']);
export type RunnerType = z.infer<typeof RunnerType>;
export const RUNNER_TYPES = RunnerType.options;
