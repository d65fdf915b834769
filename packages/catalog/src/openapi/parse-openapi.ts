import { setImmediate as turnOfOthers } from 'node:timers/promises';
import { type Descriptor, Failure, isObject, issueText, type JsonObject, type NewOpenApi } from '@capstan/contracts';
import { type BindContext, mediaOf } from './bind-operation.js';
import { takeName } from './input-schema.js';
import {
  OpenApiDocument,
  Operation,
  Parameter,
  PathItem,
  type PlacedOperation,
  RequestBody,
  SecurityScheme,
  type Servers,
} from './openapi-document.js';
import { operationTool } from './operation-tool.js';
import { follow } from './resolve-reference.js';

export type OpenApiTools = {
  name: string;
  base_url: string;
  descriptors: Descriptor[];
  warnings: string[];
};

const METHODS = ['get', 'head', 'options', 'post', 'put', 'patch', 'delete'] as const;
const MAX_OPERATIONS = 2000;

/**
 * Converts every operation of a document to a tool of the api runner. Rejects with a Failure that lists every mistake with its place. Checking
 * a schema takes milliseconds, and a document may have a thousand: the event loop gets a turn after each.
 */
export async function parseOpenApi({ document: sent, ...options }: NewOpenApi): Promise<OpenApiTools> {
  const document = read(sent);
  const warnings: string[] = [];
  const name = options.name ?? nameOf(document.info.title);
  const base_url = options.base_url ?? addressOf(document.servers);
  if (base_url === null)
    throw wrong([{ field: 'base_url', message: 'is needed: the document names no server with a whole address' }]);
  const found = operationsOf(document, sent, { fixed: options.base_url, base_url }, warnings);
  const wanted = found.filter((placed) => isWanted(placed, options));
  if (wanted.length > MAX_OPERATIONS)
    throw wrong([{ field: 'paths', message: `${wanted.length} operations; ${MAX_OPERATIONS} at most: use include` }]);
  if (wanted.length === 0 && found.length > 0)
    throw wrong([{ field: 'include', message: `none of the ${found.length} operations is included` }]);
  const context: BindContext = { api: name, document, sent, schemes: schemesOf(sent), auth: options.auth ?? {} };
  const descriptors: Descriptor[] = [];
  for (const placed of named(wanted)) {
    try {
      const { descriptor, warnings: of } = operationTool(placed, context);
      warnings.push(...of.map((warning) => `${placed.name}: ${warning}`));
      descriptors.push(descriptor);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      warnings.push(`${placed.method} ${placed.path} is left out: its inputs cannot be checked: ${why}`);
    }
    await turnOfOthers();
  }
  return { name, base_url, descriptors, warnings };
}

function read(sent: JsonObject): OpenApiDocument {
  if (typeof sent.swagger === 'string')
    throw wrong([{ field: 'swagger', message: `this is Swagger ${sent.swagger}: convert it to OpenAPI 3 first` }]);
  const { data, error } = OpenApiDocument.safeParse(sent);
  if (data) return data;
  throw wrong(error.issues.map((issue) => ({ field: issue.path.join('.'), message: issueText(issue) })));
}

type Addresses = { fixed: string | undefined; base_url: string };

function operationsOf(
  document: OpenApiDocument,
  sent: JsonObject,
  addresses: Addresses,
  warnings: string[],
): PlacedOperation[] {
  const paths = Object.entries(document.paths).filter(([path]) => path.startsWith('/'));
  return paths.flatMap(([path, value]) => {
    const item = PathItem.safeParse(follow(sent, value));
    if (item.error) {
      warnings.push(`${path} is left out: it is no path of OpenAPI, or a reference that cannot be followed`);
      return [];
    }
    return METHODS.flatMap((verb) => {
      if (item.data[verb] === undefined) return [];
      const method = verb.toUpperCase();
      const operation = Operation.safeParse(item.data[verb]);
      const placed = operation.data
        ? place({ path, method, item: item.data, operation: operation.data }, sent, addresses)
        : 'it is no operation of OpenAPI';
      if (typeof placed === 'object') return [placed];
      warnings.push(`${method} ${path} is left out: ${placed}`);
      return [];
    });
  });
}

type Found = { path: string; method: string; item: PathItem; operation: Operation };

