import type { Binding, JsonObject, NewOpenApi } from '@capstan/contracts';
import { describe, expect, test } from 'vitest';
import { compileSchema } from '../schema/compile-schema.js';
import { parseOpenApi } from './parse-openapi.js';

const documentOf = (over: JsonObject): JsonObject => ({
  openapi: '3.0.3',
  info: { title: 'Shop', version: '1' },
  servers: [{ url: 'https://shop.example.com/v1/' }],
  ...over,
});
const parse = (over: JsonObject, options: Partial<NewOpenApi> = {}) =>
  parseOpenApi({ document: documentOf(over), ...options });
const operation = async (path: string, method: string, what: JsonObject, over: JsonObject = {}) => {
  const { descriptors, warnings } = await parse({ paths: { [path]: { [method]: what } }, ...over });
  return { tool: descriptors[0], warnings };
};
const inputsOf = async (parameters: JsonObject[], over: JsonObject = {}) => {
  const { tool, warnings } = await operation('/pets/{id}', 'get', { parameters }, over);
  if (!tool) throw new Error(warnings.join('; '));
  return { schema: tool.input_schema, binding: tool.binding as Extract<Binding, { kind: 'request' }>, warnings };
};
const bodyOf = async (schema: JsonObject, schemas: JsonObject = {}, over: JsonObject = {}) => {
  const requestBody = { required: true, content: { 'application/json': { schema } } };
  const { tool, warnings } = await operation('/pets', 'post', { requestBody }, { components: { schemas }, ...over });
  if (!tool) throw new Error(warnings.join('; '));
  const validate = compileSchema(tool.input_schema);
  const accepts = (body: unknown) => validate(JSON.parse(JSON.stringify({ body }))).length === 0;
  return { schema: tool.input_schema, accepts, warnings };
};

describe('the inputs of an operation', () => {
  test('parameters of the same name in different places, and one named body, are inputs of their own', async () => {
    const { tool } = await operation('/pets/{id}', 'post', {
      parameters: [
        { name: 'id', in: 'path', required: true, schema: { type: 'integer' } },
        { name: 'id', in: 'query', schema: { type: 'string' } },
        { name: 'body', in: 'query', schema: { type: 'string' } },
      ],
      requestBody: { content: { 'application/json': { schema: { type: 'object' } } } },
    });
    expect(tool?.input_schema).toMatchObject({
      required: ['id'],
      properties: {
        id: { type: 'integer' },
        id_query: { type: 'string' },
        body_query: { type: 'string' },
        body: { type: 'object' },
      },
    });
    expect(tool?.binding).toMatchObject({
      url: 'https://shop.example.com/v1/pets/{{id}}',
      query: { id: '{{id_query}}', body: '{{body_query}}' },
      body: '{{body}}',
    });
  });

  test('a parameter of a path applies to its operations, unless they have their own of that name', async () => {
    const { descriptors } = await parse({
      paths: {
        '/pets/{id}': {
          parameters: [{ $ref: '#/components/parameters/Id' }],
          get: {},
          delete: { parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }] },
        },
      },
      components: {
        parameters: {
          Id: { $ref: '#/components/parameters/Number' },
          Number: { name: 'id', in: 'path', required: true, schema: { type: 'integer' } },
        },
      },
    });
    expect(descriptors.map(({ input_schema }) => input_schema.properties)).toEqual([
      { id: { type: 'integer' } },
      { id: { type: 'string' } },
    ]);
  });

  test('a part of the path that the document does not describe is a required text', async () => {
    const { schema, binding } = await inputsOf([]);
    expect(schema).toMatchObject({ properties: { id: { type: 'string' } }, required: ['id'] });
    expect(binding.url).toBe('https://shop.example.com/v1/pets/{{id}}');
  });

  test('headers that belong to the protocol or carry a secret are not inputs', async () => {
    const header = (name: string): JsonObject => ({ name, in: 'header', required: true, schema: { type: 'string' } });
    const parameters = [header('Accept'), header('authorization'), header('x-api-key'), header('X-Trace')];
    const document = documentOf({
      paths: { '/pets': { get: { parameters } } },
      security: [{ key: [] }],
      components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Api-Key' } } },
    });
    const { descriptors } = await parseOpenApi({ document, auth: { key: 'secret://shop' } });
    expect(descriptors[0]).toMatchObject({
      input_schema: { required: ['X-Trace'] },
      binding: { headers: { 'X-Trace': '{{X-Trace}}', 'X-Api-Key': 'secret://shop' } },
    });
  });

  test('lists and objects are written in the style of their parameter', async () => {
    const list = { type: 'array', items: { type: 'string' } };
    const object = { type: 'object', properties: { from: { type: 'string' } } };
    const query = (name: string, schema: JsonObject, over: JsonObject = {}) => ({ name, in: 'query', schema, ...over });
    const { binding } = await inputsOf(
      [
        { name: 'id', in: 'path', required: true, schema: list },
        query('tags', list),
        query('fields', { $ref: '#/components/schemas/Names' }, { explode: false }),
        query('words', list, { style: 'spaceDelimited' }),
        query('ids', list, { style: 'pipeDelimited', explode: false }),
        query('created', object),
        query('filter', object, { style: 'deepObject', explode: true }),
        { name: 'where', in: 'query', content: { 'application/json': { schema: list } } },
        query('page', { type: 'integer' }, { explode: false }),
      ],
      { components: { schemas: { Names: list } } },
    );
    expect(binding.styles).toEqual({
      ...{ id: 'comma', fields: 'comma', words: 'space', ids: 'pipe' },
      ...{ created: 'fields', filter: 'deep', where: 'json' },
    });
  });
});

