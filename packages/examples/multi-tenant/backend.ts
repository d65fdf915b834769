import { createServer, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { CapstanError, type Client, createClient } from '@capstan/client';
import { z } from 'zod';
import { addTenant } from './tenants.js';

const { CAPSTAN_URL = 'http://127.0.0.1:7070', PORT = '8080' } = process.env;

const admin = createClient();
const tenants = new Map([
  ['acme', await addTenant(admin, CAPSTAN_URL, 'acme', 'free')],
  ['globex', await addTenant(admin, CAPSTAN_URL, 'globex', 'pro')],
]);
await admin.close();

const Task = z.object({ tool_id: z.string(), inputs: z.record(z.string(), z.json()) });

/** POST / runs a tool for the tenant; GET /<invocation_id> shows one of the tenant's calls, and 404 for any other. */
async function answer(request: IncomingMessage, capstan: Client) {
  if (request.method === 'GET') return capstan.get(request.url?.slice(1) ?? '');
  return capstan.submit(Task.parse(await json(request)), { wait_s: 20 });
}

const server = createServer(async (request, response) => {
  const send = (status: number, body: object) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  // Stands for your own sign-in. A request acts with the key of its tenant, whatever else it says.
  const capstan = tenants.get(String(request.headers['x-tenant']));
  if (!capstan) return send(401, { error: 'sign in first' });
  try {
    send(200, await answer(request, capstan));
  } catch (error) {
    if (error instanceof CapstanError) {
      if (error.retry_after_s !== null) response.setHeader('retry-after', error.retry_after_s);
      send(error.status, { error: error.detail, suggestion: error.suggestion });
    } else if (error instanceof z.ZodError || error instanceof SyntaxError) {
      send(400, { error: error.message });
    } else {
      console.error(error);
      send(500, { error: 'something went wrong' });
    }
  }
});

server.listen(Number(PORT), '127.0.0.1', () => console.log(`listening on port ${Object(server.address()).port}`));
