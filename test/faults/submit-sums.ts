import { CapstanError, type Client, UnreachableError } from '@capstan/client';

export interface Sums {
  /** How many go as one bulk, and how many alone, all at the same time. */
  bulk: number;
  lone: number;
  max_attempts?: number;
}

export interface Submitted {
  /** What was answered with 202. */
  accepted: string[];
  /** What was answered with 503, or not at all. */
  refused: (CapstanError | UnreachableError)[];
}

let next = 0;

/** Additions, no two of them the same. */
export async function submitSums(client: Client, { bulk, lone, max_attempts = 20 }: Sums): Promise<Submitted> {
  const sum = () => ({ tool_id: 'cap:test_math:add', inputs: { a: next++, b: 1 }, max_attempts });
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
