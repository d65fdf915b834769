import { isObject } from '@capstan/contracts';
import { Html, html } from '../report/html.js';
import type { OpenApi, Operation, Response } from './openapi-route.js';

type Placed = Operation & { method: string; path: string };
type Schema = Readonly<Record<string, unknown>>;

const MAX_DEPTH = 3;

/** The API reference as one page without scripts or external resources, so that it can be saved and read offline. */
export function renderReference({ info, tags, paths, components }: OpenApi): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]): Placed => ({ ...operation, method: method.toUpperCase(), path }),
    ),
  );
  const sections = tags.map((tag) => ({ ...tag, operations: operations.filter(({ tags: [of] }) => of === tag.name) }));
  return html`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${info.title} API reference</title><style>${new Html(STYLE)}</style></head><body>
<nav aria-label="Operations"><h1>${info.title} <small>${info.version}</small></h1>${sections.map(
    ({ name, operations: own }) =>
      html`<details open><summary>${name}</summary><ul>${own.map((each) => html`<li><a href="#${each.operationId}">${each.operationId}</a></li>`)}</ul></details>`,
  )}</nav>
<main><p>${info.description}</p><p>For programs: <a href="/openapi.json">/openapi.json</a> (OpenAPI 3.1).</p>${sections.map(
    ({ name, description, operations: own }) =>
      html`<section><h2 id="${name}">${name}</h2><p>${description}</p>${own.map((each) => renderOperation(each, components.schemas))}</section>`,
  )}</main></body></html>`.text;
}

function renderOperation(operation: Placed, schemas: Record<string, unknown>): Html {
  const { operationId, method, path, description, parameters, requestBody, responses } = operation;
  const body = requestBody?.content['application/json'];
  const example = body?.examples?.typical.value;
  return html`<article id="${operationId}"><h3><span class="method ${method}">${method}</span> <code>${path}</code></h3>
<p>${description}</p>
${parameters.length > 0 && html`<h4>Parameters</h4><table>${parameters.map(({ name, in: place, required, description: said, schema }) => html`<tr><td><code>${name}</code></td><td>${place}${required && html`, required`}</td><td>${describe(schema, schemas, said)}</td></tr>`)}</table>`}
${body && html`<h4>Body</h4>${renderSchema(body.schema, schemas, 0)}`}
${
  example !== undefined &&
  html`<h4>Example</h4><pre>curl -X ${method} "$CAPSTAN_URL${path}" \\
  -H "Authorization: Bearer $CAPSTAN_API_KEY" -H "Content-Type: application/json" \\
  -d '${JSON.stringify(example, null, 2)}'</pre>`
}
<h4>Answers</h4>${Object.entries(responses)
    .filter(([status]) => status !== 'default')
    .map(([status, response]) => renderAnswer(status, response, schemas))}</article>`;
}

function renderAnswer(status: string, response: Response, schemas: Record<string, unknown>): Html {
  const content = Object.entries(response.content ?? {});
  return html`<details><summary><b>${status}</b> ${response.description}</summary>${content.map(
    ([type, { schema }]) => html`<p class="type">${type}</p>${renderSchema(schema, schemas, 0)}`,
  )}</details>`;
}

/** A table of members; nested objects can be unfolded. */
function renderSchema(given: unknown, schemas: Record<string, unknown>, depth: number): Html {
  const schema = resolve(given, schemas);
  const items = isObject(schema.items) ? resolve(schema.items, schemas) : null;
  const { properties, required } = items && isObject(items.properties) ? items : schema;
  if (!isObject(properties) || depth >= MAX_DEPTH) return html`<p>${describe(given, schemas)}</p>`;
  const needed = Array.isArray(required) ? required : [];
  return html`${items && html`<p class="type">a list of</p>`}<table>${Object.entries(properties).map(
    ([name, each]) =>
      html`<tr><td><code>${name}</code>${needed.includes(name) && html`<span class="required" title="required">*</span>`}</td><td>${isNested(each, schemas) && depth + 1 < MAX_DEPTH ? html`<details><summary>${describe(each, schemas)}</summary>${renderSchema(each, schemas, depth + 1)}</details>` : describe(each, schemas)}</td></tr>`,
  )}</table>`;
}

