import { existsSync, readFileSync } from 'node:fs';
import type { Descriptor, JsonObject } from '@capstan/contracts';
import { describe, expect, it, test } from 'vitest';
import { parseAtip } from '../atip/parse-atip.js';
import { inferDanger } from './infer-danger.js';
import { cluesInWords } from './words.js';

const inputs = (...names: string[]): JsonObject => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
});

const judge = (name: string, description = '', input_schema?: JsonObject) =>
  inferDanger({}, cluesInWords({ name, description, input_schema }));

/** Tools of banks, offices, chats and shops with their descriptions, and the expected inference. */
test.each([
  ['send_money', 'Sends a transaction to the recipient.', inputs('recipient', 'amount', 'date'), 'CRITICAL', 'money'],
  ['schedule_transaction', 'Schedule a transaction.', inputs('recipient', 'amount'), 'CRITICAL', 'amount'],
  ['get_balance', 'Get the balance of the account.', inputs(), 'MED', 'nothing'],
  ['get_most_recent_transactions', 'Get the last transactions, payments included', inputs('n'), 'MED', 'nothing'],
  ['convert_currency', 'Convert an amount', inputs('amount', 'currency'), 'MED', 'nothing'],
  ['refund_order', 'Give money back', inputs('order'), 'CRITICAL', 'refund'],
  ['update_password', 'Update the user password.', inputs('password'), 'HIGH', 'update'],
  ['update_user_info', 'Update user information.', inputs('street'), 'HIGH', 'update'],
  ['remove_user_from_slack', 'Remove a user from the workspace.', inputs('user'), 'HIGH', 'remove'],
  ['invite_user_to_slack', 'Invites a user to the workspace', inputs('user'), 'HIGH', 'invite'],
  ['create_api_token', 'Create a token', inputs('name'), 'HIGH', 'token'],
  ['list_files', 'List all files in the cloud drive.', inputs(), 'MED', 'nothing'],
  ['search_files', 'Search through files in the workspace', inputs('query'), 'MED', 'nothing'],
  ['delete_file', 'Delete a file from the cloud drive.', inputs('file_id'), 'HIGH', 'delete'],
  ['share_file', 'Share a file with a user by email', inputs('file_id'), 'HIGH', 'share'],
  ['create_file', 'Create a new file in the cloud drive.', inputs('name'), 'MED', 'nothing'],
  ['create_instance', 'Create a machine in the cloud', inputs('size'), 'CRITICAL', 'cloud'],
  ['send_email', 'Send an email to a recipient', inputs('to', 'body'), 'HIGH', 'send'],
  ['get_unread_emails', 'Returns all the unread emails', inputs(), 'MED', 'nothing'],
  ['cancel_calendar_event', 'Cancels the event with the given id', inputs('event_id'), 'HIGH', 'cancel'],
  ['get_weather', 'Get the current weather at a specific location', inputs('location'), 'MED', 'nothing'],
  ['get_url_stats', 'Get detailed statistics for a shortened URL', inputs('url'), 'MED', 'nothing'],
  ['run_it', 'Run what is given', inputs('command'), 'HIGH', 'command'],
  ['query', 'Query the warehouse', inputs('sql'), 'HIGH', 'sql'],
  ['bash', '', inputs('command'), 'HIGH', 'bash'],
  ['removeUser', '', inputs('id'), 'HIGH', 'remove'],
  ['find_and_remove_user', '', inputs('id'), 'HIGH', 'remove'],
  ['create_or_update_file', 'Create or update a file', inputs('path'), 'HIGH', 'update'],
  ['get_or_create_customer', '', inputs('email'), 'MED', 'nothing'],
  ['transfer_funds', '', inputs('from', 'to'), 'CRITICAL', 'funds'],
  ['sum', 'Add amounts up', inputs('amount', 'currency'), 'MED', 'nothing'],
  ['git_checkout', 'Switches branches', inputs('branch'), 'MED', 'nothing'],
  ['checkout', 'Complete the order', inputs('cart'), 'CRITICAL', 'checkout'],
  ['get_secret_value', 'Retrieve a secret', inputs('name'), 'HIGH', 'secret'],
  ['check_password_strength', '', inputs('password'), 'MED', 'nothing'],
  ['count_tokens', 'Count the tokens of a text', inputs('text'), 'MED', 'nothing'],
  ['launch_vm', 'Launch a virtual machine', inputs('size'), 'CRITICAL', 'vm'],
  ['stop_instance', '', inputs('id'), 'HIGH', 'stop'],
  ['list_instances', 'List instances', inputs(), 'MED', 'nothing'],
  ['http_request', 'Make a request', inputs('url', 'method'), 'HIGH', 'method'],
  ['restart_service', '', inputs('name'), 'HIGH', 'restart'],
  ['user_admin', 'Removes a user', inputs('id'), 'HIGH', 'remove'],
])('%s (%s) is judged by what it does', (name, description, schema, risk, because) => {
  const { risk: judged, inferred } = judge(name, description, schema);
  expect({ name, judged }).toEqual({ name, judged: risk });
  expect(inferred.find(({ field }) => field === 'risk')?.why).toContain(because);
});

