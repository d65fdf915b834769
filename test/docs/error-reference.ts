import { listFailures } from '@capstan/contracts';

const AREAS: Record<number, string> = {
  1: 'Policy',
  2: 'Tools',
  3: 'Requests and plans',
  4: 'Replay and records',
  5: 'Storage',
  6: 'Authentication',
  7: 'Quotas',
};

/** docs/reference/errors.md, from the failures that the code declares. */
export const errorReference = (): string => {
  const failures = listFailures();
  const areas = [...new Set(failures.map(({ code }) => Math.floor(code / 1000)))];
  const table = (area: number) =>
    failures
      .filter(({ code }) => Math.floor(code / 1000) === area)
      .map(
        ({ code, kind, status, retryable, suggestion }) =>
          `| ${code} | \`${kind}\` | ${status} | ${retryable ? 'yes' : 'no'} | ${suggestion.replaceAll('|', '\\|')} |`,
      )
      .join('\n');
  return `# Errors

Every error is an [RFC 9457](https://www.rfc-editor.org/rfc/rfc9457) problem document (\`application/problem+json\`):

\`\`\`json
{
  "type": "urn:capstan:problem:unknown_tool",
  "title": "unknown tool",
  "status": 404,
  "detail": "there is no tool cap:test_math:sum",
  "code": 2001,
  "suggestion": "List the tools with capstan tools, or GET /v1/tools."
}
\`\`\`

\`detail\` says what happened, \`suggestion\` what to do about it. Depending on the error there are further members: \`errors\` for invalid fields,
\`decision\` for denials, \`invocation_id\` where the attempt is on record. Retry only what the table marks as retryable, after \`Retry-After\` where the
response has that header. A tool that fails has the same codes in \`result.code\`.

This page is generated from \`packages/contracts/src/failure.ts\`.
${areas
  .map(
    (area) =>
      `\n## ${AREAS[area]}\n\n| code | name | status | retryable | what to do |\n|---|---|---|---|---|\n${table(area)}\n`,
  )
  .join('')}`;
};
