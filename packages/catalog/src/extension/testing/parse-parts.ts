import { type Descriptor, Failure, type JsonObject } from '@capstan/contracts';
import { parseExtension } from '../parse-extension.js';

export const manifest = (over: JsonObject = {}): JsonObject => ({
  id: 'text.tools',
  name: 'Text tools',
  version: '1.0.0',
  description: 'Small text tools',
  capabilities: [{ type: 'slash_command', name: '/text', description: 'Text' }],
  permissions_required: ['exec'],
  ...over,
});

export const withActions = (...actions: JsonObject[]): JsonObject => ({ slash_commands: [{ name: '/text', actions }] });

export const parse = (commands: unknown, over: JsonObject = {}, tools?: Map<string, Uint8Array>) =>
  parseExtension({ manifest: manifest(over), commands, tools }, () => undefined);

export const only = (action: JsonObject, over: JsonObject = {}): Descriptor => {
  const [descriptor] = parse(withActions({ id: 'go', runner: 'exec.go', ...action }), over).descriptors;
  if (!descriptor) throw new Error('no tool');
  return descriptor;
};

export const errorsOf = (act: () => unknown): unknown => {
  try {
    act();
  } catch (error) {
    if (error instanceof Failure) return error.context.errors;
    throw error;
  }
  return [];
};
