import { type Capability, Capability as CapabilitySchema, type JsonObject, NewAgent } from '@capstan/contracts';
import { describe, expect, test } from 'vitest';
import { BUILTIN_TOOLS } from '../builtin-tools.js';
import { createCatalog } from '../create-catalog.js';
import { buildAgent, toRuntime } from './build-agent.js';
import { BUILTIN_CAPABILITIES } from './builtin-capabilities.js';
import { satisfies } from './capability-version.js';
import { checkConfig } from './check-config.js';
import { createCapabilityRegistry } from './create-capability-registry.js';
import { parseCapabilities } from './parse-capabilities.js';

const capability = (id: string, over: Partial<Capability> = {}): Capability =>
  CapabilitySchema.parse({ id, name: id, ...over });
const catalog = createCatalog(BUILTIN_TOOLS);
const agent = (over: object) => NewAgent.parse({ name: 'a', ...over });
const ids = (capabilities: Capability[]) => capabilities.map(({ id }) => id);

describe('the built-in capabilities', () => {
  test('are the nine, all available', () => {
    expect(ids(BUILTIN_CAPABILITIES).sort()).toEqual([
      'current_time',
      'noop',
      'research',
      'sandbox',
      'session_file_system',
      'stateless_todo_list',
      'test_math',
      'test_weather',
      'web_fetch',
    ]);
    for (const one of BUILTIN_CAPABILITIES) {
      expect(CapabilitySchema.parse(one)).toEqual(one);
      expect(one).toMatchObject({ status: 'available', icon: expect.any(String), category: expect.any(String) });
    }
  });

  test('have their own tools, by their own id', () => {
    for (const { id, tools } of BUILTIN_CAPABILITIES)
      for (const tool of tools) expect(tool.startsWith(`cap:${id}:`)).toBe(true);
    for (const tool of BUILTIN_CAPABILITIES.flatMap(({ tools }) => tools))
      expect(catalog.get(tool), tool).toBeDefined();
  });
});

describe('capabilities from a file', () => {
  const TEXT = `
capabilities:
  - id: notes
    name: Notes
    version: 1.2.0
    system_prompt_addition: "Write for {{config.team}}."
    tools: [cap:test_math:add, mcp:files:read_file]
    depends_on: [current_time@1]
    config_schema: { type: object, properties: { team: { type: string, default: everyone } } }
`;

  test('are read from YAML and from JSON', () => {
    const [notes] = parseCapabilities(TEXT);
    expect(notes).toMatchObject({ id: 'notes', version: '1.2.0', status: 'available', icon: null });
    expect(parseCapabilities(JSON.stringify({ capabilities: [notes] }))).toEqual([notes]);
    const registry = createCapabilityRegistry(parseCapabilities(TEXT));
    expect(ids(registry.resolve(['notes']))).toEqual(['current_time', 'notes']);
    const prompt = (config: JsonObject) =>
      buildAgent(agent({ capabilities: ['notes'], config: { notes: config } }), registry, catalog).system_prompt;
    expect(prompt({})).toBe('Write for everyone.');
    expect(prompt({ team: 'ops' })).toBe('Write for ops.');
  });

  test.each([
    ['no YAML', 'a: [', /not YAML/],
    ['a misspelt key', 'capabilities: [{ id: x, name: x, promt: y }]', /capabilities\.0\.promt is not a known field/],
    ['an id with a dash', 'capabilities: [{ id: x-y, name: x }]', /capabilities\.0\.id/],
    ['nothing', '', /the document/],
  ])('%s is refused with its place', (_, text, words) => {
    expect(() => parseCapabilities(text)).toThrow(words);
  });
});

