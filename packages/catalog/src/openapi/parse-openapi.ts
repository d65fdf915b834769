import { type Descriptor, Failure, isObject, issueText, type NewOpenApi } from '@capstan/contracts';
import { OpenApiDocument, Operation, Parameter, RequestBody, SecurityScheme } from './openapi-document.js';
import { mediaOf, type OpenApiContext, operationTool, type PlacedOperation } from './operation-tool.js';

export type OpenApiTools = {
  name: string;
  base_url: string;
  document: OpenApiDocument;
  descriptors: Descriptor[];
  warnings: string[];
};

const METHODS = ['get', 'head', 'options', 'post', 'put', 'patch', 'delete'] as const;
const MAX_OPERATIONS = 2000;

/** Converts every operation of a document to a tool of the api runner. Throws a Failure that lists every mistake with its place. */
export function parseOpenApi({ document: sent, ...options }: NewOpenApi): OpenApiTools {
  const parsed = OpenApiDocument.safeParse(sent);
  if (!parsed.success)
    throw wrong(parsed.error.issues.map((issue) => ({ field: issue.path.join('.'), message: issueText(issue) })));
  const document = parsed.data;
  const warnings: string[] = [];
  const name = options.name ?? nameOf(document.info.title);
  const base_url = options.base_url ?? serverOf(document);
  const components = isObject(sent.components) ? sent.components : {};
  const context: OpenApiContext = {
    ...{ api: name, base_url, document, auth: options.auth ?? {} },
    schemes: readAll(components.securitySchemes, (value) => SecurityScheme.safeParse(value).data),
  };
  const found = operationsOf(document, components, warnings);
  const wanted = found.filter((placed) => isWanted(placed, options));
  if (wanted.length > MAX_OPERATIONS)
    throw wrong([{ field: 'paths', message: `${wanted.length} operations; ${MAX_OPERATIONS} at most: use include` }]);
  if (wanted.length === 0 && found.length > 0)
    throw wrong([{ field: 'include', message: `none of the ${found.length} operations is included` }]);
  const descriptors = named(wanted).map((placed) => {
    const { descriptor, warnings: of } = operationTool(placed, context);
    warnings.push(...of.map((warning) => `${placed.name}: ${warning}`));
    return descriptor;
  });
  return { name, base_url, document, descriptors, warnings };
}

function operationsOf(document: OpenApiDocument, components: object, warnings: string[]): PlacedOperation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((verb) => {
      if (item[verb] === undefined) return [];
      const where = `${verb.toUpperCase()} ${path}`;
      const operation = Operation.safeParse(item[verb]);
      const placed = operation.success && place(path, verb, operation.data, item.parameters, components);
      if (typeof placed === 'object') return [placed];
      warnings.push(`${where} is left out: ${placed || 'it is no operation of OpenAPI'}`);
      return [];
    }),
  );
}

/** Returns the operation with its references resolved, or the reason why it cannot be called. */
function place(
  path: string,
  verb: string,
  operation: Operation,
  shared: unknown,
  components: object,
): PlacedOperation | string {
  const parameters = new Map<string, Parameter>();
  for (const each of [...(Array.isArray(shared) ? shared : []), ...operation.parameters]) {
    const { data } = Parameter.safeParse(follow(each, components));
    if (data === undefined) return 'a parameter of it cannot be read';
    parameters.set(`${data.in} ${data.name}`, data);
  }
  const listed = [...parameters.values()];
  if (listed.some((each) => each.in === 'cookie' && each.required)) return 'it needs a cookie';
  const body =
    operation.requestBody === undefined ? null : RequestBody.safeParse(follow(operation.requestBody, components)).data;
  if (body === undefined) return 'its body cannot be read';
  if (body?.required && mediaOf(body) === null) return `its body is ${Object.keys(body.content).join(' or ')}`;
  const method = verb.toUpperCase();
  const name = toName(operation.operationId ?? `${verb}${path}`);
  return { name, method, path, operation, parameters: listed.filter((each) => each.in !== 'cookie'), body };
}

/** Resolves a reference to a component. Other references are not resolved. */
function follow(value: unknown, components: object): unknown {
  if (!isObject(value) || typeof value.$ref !== 'string') return value;
  const [, kind = '', name = ''] = /^#\/components\/([^/]+)\/([^/]+)$/.exec(value.$ref) ?? [];
  const group: unknown = Reflect.get(components, kind);
  return isObject(group) && Object.hasOwn(group, name) ? group[name] : undefined;
}

/** Duplicate names are numbered, in the order of the document. */
const named = (operations: readonly PlacedOperation[]): PlacedOperation[] => {
  const taken = new Set<string>();
  return operations.map((placed) => {
    let { name } = placed;
    for (let n = 2; taken.has(name); n++) name = `${placed.name}_${n}`;
    taken.add(name);
    return { ...placed, name };
  });
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

const serverOf = ({ servers: [server] }: OpenApiDocument): string => {
  const url = server?.url.replaceAll(
    /\{([^{}]+)\}/g,
    (whole, name: string) => server.variables[name]?.default ?? whole,
  );
  if (url !== undefined && /^https?:\/\/[^{}]+$/.test(url) && URL.canParse(url)) return url;
  throw wrong([{ field: 'base_url', message: 'is needed: the document names no server with a whole address' }]);
};

const readAll = <T>(group: unknown, read: (value: unknown) => T | undefined): Record<string, T> =>
  Object.fromEntries(
    Object.entries(isObject(group) ? group : {}).flatMap(([name, value]) => {
      const each = read(value);
      return each === undefined ? [] : [[name, each]];
    }),
  );

const wrong = (errors: { field: string; message: string }[]): Failure =>
  new Failure('INVALID_REQUEST', {
    detail: `${errors[0]?.field || 'the document'}: ${errors[0]?.message}`,
    suggestion: 'Correct the places named in errors. The document must be OpenAPI 3.0 or 3.1.',
    context: { errors },
  });
