import { type Descriptor, type Effects, type JsonObject, NO_EFFECTS } from '@capstan/contracts';
import { URL_PATTERN } from '../schema/url-pattern.js';

const URL_INPUT: JsonObject = {
  type: 'string',
  pattern: URL_PATTERN,
  maxLength: 8192,
  description: 'An address that starts with http:// or https://',
};
const HEADERS: JsonObject = {
  type: 'object',
  additionalProperties: { type: 'string' },
  description: 'A value may name a secret: "Bearer secret://name"',
};
const SCALAR: JsonObject = { type: ['string', 'number', 'boolean'] };

/** Reading changes nothing, if the server follows HTTP. */
const READS: Effects = { ...NO_EFFECTS, network: true };
/** Any method is possible, so it can do anything that the server offers. */
const ACTS: Effects = {
  ...NO_EFFECTS,
  idempotent: false,
  destructive: true,
  reversible: false,
  network: true,
  billable: true,
};

const tool = (over: Pick<Descriptor, 'tool_id' | 'description' | 'input_schema' | 'effects' | 'risk'>): Descriptor => ({
  name: over.tool_id.slice(over.tool_id.lastIndexOf(':') + 1),
  source: 'core',
  origin: 'core',
  runner: 'api',
  binding: { kind: 'native' },
  side_effects: ['network.http', 'network.dns'],
  trust: 'native',
  inferred: [],
  ...over,
});

export const API_TOOLS: Descriptor[] = [
  tool({
    tool_id: 'api.call',
    description: 'Send one HTTP request and return the status, the headers and the body of the answer',
    risk: 'HIGH',
    effects: ACTS,
    input_schema: {
      type: 'object',
      required: ['url'],
      properties: {
        method: {
          type: 'string',
          enum: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
          description: 'GET by default',
        },
        url: URL_INPUT,
        headers: HEADERS,
        query: {
          type: 'object',
          additionalProperties: { anyOf: [SCALAR, { type: 'array', items: SCALAR }] },
          description: 'Added to the query of the URL; a list repeats the name',
        },
        body: { description: 'An object or a list goes as JSON, a string as text, unless body_type says otherwise' },
        body_type: { type: 'string', enum: ['json', 'text', 'form'] },
        expected_status: {
          anyOf: [
            { type: 'integer', minimum: 100, maximum: 599 },
            { type: 'array', minItems: 1, items: { type: 'integer', minimum: 100, maximum: 599 } },
            { const: 'any' },
          ],
          description: 'The expected statuses; any other is a failure. By default, 400 and above are',
        },
        response: {
          type: 'string',
          enum: ['auto', 'json', 'text', 'base64'],
          description: 'The format of the returned body; by default by its type',
        },
        follow_redirects: { type: 'boolean', description: 'true by default' },
        timeout_ms: { type: 'integer', minimum: 1 },
      },
      additionalProperties: false,
    },
  }),
  tool({
    tool_id: 'http.get',
    description: 'Fetch a URL with GET and return the status, the headers and the unchanged body',
    risk: 'MED',
    effects: READS,
    input_schema: {
      type: 'object',
      required: ['url'],
      properties: {
        url: URL_INPUT,
        headers: HEADERS,
        timeout: { type: 'number', exclusiveMinimum: 0, description: 'In seconds' },
      },
      additionalProperties: false,
    },
  }),
  {
    ...tool({
      tool_id: 'cap:web_fetch:web_fetch',
      description:
        'Fetch a page of the web; HTML can be converted to markdown or plain text, binary content gives metadata',
      risk: 'MED',
      effects: READS,
      input_schema: {
        type: 'object',
        required: ['url'],
        properties: {
          url: URL_INPUT,
          method: { type: 'string', enum: ['GET', 'HEAD'], description: 'GET by default' },
          as_markdown: { type: 'boolean', description: 'Convert HTML to markdown' },
          as_text: { type: 'boolean', description: 'Convert HTML to plain text; ignored if as_markdown is true' },
        },
        additionalProperties: false,
      },
    }),
    source: 'capability',
    origin: 'web_fetch',
    // A body may take 30 s. The rest is time to report what arrived until then.
    timeout_ms: 35_000,
  },
];
