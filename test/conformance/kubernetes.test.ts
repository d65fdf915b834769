import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { CoordinatorEnv } from '@capstan/coordinator';
import { GatewayEnv } from '@capstan/gateway';
import { WorkerEnv } from '@capstan/worker';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { findProgram } from '../fixtures/find-program.js';
import { findRepository } from '../fixtures/find-repository.js';

const inRepository = (path: string) => fileURLToPath(new URL(path, findRepository()));
const kubectl = findProgram('kubectl', 'the Kubernetes manifests');

const Labels = z.record(z.string(), z.string());
const Variable = z.object({ name: z.string(), value: z.string().optional() });
const Container = z.looseObject({
  image: z.string(),
  args: z.array(z.string()),
  env: z.array(Variable).default([]),
  securityContext: z.looseObject({}),
  livenessProbe: z.looseObject({ httpGet: z.object({ path: z.string(), port: z.string() }) }).optional(),
  readinessProbe: z.looseObject({ httpGet: z.object({ path: z.string(), port: z.string() }) }).optional(),
  ports: z.array(z.object({ name: z.string(), containerPort: z.int() })).default([]),
  resources: z.object({ requests: Labels, limits: Labels }),
});
const Pod = z.object({
  metadata: z.object({ labels: Labels }),
  spec: z.looseObject({ containers: z.tuple([Container]), hostUsers: z.boolean().optional() }),
});
const Resource = z.looseObject({
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
});
const Selected = z.looseObject({
  spec: z.looseObject({ replicas: z.int().optional(), selector: z.object({ matchLabels: Labels }), template: Pod }),
});
type Resource = z.infer<typeof Resource>;
const Service = z.looseObject({ spec: z.looseObject({ ports: z.array(z.looseObject({})) }) });
const Monitor = z.looseObject({ spec: z.looseObject({ podMetricsEndpoints: z.array(z.looseObject({})) }) });
const Selector = z.object({
  matchLabels: Labels.default({}),
  matchExpressions: z
    .array(z.object({ key: z.string(), operator: z.literal('In'), values: z.array(z.string()) }))
    .default([]),
});
const Policy = z.looseObject({
  spec: z.looseObject({
    podSelector: Selector,
    egress: z
      .array(
        z.looseObject({
          ports: z.array(z.looseObject({ port: z.union([z.int(), z.string()]) })).default([]),
        }),
      )
      .default([]),
  }),
});

/** The runner types that have workers, as the compose file starts them. */
const runners = Object.keys(parse(readFileSync(inRepository('docker-compose.yml'), 'utf8'), { merge: true }).services)
  .filter((name) => name.startsWith('worker-'))
  .map((name) => name.slice('worker-'.length));

const matches = (selector: Record<string, string>, labels: Record<string, string>): boolean =>
  Object.entries(selector).every(([name, value]) => labels[name] === value);

/** Whether a policy selects pods of Capstan with these labels, whatever other labels they have. */
const selects = (
  { matchLabels, matchExpressions }: z.infer<typeof Selector>,
  labels: Record<string, string>,
): boolean =>
  matches(matchLabels, { 'app.kubernetes.io/name': 'capstan', ...labels }) &&
  matchExpressions.every(({ key, values }) => values.includes(labels[key] ?? ''));

