import { tools as capstanTools } from '@capstan/client/langchain';
import { Command, MemorySaver } from '@langchain/langgraph';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { ChatOpenAI } from '@langchain/openai';

const config = { configurable: { thread_id: 'one' } };

export const turn = async ({ capstan, model_url, options }, state) => {
  const tools = await capstanTools(capstan, options);
  const llm = new ChatOpenAI({ model: 'stand-in', apiKey: 'none', configuration: { baseURL: model_url } });
  const checkpointer = restored(state);
  const agent = createReactAgent({ llm, tools, checkpointer });
  const input =
    state === null ? { messages: [{ role: 'user', content: 'What is 2 and 3?' }] } : new Command({ resume: true });
  const { messages, __interrupt__: interrupts } = await agent.invoke(input, config);
  return interrupts ? { state: saved(checkpointer), held: [interrupts[0].value] } : { text: messages.at(-1).content };
};

/** LangGraph's in-memory checkpoints, carried from one process to the next as a file; a database does this in production. */
const saved = ({ storage, writes }) =>
  JSON.stringify({ storage, writes }, (_, value) =>
    value instanceof Uint8Array ? { bytes: Buffer.from(value).toString('base64') } : value,
  );
const restored = (state) => {
  const revive = (_, value) => {
    if (value?.type === 'Buffer') return new Uint8Array(Buffer.from(value.data));
    return value?.bytes === undefined ? value : new Uint8Array(Buffer.from(value.bytes, 'base64'));
  };
  return Object.assign(new MemorySaver(), state === null ? {} : JSON.parse(state, revive));
};
