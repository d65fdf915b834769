import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { BackboneEnv } from '@capstan/backbone';
import { RUNNER_QUEUES } from '@capstan/contracts';
import { CoordinatorEnv } from '@capstan/coordinator';
import { GatewayEnv } from '@capstan/gateway';
import { WorkerEnv } from '@capstan/worker';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { findRepository } from '../fixtures/find-repository.js';
import { spawnCapstan } from '../fixtures/spawn-capstan.js';

const repository = findRepository();
const inRepository = (path: string) => fileURLToPath(new URL(path, repository));
const read = (path: string) => readFileSync(inRepository(path), 'utf8');

const Service = z.object({
  image: z.string().optional(),
  build: z.object({ context: z.string(), dockerfile: z.string() }).optional(),
  command: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.union([z.string(), z.number()])).default({}),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).default({}),
  healthcheck: z
    .union([z.looseObject({ test: z.array(z.string()) }), z.object({ disable: z.literal(true) })])
    .optional(),
  volumes: z.array(z.string()).default([]),
  ports: z.array(z.string()).default([]),
  init: z.boolean().optional(),
  restart: z.string().optional(),
  stop_grace_period: z.string().optional(),
});
type Service = z.infer<typeof Service>;
const ComposeFile = z.object({ services: z.record(z.string(), Service), volumes: z.record(z.string(), z.null()) });

const Scraping = z.object({
  scrape_configs: z.tuple([
    z.looseObject({ dns_sd_configs: z.tuple([z.looseObject({ names: z.array(z.string()), port: z.int() })]) }),
  ]),
});

const { services, volumes } = ComposeFile.parse(parse(read('docker-compose.yml'), { merge: true }));
const every = Object.entries(services).map(([name, service]) => ({ name, ...service }));
const ours = every.filter(({ image }) => image === 'capstan');
const service = (name: string) => services[name] ?? expect.fail(`docker-compose.yml has no service ${name}`);

const SECRETS: Record<string, string> = {
  CAPSTAN_API_KEY: 'a-key-of-the-tests',
  POSTGRES_PASSWORD: 'a-password-of-the-tests',
};
/** The environment as compose passes it: `${NAME:-value}` and `${NAME:?message}` are filled in, and empty values are left out. */
const environmentOf = ({ environment }: Service): Record<string, string> =>
  Object.fromEntries(
    Object.entries(environment)
      .map(([name, value]) => [
        name,
        String(value).replace(/\$\{(\w+)(?::-([^}]*)|:\?[^}]*)\}/g, (_, variable, value) => value ?? SECRETS[variable]),
      ])
      .filter(([, value]) => value !== ''),
  );

/** The environment that each command reads. */
const ENVIRONMENTS = { migrate: BackboneEnv, gateway: GatewayEnv, coordinator: CoordinatorEnv, worker: WorkerEnv };
const schemaOf = ({ command = [] }: Service) => {
  const name = z.enum(['migrate', 'gateway', 'coordinator', 'worker']).parse(command[0]);
  return ENVIRONMENTS[name];
};

/** Settings that compose passes to no service, and why. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  CAPSTAN_ARTIFACTS_DIR: 'a folder that all services would have to share; S3 does that job',
  CAPSTAN_SECRETS_FILE: 'a file, which has to be mounted',
  CAPSTAN_REDACT_PATTERNS_FILE: 'a file, which has to be mounted',
  CAPSTAN_MCP_FILE: 'a file, which has to be mounted',
  CAPSTAN_CAPABILITIES_FILE: 'a file, which has to be mounted',
  CAPSTAN_WORKSPACE: 'a folder, which has to be mounted',
  CAPSTAN_WORK_DIR: 'the image has one',
  CAPSTAN_CONSOLE_DIR: 'the image has it',
  CAPSTAN_TOOL_UIDS: 'for workers that run as root',
  CAPSTAN_METRICS: 'metrics have their own port',
  PORT: 'CAPSTAN_PORT is set instead',
  CAPSTAN_BODY_MS: 'a limit that only tests change',
  CAPSTAN_READ_MS: 'a limit that only tests change',
  CAPSTAN_SWEEP_MS: 'a unit that only tests change',
  CAPSTAN_WEDGE_MS: 'a limit that only tests change',
};
/** Also leaves out settings that only another service uses. */
const isLeftOut = ({ name, command = [] }: Service & { name: string }, variable: string): boolean =>
  variable in LEFT_OUT ||
  (name === 'migrate' && variable !== 'DATABASE_URL') ||
  (command[0] === 'worker' && variable === 'CAPSTAN_API_KEY') ||
  (name !== 'worker-analyze' && variable.startsWith('CAPSTAN_LLM_'));

