import { createClient, Fatal, serveTools, tool } from '@capstan/client';
import { z } from 'zod';

// Stands for your own files or rows. Every 250th is empty, and cannot be worked on.
const documents = Array.from({ length: 1000 }, (_, n) => ({
  name: `document-${n + 1}`,
  text: (n + 1) % 250 === 0 ? '' : 'lorem ipsum '.repeat((n % 50) + 1),
}));

const Count = z.object({ words: z.int() });

const count_words = tool({
  id: 'count_words',
  description: 'Count the words of a document',
  input: z.object({ name: z.string(), text: z.string() }),
  output: Count,
  risk: 'LOW',
  side_effects: [],
  effects: { idempotent: true },
  run: ({ name, text }) => {
    if (text === '') throw new Fatal(`${name} is empty`); // no retry can help
    return { words: text.trim().split(/\s+/).length };
  },
});

// Add workers on other machines to go faster: they share the pool's queue.
const worker = await serveTools({ pool: 'library', tools: [count_words], concurrency: 50 });
const capstan = createClient();

const { run_id, accepted } = await capstan.submitBulk(
  documents.map((inputs) => ({ tool_id: 'app:library:count_words', inputs })),
);
console.log(`${accepted} of ${documents.length} accepted as ${run_id}`);

for (let ended = false; !ended; ) {
  const run = await capstan.runs.wait(run_id, { timeout_s: 1 });
  console.log(`${run.completed_steps} done, ${run.failed_steps} failed, of ${run.total_steps}`);
  ended = run.finished_at !== null;
}

let words = 0;
for await (const { result } of capstan.list({ run_id, status: 'succeeded', limit: 1000 }))
  words += Count.parse(result?.payload).words;
console.log(`${words} words`);
for await (const { inputs, result } of capstan.list({ run_id, status: 'failed' }))
  console.log(`${inputs.name} failed: ${result?.error}`);

await capstan.close();
await worker.stop();
