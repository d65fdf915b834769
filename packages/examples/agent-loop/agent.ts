import { createClient, Held } from '@capstan/client';

type ToolCall = { id: string; function: { name: string; arguments: string } };
type Answer = { role: 'assistant'; content: string | null; tool_calls?: ToolCall[] };
type Message =
  | Answer
  | { role: 'system' | 'user'; content: string }
  | { role: 'tool'; tool_call_id: string; content: string };

const { MODEL_URL = 'https://api.openai.com/v1', MODEL = 'gpt-5-mini', OPENAI_API_KEY = '' } = process.env;
const MAX_TURNS = 10;

const capstan = createClient();
const tools = await capstan.tools({ match: 'app:shop:*' });
const messages: Message[] = [
  { role: 'system', content: 'You serve the customers of a shop. Look at an order before you pay money back.' },
  { role: 'user', content: process.argv[2] ?? 'The teapot of order A-17 arrived broken. I want my money back.' },
];

for (let turn = 0; turn < MAX_TURNS; turn++) {
  const answer = await askModel();
  messages.push(answer);
  if (!answer.tool_calls?.length) {
    console.log(answer.content);
    break;
  }
  for (const call of answer.tool_calls)
    messages.push({ role: 'tool', tool_call_id: call.id, content: await answerTo(call) });
}
await capstan.close();

async function askModel(): Promise<Answer> {
  const response = await fetch(`${MODEL_URL}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${OPENAI_API_KEY}` },
    body: JSON.stringify({
      model: MODEL,
      messages,
      tools: tools.map(({ name, description, input_schema }) => ({
        type: 'function',
        function: { name, description, parameters: input_schema },
      })),
    }),
  });
  if (!response.ok) throw new Error(`the model answered ${response.status}: ${await response.text()}`);
  const { choices } = (await response.json()) as { choices: [{ message: Answer }] };
  return choices[0].message;
}

/** The payload, or the error in words, so that the model can correct itself or tell the customer. */
async function answerTo({ id, function: { name, arguments: text } }: ToolCall): Promise<string> {
  const tool = tools.find((one) => one.name === name);
  if (!tool) return `Error: there is no tool ${name}`;
  console.log(`${name} ${text}`);
  try {
    const inputs: unknown = JSON.parse(text);
    // The model's id of the call as idempotency key: however often it is sent, it runs once.
    const payload = await tool.call(inputs, { idempotency_key: id }).catch((error: unknown) => {
      if (!(error instanceof Held)) throw error;
      console.log(`held for a person: capstan release ${error.hold_id}`);
      return tool.call(inputs, { idempotency_key: id, wait_while_held: true, wait_s: 3600 });
    });
    return JSON.stringify(payload);
  } catch (error) {
    return `Error: ${error instanceof Error ? error.message : error}`;
  }
}
