import type { PolicyProposal } from '@capstan/contracts';
import { visibleLine } from '@capstan/contracts/visible-text';
import { EXIT, type ExitCode } from '../exit-code.js';
import { countOf, formatCount } from '../format/count.js';
import type { Session } from '../session.js';
import { UsageError } from '../usage-error.js';
import { putPolicy } from './put-policy.js';

export type ProposeOptions = { input?: string[]; put?: boolean; yes?: boolean };

/** Shows a rule that would allow calls like a held one, and with `put` adds it to the policy. */
export const proposeRule = async (
  session: Session,
  hold_id: string,
  { input, put = false, yes }: ProposeOptions,
): Promise<ExitCode> => {
  const client = await session.client();
  const proposal = await client.policies.propose(hold_id, { inputs: input });
  if (!put) {
    if (session.json) await session.printJson(proposal);
    else await print(session, proposal);
    return EXIT.success;
  }
  if (!proposal.policy)
    throw new UsageError('only an admin can put a rule', 'Run this without --put, and send the rule to an admin.');
  if (!yes && !(session.stdin.isTTY && session.err.tty))
    throw new UsageError('cannot ask without a terminal', 'Pass --yes to confirm.');
  if (!session.json) await print(session, proposal);
  const { name, version, text } = proposal.policy;
  return putPolicy(session, name, text, { yes, if_version: version });
};

const print = async ({ out }: Session, { yaml, covers, what_if }: PolicyProposal): Promise<void> => {
  const { dim } = out.colors;
  await out.write(yaml);
  await out.line();
  const { tool_id, actor, tenant, exact, any_input, holds } = covers;
  const inputs = exact
    ? 'with exactly these inputs'
    : `with these inputs; ${any_input.join(', ')} may be anything, and others may be there`;
  await out.line(visibleLine(`It covers calls of ${tool_id} by ${actor} of ${tenant}, ${inputs}.`));
  await out.line(visibleLine(`They would no longer be held by ${holds.join(', ')}.`));
  await out.line(
    `Over the last 30 days it would have changed ${formatCount(what_if.changed)} of ${countOf(what_if.checked, 'decision')} about this tool.`,
  );
  for (const { invocation_id, was, would_be } of what_if.items)
    await out.line(dim(`  ${invocation_id}  ${was.effect} → ${would_be.effect}`));
  if (what_if.more > 0) await out.line(dim(`  … and ${formatCount(what_if.more)} more`));
};