it('words about terminating a rented machine, or fetching a page, get the right tags', () => {
  expect(judge('terminate_instances').side_effects).toEqual(['cloud.resource_delete']);
  expect(judge('fetch', 'Fetches a page', inputs('url')).side_effects).toEqual(['network.http']);
});

describe('declared effects', () => {
  it('stand against a verb with several meanings', () => {
    const clues = cluesInWords({ name: 'strip', description: 'Remove the blanks at the end of each line' });
    expect(inferDanger({ risk: 'LOW', side_effects: [] }, clues)).toEqual({
      risk: 'LOW',
      side_effects: [],
      inferred: [],
    });
  });

  it('do not stand against words about payments', () => {
    const clues = cluesInWords({ name: 'send_money', description: '' });
    expect(inferDanger({ risk: 'LOW', side_effects: [] }, clues)).toMatchObject({
      risk: 'CRITICAL',
      side_effects: ['payments'],
    });
  });
});

const CORPORA = new URL('../../../../../shared/corpora/', import.meta.url);
const has = (path: string) => existsSync(new URL(path, CORPORA));
const read = (path: string): unknown => JSON.parse(readFileSync(new URL(path, CORPORA), 'utf8'));

describe.skipIf(!has('tool-calls'))('tools that models were really given', () => {
  const risks = (path: string): Record<string, string> => {
    const found: Record<string, string> = {};
    const visit = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return;
      const { name, description } = value as { name?: unknown; description?: unknown };
      if (typeof name === 'string' && typeof description === 'string') found[name] = judge(name, description).risk;
      Object.values(value).forEach(visit);
    };
    visit(read(path));
    return found;
  };

  it('hold tools that send something, and not those that only read', () => {
    expect({
      ...risks('tool-calls/openai/openai-tool-search.1.json'),
      ...risks('tool-calls/openai/openai-mcp-tool-approval.1.json'),
      ...risks('tool-calls/openai/programmatic-tool-calling.1.json'),
    }).toEqual({
      get_weather: 'MED',
      search_files: 'MED',
      send_email: 'HIGH',
      create_short_url: 'MED',
      generate_short_code: 'MED',
      get_url_stats: 'MED',
      validate_url: 'MED',
      getDemand: 'MED',
      getInventory: 'MED',
    });
  });

  it('that are complete determine the risk class', () => {
    const { descriptors } = parseAtip(read('atip/gh.json'));
    const risk = (id: string): Descriptor['risk'] | undefined =>
      descriptors.find(({ tool_id }) => tool_id === `atip:gh:${id}`)?.risk;
    expect({ list: risk('pr.list'), view: risk('pr.view'), merge: risk('pr.merge') }).toMatchObject({
      list: 'MED',
      view: 'MED',
      merge: 'HIGH',
    });
  });
});