describe('a schema', () => {
  test('may contain itself and its alternatives', async () => {
    const Node = {
      type: 'object',
      required: ['name'],
      properties: { name: { type: 'string' }, next: { $ref: '#/components/schemas/Node' } },
    };
    const Leaf = {
      allOf: [{ $ref: '#/components/schemas/Node' }, { type: 'object', properties: { color: { enum: ['red'] } } }],
    };
    const { accepts, warnings } = await bodyOf(
      { oneOf: [{ $ref: '#/components/schemas/Leaf' }, { type: 'string' }] },
      { Node, Leaf },
    );
    expect(accepts({ name: 'a', next: { name: 'b' }, color: 'red' })).toBe(true);
    expect(accepts({ name: 'a', next: {} })).toBe(false);
    expect(accepts({ name: 'a', color: 'blue' })).toBe(false);
    expect(warnings).toEqual([]);
  });

  test('has properties with any name, also those that are keywords of OpenAPI', async () => {
    const properties = {
      ...{
        example: { type: 'string' },
        nullable: { type: 'boolean' },
        xml: { type: 'string' },
        'x-tag': { type: 'string' },
      },
      ...{ minimum: { type: 'number' }, exclusiveMinimum: { type: 'boolean' }, readOnly: { type: 'boolean' } },
    };
    const { schema } = await bodyOf({ type: 'object', properties, default: { example: 'a', xml: 'b' } });
    expect(schema).toMatchObject({ properties: { body: { properties, default: { example: 'a', xml: 'b' } } } });
  });

  test('may be nullable in each way of OpenAPI 3.0', async () => {
    const { accepts, schema } = await bodyOf(
      {
        type: 'object',
        properties: {
          text: { type: 'string', nullable: true },
          color: { type: 'string', nullable: true, enum: ['red', null] },
          owner: { nullable: true, description: 'Who has it', allOf: [{ $ref: '#/components/schemas/Owner' }] },
          beside: { $ref: '#/components/schemas/Owner', nullable: true },
        },
      },
      { Owner: { type: 'object', required: ['name'] } },
    );
    expect(accepts({ text: null, color: null, owner: null, beside: null })).toBe(true);
    expect(accepts({ owner: {} })).toBe(false);
    expect(accepts({ color: 'blue' })).toBe(false);
    expect(schema).toMatchObject({ properties: { body: { properties: { owner: { description: 'Who has it' } } } } });
  });

  test('does not ask for what only responses have', async () => {
    const Id = { type: 'integer', readOnly: true };
    const { schema, accepts } = await bodyOf(
      {
        type: 'object',
        required: ['id', 'at', 'name'],
        properties: {
          id: { $ref: '#/components/schemas/Id' },
          at: { type: 'string', readOnly: true },
          name: { type: 'string' },
        },
      },
      { Id },
    );
    expect(schema.properties).toMatchObject({ body: { required: ['name'], properties: { name: { type: 'string' } } } });
    expect(schema.properties).not.toMatchObject({ body: { properties: { at: expect.anything() } } });
    expect(accepts({ name: 'a' })).toBe(true);
  });

  test('may refer to any place in the document, and a reference elsewhere accepts any value with a warning', async () => {
    const { descriptors, warnings } = await parse({
      paths: {
        '/pets': { post: { operationId: 'makePet', requestBody: { $ref: '#/components/requestBodies/Pet' } } },
        '/sizes': { get: { parameters: [{ name: 'size', in: 'query', schema: { type: 'integer' } }] } },
      },
      components: {
        requestBodies: { Pet: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } } } },
        schemas: {
          Pet: {
            type: 'object',
            properties: {
              color: { enum: ['red'] },
              eyes: { $ref: '#/components/schemas/Pet/properties/color', description: 'Of the eyes' },
              size: { $ref: '#/paths/~1sizes/get/parameters/0/schema' },
              toys: { $ref: 'toys.yaml#/Toy' },
            },
          },
        },
      },
    });
    expect(warnings).toEqual(['makePet: toys.yaml#/Toy cannot be followed: any value is accepted there']);
    const validate = compileSchema(descriptors[0]?.input_schema ?? {});
    expect(validate({ body: { eyes: 'red', size: 4, toys: 'any' } })).toEqual([]);
    expect(validate({ body: { eyes: 'blue', size: 'large' } }).map(({ path }) => path.at(-1))).toEqual([
      'eyes',
      'size',
    ]);
  });
});