describe('every service', () => {
  test.each(every)('$name has an image or is built, and depends only on services that exist', (one) => {
    expect(one.image ?? one.build).toBeDefined();
    for (const [name, { condition }] of Object.entries(one.depends_on)) {
      if (condition === 'service_healthy') expect(service(name).healthcheck).toHaveProperty('test');
      else expect([name, condition]).toEqual(['migrate', 'service_completed_successfully']);
    }
  });

  test.each(every)('$name keeps its data in volumes that are declared', (one) => {
    for (const mount of one.volumes) expect(Object.keys(volumes)).toContain(mount.split(':')[0]);
  });
});

describe('redis', () => {
  const options = (service('redis').command ?? []).join(' ');

  test('keeps an append-only file on a volume and drops nothing when memory runs short', () => {
    expect(options).toContain('--appendonly yes');
    expect(options).toContain('--maxmemory-policy noeviction');
    expect(service('redis').volumes).toEqual(['redis:/data']);
  });
});

test('postgres keeps its data in the folder that its image version uses', () => {
  const version = Number(/^postgres:(\d+)/.exec(service('postgres').image ?? '')?.[1]);
  expect(version).toBeGreaterThanOrEqual(16);
  expect(service('postgres').volumes).toEqual([`postgres:/var/lib/postgresql${version < 18 ? '/data' : ''}`]);
});

