/** docs/reference/traces.md, around the traces of a call and its retry that were recorded by a test. */
export const traceReference = (tree: string): string => `# Traces

Capstan sends [OpenTelemetry](https://opentelemetry.io) traces if \`OTEL_EXPORTER_OTLP_ENDPOINT\` is set; see
[telemetry](../guides/operating.md#traces). A test recorded these traces of a call to an HTTP tool that was busy at first. The caller waited for the result:

\`\`\`text
${tree}
\`\`\`

The first span is a child of the \`traceparent\` that the caller sent. The HTTP tool gets \`execute_tool\` as its \`traceparent\`; an MCP
server finds it in \`_meta\`, and a worker of your own in the field \`traceparent\` of its claim.

| span | service | conventions | attributes |
|---|---|---|---|
| \`<method> <route>\` | gateway | [HTTP](https://opentelemetry.io/docs/specs/semconv/http/http-spans/) | \`http.route\`, \`http.response.status_code\`, \`capstan.request_id\`, \`capstan.tenant\` |
| \`send <runner>\` | gateway; coordinator, for plans and schedules | [messaging](https://opentelemetry.io/docs/specs/semconv/messaging/messaging-spans/) | \`messaging.message.id\` is the invocation; a bulk has one span with \`messaging.batch.message_count\` |
| \`fire schedule\` | coordinator | | \`capstan.schedule_id\`, \`capstan.schedule_name\` |
| \`process <runner>\` | worker; gateway, for workers of pools | messaging | \`capstan.attempt\`, \`capstan.outcome\` |
| \`execute_tool <tool>\` | the same | [generative AI](https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/) | \`gen_ai.tool.name\`, \`gen_ai.tool.call.id\`; with \`CAPSTAN_TRACE_CONTENT=true\` also \`gen_ai.tool.call.arguments\` and \`gen_ai.tool.call.result\`, redacted |
| \`settle <runner>\` | the same | messaging | \`capstan.status\` |

A retry has its own trace, the second one above, with a link to \`send\`, because hours may pass between attempts. A failed span has \`error.type\`.

| event | on | |
|---|---|---|
| \`policy.decision\` | \`send\`, \`process\` | effect, reason and code; policy runs twice |
| \`hold\`, \`hold.approved\` | \`send\`, \`process\` | it waits for a person; the approval was used |
| \`deferred\` | \`send\` | it waits for a time or a quota |
| \`wait\` | \`process\`, the request | from the submission to the first attempt, except for steps of plans; for how long the caller waited |

Calls of a plan's steps are sent by the coordinator, in the trace of the request that submitted the plan. Each start of a schedule is a trace of its
own: \`fire schedule\`, with what it started below it.
`;
