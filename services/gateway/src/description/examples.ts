/** Request bodies that work on a fresh installation, by operation id. A test sends each of them. */
export const EXAMPLES: Record<string, { body: unknown }> = {
  submitInvocation: { body: { tool_id: 'cap:test_math:add', inputs: { a: 2, b: 3 }, labels: { team: 'docs' } } },
  submitInvocations: {
    body: {
      invocations: [
        { tool_id: 'cap:test_math:add', inputs: { a: 1, b: 2 } },
        { tool_id: 'cap:test_math:multiply', inputs: { a: 3, b: 4 } },
      ],
    },
  },
  submitRun: {
    body: {
      plan: {
        version: '1.0',
        name: 'two-sums',
        steps: [
          { id: 'one', tool: 'cap:test_math:add', args: { a: 1, b: 2 } },
          {
            id: 'two',
            tool: 'cap:test_math:add',
            needs: ['one'],
            // biome-ignore lint/suspicious/noTemplateCurlyInString: an expression of the plan
            args: { a: '${{ steps.one.output.result }}', b: 10 },
          },
        ],
      },
    },
  },
  explainDecision: { body: { tool_id: 'shell.run', inputs: { cmd: ['git', 'status'] } } },
  tryPolicy: {
    body: { policy: { version: '1.0', rules: [{ id: 'sums', effect: 'allow', match: { tool: 'cap:test_math:*' } }] } },
  },
  createKey: { body: { tenant: 'default', actor: 'ann', roles: ['submit', 'operate'] } },
  createAgent: { body: { name: 'Helper', system_prompt: 'Be brief.', capabilities: ['current_time', 'test_math'] } },
  createSchedule: {
    body: { name: 'every-minute', every_ms: 60_000, tool_id: 'cap:current_time:get_current_time' },
  },
  runCommand: { body: { text: '/help' } },
  submitToolCalls: {
    body: {
      provider: 'openai',
      response: {
        choices: [
          {
            message: {
              role: 'assistant',
              tool_calls: [
                { id: 'call_1', type: 'function', function: { name: 'cap_test_math_add', arguments: '{"a":2,"b":3}' } },
              ],
            },
          },
        ],
      },
    },
  },
};