describe('a registry', () => {
  test('lists dependencies first, each once, in the requested order', () => {
    const registry = createCapabilityRegistry([
      capability('a', { depends_on: ['c', 'b'] }),
      capability('b', { depends_on: ['c'] }),
      capability('c'),
    ]);
    expect(ids(registry.resolve(['noop', 'a', 'b']))).toEqual(['noop', 'c', 'b', 'a']);
  });

  test.each<[string, Capability[], RegExp]>([
    ['a circle', [capability('a', { depends_on: ['b'] }), capability('b', { depends_on: ['a'] })], /a → b → a/],
    ['itself', [capability('a', { depends_on: ['a'] })], /a → a/],
    ['a name that is taken', [capability('test_math')], /test_math is defined twice/],
    ['what is not there', [capability('a', { depends_on: ['curent_time'] })], /Did you mean current_time\?/],
    ['a version that is not there', [capability('a', { depends_on: ['noop@2'] })], /is version 1\.0\.0, not 2/],
    [
      'what is not ready',
      [capability('a', { depends_on: ['b'] }), capability('b', { status: 'coming_soon' })],
      /not available yet/,
    ],
  ])('refuses %s', (_, custom, words) => {
    expect(() => createCapabilityRegistry(custom)).toThrow(words);
  });

  test.each([
    ['1.2.3', 'x', true],
    ['1.2.3', 'x@1', true],
    ['1.2.3', 'x@1.2', true],
    ['1.2.3', 'x@1.3', false],
    ['1.2.3', 'x@1.2.4', false],
    ['2.0.0', 'x@1', false],
    ['1.10.0', 'x@1.9', true],
  ])('version %s for %s: %s', (version, ref, fits) => {
    expect(satisfies(version, ref)).toBe(fits);
  });
});

describe('an agent', () => {
  const registry = createCapabilityRegistry([
    capability('first', { tools: ['cap:test_math:add', 'ext:gone:tool'], system_prompt_addition: 'First.' }),
    capability('old', { status: 'deprecated', system_prompt_addition: 'Old.' }),
  ]);

  test('has the prompts of its capabilities in order, then its own', () => {
    const { system_prompt, warnings } = buildAgent(
      agent({ capabilities: ['old', 'first'], system_prompt: 'Mine.' }),
      registry,
      catalog,
    );
    expect(system_prompt).toBe('Old.\n\nFirst.\n\nMine.');
    expect(warnings).toEqual(['the capability old is deprecated']);
  });

  test('has the tools of its capabilities and its own, minus denied ones; unavailable ones are listed', () => {
    const built = buildAgent(
      agent({
        capabilities: ['first', 'test_math'],
        tools: ['cap:current_time:*', 'shell.run'],
        deny_tools: ['*:divide'],
      }),
      registry,
      catalog,
    );
    expect(built.tools.map(({ name }) => name)).toEqual([
      'add',
      'subtract',
      'multiply',
      'get_current_time',
      'shell_run',
    ]);
    expect(built.missing_tools).toEqual(['ext:gone:tool']);
    expect(toRuntime('agt_1', 'anthropic', built).names).toMatchObject({ shell_run: 'shell.run' });
  });

  test('uses its configuration as defaults of inputs with the same name, which become optional', () => {
    const config = { current_time: { timezone: 'Asia/Tokyo' } };
    const { tools } = buildAgent(agent({ capabilities: ['current_time'], config }), registry, catalog);
    expect(tools[0]?.defaults).toEqual({ timezone: 'Asia/Tokyo' });
    const built = buildAgent(
      agent({ capabilities: ['test_weather'], config: { test_weather: { unit: 'fahrenheit' } } }),
      registry,
      catalog,
    );
    expect(JSON.stringify(toRuntime('a', 'openai', built).tools)).toContain('"default":"fahrenheit"');
  });

  test('cannot configure a capability it does not have, nor values that a capability refuses', () => {
    const capabilities = registry.resolve(['current_time', 'test_math']);
    expect(() => checkConfig(capabilities, { current_time: { format: 'unix' }, test_math: {} })).not.toThrow();
    expect(() => checkConfig(capabilities, { current_time: { format: 'x' } })).toThrow(/config\.current_time\.format/);
    expect(() => checkConfig(capabilities, { test_math: { a: 1 } })).toThrow(/nothing to configure/);
    expect(() => checkConfig(capabilities, { noop: {} })).toThrow(/no such capability/);
  });
});
