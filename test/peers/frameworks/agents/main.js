import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createClient } from '@capstan/client';

/**
 * One turn of an agent in a process of its own: `node main.js <framework>`. It ends with a text, or interrupted, with what the next
 * process needs in the file STATE.
 */
const { CAPSTAN_URL, CAPSTAN_API_KEY, MODEL_URL, HELD, STATE } = process.env;
const capstan = createClient({ url: CAPSTAN_URL, key: CAPSTAN_API_KEY });
const { turn } = await import(`./${process.argv[2]}.js`);
const state = existsSync(STATE) ? readFileSync(STATE, 'utf8') : null;
const options = { match: 'cap:test_math:*', held: HELD, wait_s: 30, session_id: 'ses_frameworks' };
const outcome = await turn({ capstan, model_url: MODEL_URL, options, folder: `${STATE}.d` }, state);
if ('text' in outcome) console.log(`text ${JSON.stringify(outcome.text)}`);
else {
  writeFileSync(STATE, outcome.state);
  console.log(`interrupted ${JSON.stringify(outcome.held ?? null)}`);
}
await capstan.close();
process.exit(0);
