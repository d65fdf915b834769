import { canMove, InvocationStatus, isTerminal } from '@capstan/contracts';

const MEANING: Record<InvocationStatus, string> = {
  denied: 'Policy or a quota said no. The denial and its reasons are on record.',
  held: 'Waits for people to approve it.',
  deferred: 'Waits for its time or for a quota to have room.',
  queued: 'Waits for a worker.',
  running: 'A worker has a receipt for it.',
  succeeded: 'The tool ran and answered.',
  failed: 'The tool failed, or its attempts are used up.',
  timed_out: 'The tool did not end before its deadline.',
  canceled: 'Somebody canceled it.',
  ambiguous: 'The outcome is unknown: a person resolves it or runs it again.',
  rejected: 'Somebody rejected the hold.',
  expired: 'Nobody decided or took it in time.',
};

/** docs/internals/states.md, from the table of legal moves. */
export const stateReference = (): string => {
  const rows = InvocationStatus.options.map((from) => {
    const next = InvocationStatus.options.filter((to) => canMove(from, to)).map((to) => `\`${to}\``);
    return `| \`${from}\` | ${MEANING[from]} | ${isTerminal(from) ? 'yes' : ''} | ${next.join(', ')} |`;
  });
  return `# States

\`\`\`text
            ┌────────────▶ denied                      ┌─▶ succeeded
 submitted ─┼─▶ held ──────┬─▶ rejected · expired      ├─▶ failed        (attempts used up)
            ├─▶ deferred ──┤                           ├─▶ timed_out
            └─▶ queued ◀───┘ ──▶ running ──────────────┼─▶ canceled
                  ▲                │                   └─▶ ambiguous     (a person resolves or redrives it)
                  └── retry ◀──────┘
\`\`\`

| state | meaning | terminal | next |
|---|---|---|---|
${rows.join('\n')}

\`running → queued\` is a retry, a hand-back by a worker that stops, or the rescue of idempotent work. \`running → held\` is an approval that no longer fits what would run. A terminal state goes back to \`queued\` (or \`deferred\`, if a
quota is full) only when a person redrives it. The store refuses every other move: each statement names in its WHERE clause the states it moves from. How states are stored is in [the ledger](ledger.md).

This page is generated from \`packages/contracts/src/status.ts\`.
`;
};