describe('a service of Capstan', () => {
  test('is the gateway, the coordinator, the migration, or one worker of each runner type', () => {
    const workers = RUNNER_QUEUES.map((runner) => ['worker', '--runner', runner]);
    const commands = ours.map(({ command }) => command);
    expect(commands).toHaveLength(workers.length + 3);
    expect(commands).toEqual(expect.arrayContaining([['migrate'], ['gateway'], ['coordinator'], ...workers]));
  });

  test.each(ours)('$name sets only settings that it reads, to valid values', (one) => {
    const schema = schemaOf(one);
    // OpenTelemetry has its own settings, and there may be any number of connections.
    const own = Object.keys(one.environment).filter((name) => !/^(OTEL_|CAPSTAN_DB_)/.test(name));
    expect(Object.keys(schema.shape)).toEqual(expect.arrayContaining(own));
    expect(schema.safeParse(environmentOf(one)).error).toBeUndefined();
  });

  test.each(['migrate', 'gateway', 'coordinator', 'worker-exec'])('%s runs a known capstan command', async (name) => {
    const capstan = await spawnCapstan([...(service(name).command ?? []), '--help']);
    expect(await capstan.exited).toEqual({ code: 0, signal: null });
  });

  test.each(ours)('$name has a stop_grace_period longer than a worker takes to stop', (one) => {
    const seconds = Number(/^(\d+)s$/.exec(one.stop_grace_period ?? '')?.[1]);
    const { CAPSTAN_DRAIN_MS } = WorkerEnv.parse(environmentOf(service('worker-exec')));
    // After the drain: 10 s for tools to stop, and 10 s for their results.
    expect(seconds * 1000).toBeGreaterThan(CAPSTAN_DRAIN_MS + 20_000);
  });

  test.each(ours)('$name has an init process, and is restarted unless it runs only once', (one) => {
    expect(one.init).toBe(true);
    expect(one.restart).toBe(one.name === 'migrate' ? 'no' : 'unless-stopped');
  });

  test('that stays up has a healthcheck on its metrics port', () => {
    for (const { name, healthcheck, environment } of ours.filter((one) => one.name !== 'migrate')) {
      const asked = healthcheck && 'test' in healthcheck ? healthcheck.test.join(' ') : '';
      expect(asked, name).toContain(`http://127.0.0.1:${environment.CAPSTAN_METRICS_PORT}/healthz`);
    }
  });

  test('that stays up is scraped by the Prometheus configuration for compose', () => {
    const { dns_sd_configs } = Scraping.parse(parse(read('infra/prometheus/compose.yaml'))).scrape_configs[0];
    const [{ names, port }] = dns_sd_configs;
    const scraped = ours.filter(({ name }) => name !== 'migrate');
    expect(names.toSorted()).toEqual(scraped.map(({ name }) => name).sort());
    for (const { name, environment } of scraped) expect(environment.CAPSTAN_METRICS_PORT, name).toBe(port);
  });

  test.each(ours)('$name gets every setting that it reads, except for those left out for a reason', (one) => {
    const missing = Object.keys(schemaOf(one).shape).filter((name) => !(name in one.environment));
    expect(missing.filter((name) => !isLeftOut(one, name))).toEqual([]);
  });

  test('that runs db tools has a connection', () => {
    expect(Object.keys(service('worker-db').environment)).toContain('CAPSTAN_DB_MAIN');
  });

  test('has the admin key only if it is the gateway, which does not start without one', () => {
    const holders = ours.filter(({ environment }) => 'CAPSTAN_API_KEY' in environment).map(({ name }) => name);
    expect(holders).toEqual(['gateway']);
    expect(service('gateway').environment.CAPSTAN_API_KEY).toMatch(/^\$\{CAPSTAN_API_KEY:\?.+\}$/);
  });

  test('is reachable only if it is the gateway, and only from this machine', () => {
    const { CAPSTAN_PORT, CAPSTAN_HOST } = GatewayEnv.parse(environmentOf(service('gateway')));
    expect(CAPSTAN_HOST).toBe('0.0.0.0');
    expect(service('gateway').ports).toEqual([`127.0.0.1:7070:${CAPSTAN_PORT}`]);
    expect(every.filter(({ ports }) => ports.length > 0)).toHaveLength(1);
  });

  test('uses the image of one build', () => {
    expect(ours.filter(({ build }) => build).map(({ name }) => name)).toEqual(['migrate']);
  });
});

