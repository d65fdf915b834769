import { type Descriptor, type Effects, type JsonObject, NO_EFFECTS } from '@capstan/contracts';
import { URL_PATTERN } from '../schema/url-pattern.js';

const SELECTOR: JsonObject = { type: 'string', minLength: 1, description: 'A CSS selector' };
const TIMEOUT: JsonObject = { type: 'integer', minimum: 1 };
const WAIT_UNTIL: JsonObject = {
  type: 'string',
  enum: ['load', 'domcontentloaded', 'networkidle', 'commit'],
  description: 'load by default',
};
const VIEWPORT: JsonObject = {
  type: 'object',
  required: ['width', 'height'],
  properties: {
    width: { type: 'integer', minimum: 16, maximum: 4096 },
    height: { type: 'integer', minimum: 16, maximum: 4096 },
  },
  additionalProperties: false,
};
const URL_INPUT: JsonObject = {
  type: 'string',
  pattern: URL_PATTERN,
  maxLength: 8192,
  description: 'An address that starts with http:// or https://',
};

const inputs = (properties: JsonObject, required: string[]): JsonObject => ({
  type: 'object',
  required,
  properties,
  additionalProperties: false,
});

const page = (properties: JsonObject, required: string[] = []): JsonObject =>
  inputs(
    {
      url: URL_INPUT,
      wait_until: WAIT_UNTIL,
      wait_for: { ...SELECTOR, description: 'A CSS selector for an element that must be visible first' },
      timeout_ms: TIMEOUT,
      viewport: VIEWPORT,
      ...properties,
    },
    ['url', ...required],
  );

/** Opening a page runs its scripts, but without a login, and nothing is stored. */
const READS: Effects = { ...NO_EFFECTS, network: true, subprocess: true };
/** Clicks and forms do whatever the site does. */
const ACTS: Effects = { ...READS, idempotent: false, destructive: true, reversible: false, billable: true };

const tool = (over: Pick<Descriptor, 'tool_id' | 'description' | 'input_schema' | 'risk' | 'effects'>): Descriptor => ({
  name: over.tool_id,
  source: 'core',
  origin: 'core',
  runner: 'browser',
  binding: { kind: 'native' },
  side_effects: ['network.http', 'network.socket', 'network.dns'],
  trust: 'native',
  inferred: [],
  ...over,
});

export const BROWSER_TOOLS: Descriptor[] = [
  tool({
    tool_id: 'browser.navigate',
    description: 'Open a page in a browser, scripts included, and return its title, text or markdown, and links',
    risk: 'MED',
    effects: READS,
    input_schema: page({
      format: { type: 'string', enum: ['text', 'markdown', 'html'], description: 'text by default' },
      links: { type: 'boolean', description: 'true by default' },
    }),
  }),
  tool({
    tool_id: 'browser.screenshot',
    description: 'Take a screenshot of a page, or of one element on it, and keep it as an artifact',
    risk: 'MED',
    effects: READS,
    input_schema: page({
      full_page: { type: 'boolean', description: 'The whole page instead of the visible part' },
      selector: SELECTOR,
      format: { type: 'string', enum: ['png', 'jpeg'], description: 'png by default' },
    }),
  }),
  tool({
    tool_id: 'browser.pdf',
    description: 'Print a page to PDF, and keep it as an artifact',
    risk: 'MED',
    effects: READS,
    input_schema: page({
      format: { type: 'string', enum: ['A3', 'A4', 'A5', 'Letter', 'Legal', 'Tabloid'], description: 'A4 by default' },
      landscape: { type: 'boolean' },
      background: { type: 'boolean', description: 'true by default' },
    }),
  }),
  tool({
    tool_id: 'browser.extract',
    description: 'Open a page and return the values that selectors find on it',
    risk: 'MED',
    effects: READS,
    input_schema: page(
      {
        selectors: {
          type: 'object',
          description: 'A name for each value; a selector alone gives the text of the first match',
          additionalProperties: {
            anyOf: [
              SELECTOR,
              inputs(
                {
                  selector: SELECTOR,
                  attribute: { type: 'string', minLength: 1, description: 'This attribute instead of the text' },
                  all: { type: 'boolean', description: 'A list of all matches' },
                  limit: { type: 'integer', minimum: 1, maximum: 1000 },
                },
                ['selector'],
              ),
            ],
          },
        },
      },
      ['selectors'],
    ),
  }),
  tool({
    tool_id: 'browser.script',
    description: 'Do a list of steps on a page: goto, click, fill, press, wait, expect, screenshot',
    risk: 'HIGH',
    effects: ACTS,
    input_schema: inputs(
      {
        url: URL_INPUT,
        steps: {
          type: 'array',
          minItems: 1,
          maxItems: 100,
          description:
            'Each {"action": "click", "selector": "#buy"} or short {"click": "#buy"}. goto: url, wait_until. click: selector. fill: selector, value (secret://name types a secret). press: key, selector. wait: selector, ms, until, url or download. expect: selector, text, visible, count, url, title. screenshot: name, selector, full_page.',
          items: { type: 'object', minProperties: 1 },
        },
        viewport: VIEWPORT,
      },
      ['steps'],
    ),
  }),
];