describe('a document', () => {
  test('may have extensions, references and servers wherever OpenAPI allows them', async () => {
    const { descriptors, warnings } = await parse({
      paths: {
        'x-owner': 'team pets',
        '/pets': { $ref: '#/components/pathItems/Pets' },
        '/files': { servers: [{ url: 'https://files.example.com' }], get: { operationId: 'listFiles' } },
        '/lost': { $ref: '#/components/pathItems/Lost' },
        '/relative': { servers: [], get: { operationId: 'relative', servers: [{ url: '/v2' }] } },
        '/open': { get: { servers: [{ url: 'https://{region}.example.com' }] } },
      },
      components: { pathItems: { Pets: { summary: 'Pets', get: { operationId: 'listPets' } } } },
    });
    expect(descriptors.map(({ name, binding }) => [name, 'url' in binding && binding.url])).toEqual([
      ['listPets', 'https://shop.example.com/v1/pets'],
      ['listFiles', 'https://files.example.com/files'],
      ['relative', 'https://shop.example.com/v2/relative'],
    ]);
    expect(warnings).toEqual([
      '/lost is left out: it is no path of OpenAPI, or a reference that cannot be followed',
      'GET /open is left out: its server has no whole address',
    ]);
  });

  test('may have operations that cannot be called: they are left out, each with its reason', async () => {
    const { descriptors, warnings } = await parse({
      paths: {
        '/upload': { post: { requestBody: { required: true, content: { 'multipart/form-data': {} } } } },
        '/search': { get: { requestBody: { required: true, content: { 'application/json': {} } } } },
        '/matrix/{at}': { get: { parameters: [{ name: 'at', in: 'path', required: true, style: 'matrix' }] } },
        '/cookie': { get: { parameters: [{ name: 'sid', in: 'cookie', required: true }] } },
        '/broken': { get: { parameters: [{ name: 'n', in: 'query', schema: { type: 'nmber' } }] } },
        '/well': { get: { operationId: 'well', requestBody: { content: { 'application/json': {} } } } },
      },
    });
    expect(descriptors.map(({ name }) => name)).toEqual(['well']);
    expect(warnings).toEqual([
      'POST /upload is left out: its body is multipart/form-data',
      'GET /search is left out: it needs a body, which GET cannot have',
      'GET /matrix/{at} is left out: its parameter at has the style matrix',
      'GET /cookie is left out: it needs a cookie',
      expect.stringMatching(/^GET \/broken is left out: its inputs cannot be checked: /),
    ]);
  });

  test('of Swagger 2.0 is refused by that name', async () => {
    const document = { swagger: '2.0', info: { title: 'Old', version: '1' }, paths: {} };
    await expect(parseOpenApi({ document })).rejects.toThrow(
      'swagger: this is Swagger 2.0: convert it to OpenAPI 3 first',
    );
  });

  test('needs the address of its server, or one that is given', async () => {
    const document = documentOf({ servers: [{ url: '/api/v3' }] });
    await expect(parseOpenApi({ document })).rejects.toThrow('base_url: is needed');
    expect((await parseOpenApi({ document, base_url: 'https://a.example.com/v3' })).base_url).toBe(
      'https://a.example.com/v3',
    );
  });
});