describe('the Dockerfile', () => {
  const { build } = service('migrate');
  const lines = read(build?.dockerfile ?? '')
    .replaceAll(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'));
  const of = (instruction: string) =>
    lines.flatMap((line, at) =>
      line.startsWith(`${instruction} `) ? [{ at, rest: line.slice(instruction.length + 1) }] : [],
    );
  const stages = of('FROM').map(({ at, rest }) => ({
    at,
    name: / AS (\S+)$/.exec(rest)?.[1],
    from: rest.split(' ')[0],
  }));
  const stageBefore = (at: number, name: string | undefined) =>
    stages.some((stage) => stage.at < at && stage.name === name);
  const last = stages.at(-1) ?? expect.fail('no stage');
  const copies = of('COPY').map(({ at, rest }) => {
    const words = rest.split(' ');
    return {
      at,
      from: /--from=(\S+)/.exec(rest)?.[1],
      sources: words.filter((word) => !word.startsWith('--')).slice(0, -1),
    };
  });

  test('builds on Node and on its own earlier stages', () => {
    for (const { at, from } of stages) expect(/^node:2[24]-slim$/.test(from ?? '') || stageBefore(at, from)).toBe(true);
  });

  test('copies only from earlier stages and from files that exist', () => {
    for (const { at, from, sources } of copies) {
      expect(sources.length).toBeGreaterThan(0);
      if (from !== undefined) expect(stageBefore(at, from)).toBe(true);
      else for (const source of sources) expect(existsSync(inRepository(source))).toBe(true);
    }
  });

  test('installs the packed package and its dependencies, and copies nothing else from the repository', () => {
    expect(copies.filter(({ at }) => at > last.at).map(({ from }) => from)).toEqual(['install']);
    const install = stages.find(({ name }) => name === 'install') ?? expect.fail('no stage named install');
    expect(copies.filter(({ at }) => at > install.at && at < last.at).map(({ from }) => from)).toEqual(['pack']);
    expect(of('RUN').find(({ at }) => at > install.at)?.rest).toMatch(/^npm install .*\/packed\/capstan-\*\.tgz/);
    expect(of('RUN').some(({ rest }) => rest.includes('npm pack --workspace=capstan'))).toBe(true);
  });

  test('starts the capstan command as a user other than root, with a sandbox for exec installed', () => {
    const [entrypoint] = of('ENTRYPOINT');
    const [node, ...rest] = z.array(z.string()).parse(JSON.parse(entrypoint?.rest ?? '[]'));
    const file = rest.find((argument) => !argument.startsWith('--'));
    expect(node).toBe('node');
    // In the workspace the package is a link; in the image it is installed.
    expect(file).toBe('node_modules/capstan/bin/capstan.js');
    expect(existsSync(inRepository(file ?? 'nothing'))).toBe(true);
    expect(of('USER')).toEqual([{ at: expect.any(Number), rest: 'node' }]);
    expect(lines.slice(last.at).join('\n')).toMatch(/apt-get install .*bubblewrap/);
  });

  test('gets every file it needs past .dockerignore, and no secret', () => {
    const workspaces = ['packages', 'services'].flatMap((folder) =>
      readdirSync(inRepository(folder)).map((name) => `${folder}/${name}/package.json`),
    );
    const needed = [
      ...workspaces,
      'test/package.json',
      'package-lock.json',
      'turbo.json',
      'tsconfig.base.json',
      'packages/cli/bin/capstan.js',
    ];
    expect(needed.filter(isIgnored)).toEqual([]);
    const kept_out = [
      '.env',
      '.git',
      '.capstan',
      'node_modules',
      'packages/cli/dist',
      'packages/cli/bundle',
      'services/worker/node_modules',
    ];
    expect(kept_out.filter((path) => !isIgnored(path))).toEqual([]);
  });
});

/** As in Docker, the last matching rule decides: `**` matches any folders, `*` anything within one, and `!` makes an exception. */
function isIgnored(path: string): boolean {
  const rules = read('.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  return rules.reduce((ignored, rule) => {
    const pattern = rule
      .replace(/^!/, '')
      .replaceAll(/[.+^$()|[\]{}]/g, '\\$&')
      .replaceAll(/\*\*\/|\*\*|\*/g, (stars) => ({ '**/': '(?:.*/)?', '**': '.*' })[stars] ?? '[^/]*');
    return new RegExp(`^${pattern}(?:/.*)?$`).test(path) ? !rule.startsWith('!') : ignored;
  }, false);
}

const compose = spawnSync('docker', ['compose', 'version'], { stdio: 'ignore' });
const hasCompose = compose.error === undefined && compose.status === 0;
if (!hasCompose) console.warn('\n  !! NOT TESTED: what `docker compose config` says, because it is not installed.\n');

describe.runIf(hasCompose)('docker compose', () => {
  const config = (env: Record<string, string>) =>
    spawnSync('docker', ['compose', 'config', '--quiet'], {
      cwd: inRepository('.'),
      env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...env },
      encoding: 'utf8',
    });

  test('accepts the file', () => {
    expect(config(SECRETS)).toMatchObject({ status: 0, stderr: '' });
  });

  test('refuses to start without an admin key', () => {
    const { status, stderr } = config({ ...SECRETS, CAPSTAN_API_KEY: '' });
    expect(status).not.toBe(0);
    expect(stderr).toContain('CAPSTAN_API_KEY');
  });
});