/** Returns the operation with its references resolved, or the reason why it cannot be called. */
function place(
  { path, method, item, operation }: Found,
  sent: JsonObject,
  { fixed, base_url }: Addresses,
): PlacedOperation | string {
  const parameters = new Map<string, Parameter>();
  for (const each of [...item.parameters, ...operation.parameters]) {
    const { data } = Parameter.safeParse(follow(sent, each));
    if (data === undefined) return 'a parameter of it cannot be read';
    parameters.set(`${data.in} ${data.name}`, data);
  }
  const listed = [...parameters.values()];
  if (listed.some((each) => each.in === 'cookie' && each.required)) return 'it needs a cookie';
  const strange = listed.find((each) => each.in === 'path' && each.style !== undefined && each.style !== 'simple');
  if (strange) return `its parameter ${strange.name} has the style ${strange.style}`;
  const body = operation.requestBody === undefined ? null : bodyOf(operation.requestBody, sent, method);
  if (typeof body === 'string') return body;
  const servers = [operation.servers, item.servers].find((each) => each !== undefined && each.length > 0);
  const own_url = fixed ?? (servers ? addressOf(servers, base_url) : base_url);
  if (own_url === null) return 'its server has no whole address';
  const name = toName(operation.operationId || `${method.toLowerCase()}${path}`);
  return { name, method, path, base_url: own_url, operation, parameters: listed, body };
}

const BODILESS = new Set(['GET', 'HEAD']);

/** Returns the body of a request, null if it has none, or the reason why it cannot be sent. */
function bodyOf(value: unknown, sent: JsonObject, method: string): RequestBody | null | string {
  const { data: body } = RequestBody.safeParse(follow(sent, value));
  if (body === undefined) return 'its body cannot be read';
  const is_sendable = mediaOf(body) !== null && !BODILESS.has(method);
  if (is_sendable) return body;
  if (!body.required) return null;
  return BODILESS.has(method)
    ? `it needs a body, which ${method} cannot have`
    : `its body is ${Object.keys(body.content).join(' or ')}`;
}

/** Duplicate names are numbered, in the order of the document. */
const named = (operations: readonly PlacedOperation[]): PlacedOperation[] => {
  const taken = new Set<string>();
  return operations.map((placed) => ({ ...placed, name: takeName(placed.name, taken) }));
};

const isWanted = (
  { name, method, path, operation }: PlacedOperation,
  { include, exclude }: Pick<NewOpenApi, 'include' | 'exclude'>,
): boolean => {
  const known = [name, `${method} ${path}`, ...operation.tags];
  const matches = (patterns: readonly string[]) => patterns.some((one) => known.some((each) => glob(one).test(each)));
  return (include === undefined || matches(include)) && !(exclude !== undefined && matches(exclude));
};

const glob = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern
      .split('*')
      .map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
      .join('.*')}$`,
    'i',
  );

const toName = (text: string): string =>
  text
    .replace(/[^A-Za-z0-9_-]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, 100) || 'operation';

const nameOf = (title: string): string => {
  const name = title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+|-+$/g, '')
    .slice(0, 64);
  if (name === '') throw wrong([{ field: 'name', message: 'is needed: the title of the document gives none' }]);
  return name;
};

/** The address of the first server that has one, with the defaults of its variables. A server may be relative to `base_url`. */
function addressOf(servers: Servers, base_url?: string): string | null {
  for (const { url, variables } of servers) {
    const filled = url.replaceAll(/\{([^{}]+)\}/g, (whole, name: string) => variables[name]?.default ?? whole);
    if (/[{}]/.test(filled) || !URL.canParse(filled, base_url)) continue;
    const { protocol, href } = new URL(filled, base_url);
    if (protocol === 'https:' || protocol === 'http:') return isAddress(filled) ? filled : href;
  }
  return null;
}

const isAddress = (text: string): boolean => /^https?:\/\//.test(text);

function schemesOf({ components }: JsonObject): Record<string, SecurityScheme> {
  const { securitySchemes } = isObject(components) ? components : {};
  return Object.fromEntries(
    Object.entries(isObject(securitySchemes) ? securitySchemes : {}).flatMap(([name, value]) => {
      const { data } = SecurityScheme.safeParse(follow({ components }, value));
      return data === undefined ? [] : [[name, data]];
    }),
  );
}

const wrong = (errors: { field: string; message: string }[]): Failure =>
  new Failure('INVALID_REQUEST', {
    detail: `${errors[0]?.field || 'the document'}: ${errors[0]?.message}`,
    suggestion: 'Correct the places named in errors. The document must be OpenAPI 3.0 or 3.1.',
    context: { errors },
  });
