/** A small extension that brings its own executable. */
export const greeter = (version: string, greeting: string) => ({
  manifest: { id: 'demo.greeter', name: 'Greeter', version, description: 'Greets', permissions_required: ['exec'] },
  commands: {
    slash_commands: [
      {
        name: '/greet',
        summary: 'Greet somebody',
        actions: [
          {
            id: 'hello',
            description: 'Say hello',
            runner: 'exec.greeter_cli',
            argv: ['{{who}}'],
            risk: 'LOW',
            side_effects: [],
          },
        ],
      },
    ],
  },
  usage: '# Greeter',
  tools: { greeter: Buffer.from(`#!/bin/sh\necho "${greeting}, $1"\n`).toString('base64') },
});
