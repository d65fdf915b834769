import { z } from 'zod';
import { WaitUntil } from './page-inputs.js';

const selector = z.string().min(1);
const timeout_ms = z.int().positive().optional();

export const ScriptStep = z.discriminatedUnion('action', [
  z.strictObject({
    action: z.literal('goto'),
    url: z.string().min(1),
    wait_until: WaitUntil.default('load'),
    timeout_ms,
  }),
  z.strictObject({ action: z.literal('click'), selector, timeout_ms }),
  /** `secret://name` types a secret. */
  z.strictObject({ action: z.literal('fill'), selector, value: z.string(), timeout_ms }),
  z.strictObject({ action: z.literal('press'), key: z.string().min(1), selector: selector.optional(), timeout_ms }),
  z.strictObject({
    action: z.literal('wait'),
    selector: selector.optional(),
    ms: z.int().positive().max(60_000).optional(),
    until: WaitUntil.exclude(['commit']).optional(),
    url: z.string().min(1).optional(),
    download: z.literal(true).optional(),
    timeout_ms,
  }),
  z.strictObject({
    action: z.literal('expect'),
    selector: selector.optional(),
    /** The text that the selected element, or the page, must contain. */
    text: z.string().optional(),
    visible: z.boolean().optional(),
    count: z.int().nonnegative().optional(),
    url: z.string().optional(),
    title: z.string().optional(),
    timeout_ms,
  }),
  z.strictObject({
    action: z.literal('screenshot'),
    name: z
      .string()
      .regex(/^[\w.-]{1,100}$/)
      .optional(),
    selector: selector.optional(),
    full_page: z.boolean().default(false),
  }),
]);
export type ScriptStep = z.infer<typeof ScriptStep>;

/** The main field of each short form, such as `{ click: "#buy" }` or `{ wait: 500 }`. */
const MAIN: Record<ScriptStep['action'], (value: string | number) => object> = {
  goto: (url) => ({ url }),
  click: (found) => ({ selector: found }),
  fill: () => ({}),
  press: (key) => ({ key }),
  wait: (value) => (typeof value === 'number' ? { ms: value } : { selector: value }),
  expect: (text) => ({ text }),
  screenshot: (name) => ({ name }),
};

const isAction = (name: string | undefined): name is ScriptStep['action'] =>
  name !== undefined && Object.hasOwn(MAIN, name);

/** Accepts both `{action: 'click', selector: …}` and `{click: …}`. */
export const AnyStep = z.preprocess((step) => {
  if (typeof step !== 'object' || step === null || 'action' in step) return step;
  const [[action, value] = [], ...more] = Object.entries(step);
  if (!isAction(action) || more.length > 0) return step;
  if (typeof value === 'string' || typeof value === 'number') return { action, ...MAIN[action](value) };
  return typeof value === 'object' ? { action, ...value } : { action };
}, ScriptStep);
