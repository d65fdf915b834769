import { BlockList, isIP } from 'node:net';
import { z } from 'zod';

const Labels = z.record(z.string(), z.string());
const Selector = z.strictObject({
  matchLabels: Labels.default({}),
  matchExpressions: z
    .array(z.strictObject({ key: z.string(), operator: z.literal('In'), values: z.array(z.string()) }))
    .default([]),
});
const Peer = z.strictObject({
  ipBlock: z.strictObject({ cidr: z.string(), except: z.array(z.string()).default([]) }).optional(),
  namespaceSelector: Selector.optional(),
  podSelector: Selector.optional(),
});
const Ports = z
  .array(z.strictObject({ protocol: z.enum(['TCP', 'UDP']), port: z.union([z.int(), z.string()]) }))
  .optional();
export const NetworkPolicy = z.object({
  metadata: z.looseObject({ namespace: z.string() }),
  spec: z.strictObject({
    podSelector: Selector,
    policyTypes: z.array(z.enum(['Ingress', 'Egress'])),
    ingress: z.array(z.strictObject({ from: z.array(Peer).optional(), ports: Ports })).default([]),
    egress: z.array(z.strictObject({ to: z.array(Peer).optional(), ports: Ports })).default([]),
  }),
});
export type NetworkPolicy = z.infer<typeof NetworkPolicy>;

type Peer = z.infer<typeof Peer>;
type Rule = { peers: Peer[] | undefined; ports: z.infer<typeof Ports>; namespace: string };

/** `ports` are the named ones of its container. */
export type Pod = { namespace: string; labels: Record<string, string>; ports?: Readonly<Record<string, number>> };
/** A pod, or an address outside of the cluster. */
export type Place = Pod | string;

/** What the pods of a cluster usually have. */
const ADDRESS_OF_PODS = '10.42.0.9';

/** Whether `from` may open a connection, as a network plugin that enforces the policies decides. */
export function allows(policies: readonly NetworkPolicy[], from: Place, to: Place, port: number): boolean {
  const named = typeof to === 'string' ? {} : (to.ports ?? {});
  const lets = (rules: Rule[] | null, other: Place) =>
    rules === null ||
    rules.some(
      ({ peers, ports, namespace }) =>
        (peers === undefined || peers.some((peer) => isPeer(peer, other, namespace))) &&
        (ports === undefined ||
          ports.some((one) => (typeof one.port === 'string' ? named[one.port] : one.port) === port)),
    );
  return lets(rulesFor(policies, from, 'Egress'), to) && lets(rulesFor(policies, to, 'Ingress'), from);
}

/** Null if no policy selects the place: then everything is allowed. */
function rulesFor(policies: readonly NetworkPolicy[], place: Place, direction: 'Ingress' | 'Egress'): Rule[] | null {
  if (typeof place === 'string') return null;
  const selecting = policies.filter(
    ({ metadata, spec }) =>
      metadata.namespace === place.namespace &&
      spec.policyTypes.includes(direction) &&
      selects(spec.podSelector, place.labels),
  );
  if (selecting.length === 0) return null;
  return selecting.flatMap(({ metadata: { namespace }, spec }) =>
    direction === 'Egress'
      ? spec.egress.map(({ to, ports }) => ({ peers: to, ports, namespace }))
      : spec.ingress.map(({ from, ports }) => ({ peers: from, ports, namespace })),
  );
}

function isPeer({ ipBlock, namespaceSelector, podSelector }: Peer, place: Place, namespace: string): boolean {
  if (ipBlock) {
    const address = typeof place === 'string' ? place : ADDRESS_OF_PODS;
    return isIn(address, ipBlock.cidr) && !ipBlock.except.some((cidr) => isIn(address, cidr));
  }
  if (typeof place === 'string') return false;
  const isNamespace = namespaceSelector
    ? selects(namespaceSelector, { 'kubernetes.io/metadata.name': place.namespace })
    : place.namespace === namespace;
  return isNamespace && (podSelector === undefined || selects(podSelector, place.labels));
}

const selects = ({ matchLabels, matchExpressions }: z.infer<typeof Selector>, labels: Record<string, string>) =>
  Object.entries(matchLabels).every(([name, value]) => labels[name] === value) &&
  matchExpressions.every(({ key, values }) => values.includes(labels[key] ?? ''));

function isIn(address: string, cidr: string): boolean {
  const [network = '', bits] = cidr.split('/');
  const family = isIP(network) === 6 ? 'ipv6' : 'ipv4';
  if (isIP(address) !== isIP(network)) return false;
  const block = new BlockList();
  block.addSubnet(network, Number(bits), family);
  return block.check(address, family);
}