function isNested(given: unknown, schemas: Record<string, unknown>): boolean {
  const schema = resolve(given, schemas);
  const items = isObject(schema.items) ? resolve(schema.items, schemas) : schema;
  return isObject(items.properties);
}

/** A value on one line: its type, choices, bounds and description. */
function describe(given: unknown, schemas: Record<string, unknown>, description?: string): string {
  const schema = resolve(given, schemas);
  // Patterns explain nothing to people; where one matters, the description says it.
  const bounds = ['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'default'].flatMap((name) =>
    schema[name] === undefined || isHuge(schema[name]) ? [] : [`${name} ${JSON.stringify(schema[name])}`],
  );
  // A reference may have a description of its own.
  const said = [description, isObject(given) ? given.description : undefined, schema.description].find(
    (each) => typeof each === 'string',
  );
  return [[typeOf(schema, schemas), ...bounds].join(', '), said].filter(Boolean).join('. ');
}

const isHuge = (value: unknown): boolean => typeof value === 'number' && Math.abs(value) >= Number.MAX_SAFE_INTEGER;

function typeOf(schema: Schema, schemas: Record<string, unknown>): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) return schema.enum.map((each) => JSON.stringify(each)).join(' | ');
  const union = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(union))
    return [...new Set(union.map((each) => typeOf(resolve(each, schemas), schemas)))].join(' or ');
  if (schema.type === 'array')
    return `list of ${isObject(schema.items) ? typeOf(resolve(schema.items, schemas), schemas) : 'anything'}`;
  if (Array.isArray(schema.type)) return schema.type.join(' or ');
  return typeof schema.type === 'string' ? schema.type : 'anything';
}

const REF = '#/components/schemas/';

function resolve(given: unknown, schemas: Record<string, unknown>): Schema {
  if (!isObject(given)) return {};
  const { $ref } = given;
  const found = typeof $ref === 'string' && $ref.startsWith(REF) ? schemas[$ref.slice(REF.length)] : undefined;
  return isObject(found) ? found : given;
}

const STYLE = `
:root{color-scheme:light dark;--line:#8884;--quiet:#777}
*{box-sizing:border-box}body{margin:0;font:15px/1.5 system-ui,sans-serif;display:grid;grid-template-columns:17rem minmax(0,1fr)}
nav{position:sticky;top:0;height:100vh;overflow:auto;padding:1rem;border-right:1px solid var(--line)}nav h1{font-size:1.2rem;margin:0 0 .5rem}small{color:var(--quiet);font-weight:normal}
nav ul{list-style:none;margin:0 0 .5rem;padding:0 0 0 .8rem}nav a{text-decoration:none;color:inherit}nav a:hover{text-decoration:underline}summary{cursor:pointer}nav summary{font-weight:600}
main{padding:1rem 2rem;max-width:70rem}article{border-top:1px solid var(--line);padding:.8rem 0;overflow-wrap:anywhere}h3{margin:.2rem 0}h4{margin:.8rem 0 .2rem}
table{border-collapse:collapse;width:100%}td{border-top:1px solid var(--line);padding:.25rem .6rem .25rem 0;vertical-align:top;overflow-wrap:anywhere}td:first-child{white-space:nowrap}td:nth-child(2):not(:last-child){white-space:nowrap}
pre{overflow:auto;padding:.7rem;border:1px solid var(--line);border-radius:6px}code,pre{font:13px/1.45 ui-monospace,monospace}.required{color:#c33}.type{color:var(--quiet)}
.method{font:600 12px ui-monospace,monospace;padding:.15rem .4rem;border-radius:4px;border:1px solid var(--line)}.GET{color:#2a7}.POST{color:#27c}.PUT,.PATCH{color:#b70}.DELETE{color:#c33}
@media(max-width:760px){body{display:block}nav{position:static;height:auto;max-height:40vh;border-right:0;border-bottom:1px solid var(--line)}nav details{display:inline-block;margin-right:.8rem;vertical-align:top}main{padding:1rem}td:first-child{white-space:normal}}
`;
