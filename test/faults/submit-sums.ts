import { CapstanError, type Client, UnreachableError } from '@capstan/client';

export interface Sums {
  /** How many are sent as one bulk, and how many alone, all at the same time. */
  bulk: number;
  lone: number;
}

export interface Submitted {
  /** The calls that were accepted. */
  accepted: string[];
  /** The errors of submissions that were answered with 503, or not at all. */
  refused: (CapstanError | UnreachableError)[];
}

let next = 0;

/** Enough for the workers that a test kills, and for those that seem lost on a busy machine. */
const MAX_ATTEMPTS = 20;

/** Submits additions, no two of which are the same. */
export async function submitSums(client: Client, { bulk, lone }: Sums): Promise<Submitted> {
  const sum = () => ({ tool_id: 'cap:test_math:add', inputs: { a: next++, b: 1 }, max_attempts: MAX_ATTEMPTS });
  const asBulk = async () => {
    const { items } = await client.submitBulk(Array.from({ length: bulk }, sum));
    return items.flatMap(({ invocation_id }) => invocation_id ?? []);
  };
  const alone = async () => [(await client.submit(sum())).invocation_id];
  const answers = await Promise.allSettled([...(bulk > 0 ? [asBulk()] : []), ...Array.from({ length: lone }, alone)]);
  const submitted: Submitted = { accepted: [], refused: [] };
  for (const answer of answers) {
    if (answer.status === 'fulfilled') submitted.accepted.push(...answer.value);
    else submitted.refused.push(asRefusal(answer.reason));
  }
  return submitted;
}

function asRefusal(reason: unknown): CapstanError | UnreachableError {
  if (reason instanceof UnreachableError || (reason instanceof CapstanError && reason.status === 503)) return reason;
  throw reason;
}
