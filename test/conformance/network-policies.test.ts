import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { findProgram } from '../fixtures/find-program.js';
import { findRepository } from '../fixtures/find-repository.js';
import { allows, NetworkPolicy, type Place, type Pod } from './allows.js';

const kubectl = findProgram('kubectl', 'what the network policies for Kubernetes allow');
const Resource = z.looseObject({ kind: z.string(), metadata: z.looseObject({ name: z.string() }) });
const Template = z.object({
  metadata: z.object({ labels: z.record(z.string(), z.string()) }),
  spec: z.object({
    containers: z.tuple([
      z.object({ ports: z.array(z.object({ name: z.string(), containerPort: z.int() })).default([]) }),
    ]),
  }),
});
const Workload = z.object({ spec: z.object({ template: Template }) });

/** In the overlay `try`, which also has a Postgres and a Redis. `production` has the same policies for the services. */
function renderTry(program: string) {
  const folder = fileURLToPath(new URL('infra/kubernetes/overlays/try', findRepository()));
  const resources = parseAllDocuments(execFileSync(program, ['kustomize', folder], { encoding: 'utf8' })).map(
    (document) => Resource.parse(document.toJS()),
  );
  const policies = resources.filter(({ kind }) => kind === 'NetworkPolicy').map((one) => NetworkPolicy.parse(one));
  const pods = new Map<string, Pod>();
  for (const resource of resources.filter(({ kind }) => ['Deployment', 'StatefulSet', 'Job'].includes(kind))) {
    const { metadata, spec } = Workload.parse(resource).spec.template;
    const ports = Object.fromEntries(spec.containers[0].ports.map(({ name, containerPort }) => [name, containerPort]));
    pods.set(resource.metadata.name, { namespace: 'capstan', labels: metadata.labels, ports });
  }
  return { policies, pods };
}

const INTERNET = '203.0.113.10';
const PRIVATE = '10.1.2.3';
const METADATA = '169.254.169.254';
const inNamespace = (namespace: string, labels: Record<string, string> = {}): Pod => ({ namespace, labels });
const OTHERS: Readonly<Record<string, Place>> = {
  internet: INTERNET,
  'internet over IPv6': '2001:db8::1',
  'private network': PRIVATE,
  'cloud metadata': METADATA,
  DNS: inNamespace('kube-system', { 'k8s-app': 'kube-dns' }),
  collector: inNamespace('observability'),
  Prometheus: inNamespace('monitoring'),
  KEDA: inNamespace('keda'),
  stranger: inNamespace('default'),
};
const SERVICES = ['gateway', 'coordinator'];
const WORKERS = ['analyze', 'api', 'browser', 'builtin', 'db', 'exec', 'file', 'mcp'].map(
  (runner) => `worker-${runner}`,
);
const OPEN = ['analyze', 'api', 'browser', 'exec', 'mcp'].map((runner) => `worker-${runner}`);
const CLOSED = ['builtin', 'db', 'file'].map((runner) => `worker-${runner}`);

type Connection = [from: string[], to: string[], port: number];
const NEEDED: Connection[] = [
  [[...SERVICES, ...WORKERS, 'migrate'], ['DNS'], 53],
  [[...SERVICES, ...WORKERS, 'migrate'], ['postgres'], 5432],
  [[...SERVICES, ...WORKERS], ['redis'], 6379],
  // Managed ones.
  [[...SERVICES, ...WORKERS, 'migrate'], ['private network', 'internet'], 5432],
  [[...SERVICES, ...WORKERS], ['collector'], 4318],
  [['KEDA', 'stranger', 'internet'], ['gateway'], 7070],
  [['Prometheus'], [...SERVICES, ...WORKERS], 9464],
  [SERVICES, ['internet', 'private network'], 443],
  [['coordinator'], ['internet', 'private network'], 465],
  [['coordinator'], ['internet', 'private network'], 587],
  [OPEN, ['internet', 'internet over IPv6'], 443],
  [OPEN, ['internet'], 8080],
];
const CLOSED_TO: Connection[] = [
  [CLOSED, ['internet', 'internet over IPv6', 'private network', 'cloud metadata'], 443],
  [OPEN, ['private network', 'cloud metadata', 'stranger'], 443],
  [OPEN, ['cloud metadata', 'stranger'], 80],
  [WORKERS, ['gateway'], 7070],
  [[...SERVICES, ...WORKERS], WORKERS, 9464],
  [['stranger', 'KEDA', 'internet'], [...SERVICES, ...WORKERS], 9464],
  [['stranger', 'internet', 'Prometheus'], ['postgres'], 5432],
  [['stranger', 'internet', 'Prometheus'], ['redis'], 6379],
  [['postgres', 'redis'], ['internet', 'DNS', 'gateway'], 443],
  [CLOSED, ['internet'], 587],
];

describe.runIf(kubectl)('the network policies', () => {
  const { policies, pods } =
    kubectl === undefined ? { policies: [], pods: new Map<string, Pod>() } : renderTry(kubectl);
  const placeOf = (name: string) => pods.get(name) ?? OTHERS[name] ?? expect.fail(`there is no ${name}`);
  const each = (connections: Connection[]) =>
    connections.flatMap(([from, to, port]) => from.flatMap((one) => to.map((other) => ({ one, other, port }))));

  test('let every part of Capstan reach what it needs, and be reached', () => {
    const closed = each(NEEDED).filter(({ one, other, port }) => !allows(policies, placeOf(one), placeOf(other), port));
    expect(closed).toEqual([]);
  });

  test('keep everything else apart: tools from the cluster, and the cluster from workers and stores', () => {
    const open = each(CLOSED_TO).filter(({ one, other, port }) => allows(policies, placeOf(one), placeOf(other), port));
    expect(open).toEqual([]);
  });
});