describe('the security of an operation', () => {
  const securitySchemes = {
    token: { type: 'http', scheme: 'Bearer' },
    login: { type: 'http', scheme: 'basic' },
    key: { type: 'apiKey', in: 'header', name: 'X-Key' },
    asked: { type: 'apiKey', in: 'query', name: 'key' },
    digest: { type: 'http', scheme: 'digest' },
    oauth: { type: 'oauth2', flows: {} },
  };
  const auth = { '*': 'secret://all', key: 'secret://key' };
  const headersFor = async (security: JsonObject[], given: Record<string, string> = auth) => {
    const document = documentOf({
      paths: { '/a': { get: { operationId: 'a', security } } },
      components: { securitySchemes },
    });
    const { descriptors, warnings } = await parseOpenApi({ document, auth: given });
    const [descriptor] = descriptors;
    return { headers: descriptor && 'headers' in descriptor.binding ? descriptor.binding.headers : null, warnings };
  };

  test.each([
    ['bearer', [{ token: [] }], { Authorization: 'Bearer secret://all' }],
    ['basic', [{ login: [] }], { Authorization: 'Basic secret://all' }],
    ['OAuth 2', [{ oauth: ['read'] }], { Authorization: 'Bearer secret://all' }],
    ['two at once', [{ token: [], key: [] }], { Authorization: 'Bearer secret://all', 'X-Key': 'secret://key' }],
    ['the first alternative that can be met', [{ asked: [] }, { key: [] }], { 'X-Key': 'secret://key' }],
    ['none if it is optional and there is no secret', [{ token: [] }, {}], null],
  ])('%s is sent in headers', async (name, security, headers) => {
    const given: Record<string, string> = name.startsWith('none') ? {} : auth;
    expect(await headersFor(security, given)).toEqual({ headers, warnings: [] });
  });

  test.each([
    ['a: it is called without authentication: asked (a key in the query is not supported)', [{ asked: [] }]],
    ['a: it is called without authentication: digest (digest is not supported)', [{ digest: [] }]],
    ['a: it is called without authentication: other (the document does not define it)', [{ other: [] }]],
  ])('is warned about if it cannot be met: %s', async (warning, security) => {
    expect(await headersFor(security)).toEqual({ headers: null, warnings: [warning] });
  });
});
