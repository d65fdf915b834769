import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { z } from 'zod';
import { atEnd } from '../fixtures/at-end.js';

const Value = z.object({ stringValue: z.string() }).or(z.looseObject({}));
const Attributes = z.array(z.object({ key: z.string(), value: Value })).default([]);
const Span = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  kind: z.number(),
  startTimeUnixNano: z.string(),
  attributes: Attributes,
  events: z.array(z.object({ name: z.string(), attributes: Attributes })).default([]),
  links: z.array(z.object({ traceId: z.string(), spanId: z.string() })).default([]),
});
/** The JSON body of OTLP over HTTP. */
const Export = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: Attributes }),
      scopeSpans: z.array(z.object({ spans: z.array(Span) })),
    }),
  ),
});
export type CollectedSpan = z.infer<typeof Span> & { service: string };

const KINDS = ['', 'internal', 'server', 'client', 'producer', 'consumer'];

/** An OTLP receiver that records what it is sent. */
export async function startTraceCollector() {
  const spans: CollectedSpan[] = [];
  const server = createServer(async (request, response) => {
    for (const { resource, scopeSpans } of Export.parse(await json(request)).resourceSpans) {
      const service = textOf(resource.attributes, 'service.name') ?? '';
      for (const scope of scopeSpans) spans.push(...scope.spans.map((span) => ({ ...span, service })));
    }
    response.setHeader('content-type', 'application/json').end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    /** The environment that makes services send it every span at once. */
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '20',
    },
    spans,
    of: (trace_id: string) => spans.filter(({ traceId }) => traceId === trace_id),
  };
}

export const textOf = (attributes: z.infer<typeof Attributes>, key: string): string | undefined => {
  const value = attributes.find((attribute) => attribute.key === key)?.value;
  return typeof value?.stringValue === 'string' ? value.stringValue : undefined;
};

/** Traces as trees, with spans in the order of their start. Spans whose parents are elsewhere are roots. */
export function drawTrace(spans: readonly CollectedSpan[]): string {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const sorted = spans.toSorted((a, b) => Number(BigInt(a.startTimeUnixNano) - BigInt(b.startTimeUnixNano)));
  const childrenOf = (parent: string | null) =>
    sorted.filter(({ parentSpanId = '' }) => (parent === null ? !ids.has(parentSpanId) : parentSpanId === parent));
  const draw = (span: CollectedSpan, indent: string, isLast: boolean | null): string[] => {
    const below = indent + (isLast === null ? '' : isLast ? '   ' : '│  ');
    const children = childrenOf(span.spanId);
    const bar = children.length > 0 ? '│' : ' ';
    const head = `${indent}${isLast === null ? '' : isLast ? '└─ ' : '├─ '}${span.name}`;
    const error = textOf(span.attributes, 'error.type');
    const facts = [
      ...span.links.map(({ spanId }) => `linked to ${spans.find((one) => one.spanId === spanId)?.name ?? 'elsewhere'}`),
      ...(error === undefined ? [] : [`error ${error}`]),
    ];
    return [
      `${head.padEnd(40)}${span.service.padEnd(18)}${(KINDS[span.kind] ?? '').padEnd(10)}${facts.join(', ')}`.trimEnd(),
      ...span.events.map(({ name }) => `${below}${bar}  · ${name}`),
      ...children.flatMap((child, at) => draw(child, below, at === children.length - 1)),
    ];
  };
  return childrenOf(null)
    .map((root) => draw(root, '', null).join('\n'))
    .join('\n\n');
}