describe.runIf(kubectl).each(['try', 'production'])('the overlay %s', (overlay) => {
  const resources: Resource[] =
    kubectl === undefined
      ? []
      : parseAllDocuments(
          execFileSync(kubectl, ['kustomize', inRepository(`infra/kubernetes/overlays/${overlay}`)], {
            encoding: 'utf8',
          }),
        ).map((document) => Resource.parse(document.toJS()));
  const ofKind = (kind: string) => resources.filter((resource) => resource.kind === kind);
  const ours = ofKind('Deployment')
    .filter(({ metadata }) => metadata.name !== 'redis')
    .map((resource) => {
      const { spec } = Selected.parse(resource);
      const { spec: pod, metadata } = spec.template;
      return {
        name: resource.metadata.name,
        replicas: spec.replicas,
        selector: spec.selector.matchLabels,
        labels: metadata.labels,
        pod,
        container: pod.containers[0],
      };
    });

  test('has a gateway, a coordinator and a worker for each runner type', () => {
    expect(ours.map(({ name }) => name).sort()).toEqual(
      ['coordinator', 'gateway', ...runners.map((runner) => `worker-${runner}`)].sort(),
    );
    for (const { name, container } of ours.filter(({ name }) => name.startsWith('worker-')))
      expect(container.env).toContainEqual({ name: 'RUNNER', value: name.slice('worker-'.length) });
  });

  test('has Deployments, Services and PodDisruptionBudgets that each select exactly their own pods', () => {
    const selectors = [
      ...ours.map(({ name, selector }) => ({ name, selector })),
      ...ofKind('PodDisruptionBudget').map((resource) => ({
        name: resource.metadata.name,
        selector: z
          .looseObject({ spec: z.looseObject({ selector: z.object({ matchLabels: Labels }) }) })
          .parse(resource).spec.selector.matchLabels,
      })),
      ...ofKind('Service')
        .filter(({ metadata }) => metadata.name === 'gateway')
        .map((resource) => ({
          name: resource.metadata.name,
          selector: z.looseObject({ spec: z.looseObject({ selector: Labels }) }).parse(resource).spec.selector,
        })),
    ];
    expect(ofKind('PodDisruptionBudget')).toHaveLength(ours.length);
    for (const { name, selector } of selectors)
      expect(ours.filter(({ labels }) => matches(selector, labels)).map((one) => one.name)).toEqual([name]);
  });

  test('gives every container probes, limits and as few rights as possible', () => {
    for (const { name, pod, container } of ours) {
      const ports = container.ports.map((port) => port.name);
      for (const [probe, path] of [
        [container.livenessProbe, '/healthz'],
        [container.readinessProbe, '/readyz'],
      ] as const) {
        expect(probe?.httpGet.path, name).toBe(path);
        expect(ports, name).toContain(probe?.httpGet.port);
      }
      expect(container.resources.limits.memory, name).toBeTruthy();
      expect(pod).toMatchObject({ automountServiceAccountToken: false, securityContext: { runAsNonRoot: true } });
      expect(container.securityContext).toMatchObject({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      // The sandbox needs user namespaces, which the container defaults forbid.
      const has_sandbox = ['worker-exec', 'worker-mcp', 'worker-browser'].includes(name);
      expect(pod.hostUsers === false, name).toBe(has_sandbox);
      expect(container.securityContext.procMount === 'Unmasked', name).toBe(has_sandbox);
    }
  });

  test('sets only settings that the services read, and gives them enough time to stop', () => {
    const schemas = { gateway: GatewayEnv, coordinator: CoordinatorEnv, worker: WorkerEnv };
    const seconds = z.looseObject({ terminationGracePeriodSeconds: z.int() });
    for (const { container, pod } of ours) {
      const service = z.enum(['gateway', 'coordinator', 'worker']).parse(container.args[0]);
      const known = new Set(Object.keys(schemas[service].shape));
      const set = container.env.filter(({ name, value }) => name !== 'RUNNER' && value !== '');
      expect(set.filter(({ name }) => !known.has(name))).toEqual([]);
      const ms = (name: string) => Number(container.env.find((variable) => variable.name === name)?.value ?? 0);
      const needed_ms = ms('CAPSTAN_SHUTDOWN_DELAY_MS') + ms('CAPSTAN_DRAIN_MS') + (service === 'worker' ? 20_000 : 0);
      expect(seconds.parse(pod).terminationGracePeriodSeconds * 1000).toBeGreaterThanOrEqual(needed_ms);
      if (service === 'gateway') continue;
      expect(container.env).toContainEqual({ name: 'CAPSTAN_API_KEY', value: '' });
      if (service === 'coordinator') continue;
      // All services read one Secret, but tools must not run next to what only others need of it.
      const secrets = Object.keys({ ...GatewayEnv.shape, ...CoordinatorEnv.shape }).filter(
        (name) => /KEY|SECRET|SMTP/.test(name) && !(name in WorkerEnv.shape),
      );
      expect(secrets.length).toBeGreaterThan(2);
      for (const name of secrets) expect(container.env).toContainEqual({ name, value: '' });
    }
  });

  test('listens on the ports that probes, Services and monitors name', () => {
    for (const { name, container } of ours) {
      const variableOf = (variable: string) => container.env.find((one) => one.name === variable)?.value;
      const listens = {
        metrics: Number(variableOf('CAPSTAN_METRICS_PORT')),
        ...(name === 'gateway' ? { http: Number(variableOf('CAPSTAN_PORT')) } : {}),
      };
      const ports = container.ports.map((port) => [port.name, port.containerPort]);
      expect(Object.fromEntries(ports), name).toEqual(listens);
      expect(variableOf('CAPSTAN_METRICS_HOST'), name).toBe('0.0.0.0');
      if (name === 'gateway') expect(variableOf('CAPSTAN_HOST')).toBe('0.0.0.0');
    }
    const gateway = Service.parse(ofKind('Service').find(({ metadata }) => metadata.name === 'gateway'));
    expect(gateway.spec.ports).toEqual([{ name: 'http', port: 7070, targetPort: 'http' }]);
    for (const monitor of ofKind('PodMonitor'))
      expect(Monitor.parse(monitor).spec.podMetricsEndpoints).toMatchObject([{ port: 'metrics' }]);
  });

  test('has only settings in its ConfigMap and Secret that a service reads', () => {
    const known = new Set(
      [GatewayEnv, CoordinatorEnv, WorkerEnv].flatMap((schema) => Object.keys(schema.shape)).concat('CAPSTAN_API_KEY'),
    );
    const settings = ['ConfigMap', 'Secret']
      .flatMap(ofKind)
      .filter(({ metadata }) => /^capstan(-[a-z0-9]{10})?$/.test(metadata.name))
      .flatMap((resource) => Object.keys(Labels.parse(resource.data)));
    expect(settings).toContain('CAPSTAN_LOG_LEVEL');
    // The Secret of the `try` overlay is also read by Postgres.
    expect(settings.filter((name) => !known.has(name) && name !== 'POSTGRES_PASSWORD')).toEqual([]);
  });

  test('lets services send mail and traces, neither of which uses HTTPS', () => {
    const openTo = (component: string) =>
      ofKind('NetworkPolicy')
        .map((resource) => Policy.parse(resource).spec)
        .filter(({ podSelector }) => selects(podSelector, { 'app.kubernetes.io/component': component }))
        .flatMap(({ egress }) => egress.flatMap(({ ports }) => ports.map(({ port }) => port)));
    expect(openTo('coordinator')).toEqual(expect.arrayContaining([465, 587]));
    for (const component of ['gateway', 'coordinator', 'worker']) expect(openTo(component)).toContain(4318);
  });

  test('denies network traffic by default, and opens the internet only to workers whose tools need it', () => {
    const names = ofKind('NetworkPolicy').map(({ metadata }) => metadata.name);
    expect(names).toContain('default-deny');
    const outbound = Object.fromEntries(ours.map(({ name, labels }) => [name, labels['capstan.dev/outbound']]));
    expect(outbound).toMatchObject({ 'worker-builtin': 'none', 'worker-file': 'none', 'worker-api': 'internet' });
    expect(outbound.gateway).toBeUndefined();
  });

  test.runIf(overlay === 'production')('scales each runner type from zero by the /scale endpoint of its queue', () => {
    const scaled = ofKind('ScaledObject').map((resource) =>
      z
        .looseObject({
          spec: z.looseObject({
            scaleTargetRef: z.object({ name: z.string() }),
            minReplicaCount: z.int(),
            triggers: z.tuple([z.looseObject({ metadata: z.looseObject({ url: z.string() }) })]),
          }),
        })
        .parse(resource),
    );
    expect(scaled.map(({ spec }) => spec.scaleTargetRef.name).sort()).toEqual(
      runners.map((runner) => `worker-${runner}`).sort(),
    );
    for (const { spec } of scaled) {
      expect(spec.minReplicaCount).toBe(0);
      const runner = spec.scaleTargetRef.name.slice('worker-'.length);
      expect(spec.triggers[0].metadata.url).toBe(`http://gateway.capstan:7070/v1/queues/${runner}/scale`);
    }
    // The autoscaler sets the number of replicas.
    expect(ours.filter(({ name, replicas }) => name.startsWith('worker-') && replicas !== undefined)).toEqual([]);
  });
});

describe('alerts', () => {
  const read = (path: string) => parse(readFileSync(inRepository(path), 'utf8'));
  const Alerts = z.object({
    groups: z.tuple([
      z.object({
        rules: z.array(
          z.looseObject({
            alert: z.string(),
            annotations: z.object({ summary: z.string(), runbook: z.string().min(20) }),
          }),
        ),
      }),
    ]),
  });
  const { rules } = Alerts.parse(read('infra/prometheus/alerts.yaml')).groups[0];

  test('each have a runbook, and are the same for the Prometheus operator', () => {
    expect(rules.length).toBeGreaterThan(10);
    expect(read('infra/kubernetes/components/prometheus/rules.yaml').spec).toEqual(
      read('infra/prometheus/alerts.yaml'),
    );
  });

  test('each use documented metrics, and name commands and pages that exist', () => {
    const text = readFileSync(inRepository('infra/prometheus/alerts.yaml'), 'utf8');
    const metrics = readFileSync(inRepository('docs/reference/metrics.md'), 'utf8');
    const commands = readFileSync(inRepository('docs/reference/cli.md'), 'utf8');
    const names = [...text.matchAll(/\bcapstan_\w+?(?=_bucket\b|\b)/g)].map(([name]) => name);
    expect(names.filter((name) => !metrics.includes(`| \`${name}\` |`))).toEqual([]);
    const named = [...text.matchAll(/\bcapstan ((?:webhook|queues) \w+|[a-z]+)/g)].map(([, command]) => command);
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((command) => !commands.includes(`### capstan ${command}\n`))).toEqual([]);
    for (const [path] of text.matchAll(/docs\/[\w/.-]+\.md/g)) readFileSync(inRepository(path));
  });

  test('each have a test that makes them fire', () => {
    const tested = read('infra/prometheus/alerts.test.yaml').tests.map(({ name }: { name: string }) => name);
    expect(rules.map(({ alert }) => alert).filter((alert) => !tested.includes(alert))).toEqual([]);
  });

  const promtool = findProgram('promtool', 'the Prometheus alerts');
  test.runIf(promtool).each(['prometheus.yaml', 'compose.yaml'])('are loaded by infra/prometheus/%s', (name) => {
    if (promtool === undefined) return;
    const said = execFileSync(promtool, ['check', 'config', inRepository(`infra/prometheus/${name}`)], {
      encoding: 'utf8',
    });
    expect(said).toContain(`${rules.length} rules found`);
  });

  test.runIf(promtool)('fire in the situations they are for, and not otherwise', () => {
    if (promtool === undefined) return;
    const said = execFileSync(promtool, ['test', 'rules', inRepository('infra/prometheus/alerts.test.yaml')], {
      encoding: 'utf8',
    });
    expect(said).toContain('SUCCESS');
  });
});
