import type { JsonObject } from '@capstan/contracts';
import type { ToolFailure } from '../../runner.js';
import { invalid } from '../refused.js';
import type { Program } from './program.js';

/** How to run each language: the program on the worker, and the name of the file with the code. */
const LANGUAGES = {
  // Node detects by itself whether it is a module.
  javascript: { file: 'node', name: 'main.js' },
  python: { file: 'python3', name: 'main.py' },
  shell: { file: 'sh', name: 'main.sh' },
} as const;

const isLanguage = (language: unknown): language is keyof typeof LANGUAGES =>
  typeof language === 'string' && Object.hasOwn(LANGUAGES, language);

export const parseExecuteCodeInputs = (inputs: JsonObject): Program | ToolFailure => {
  const { code, language = 'javascript', stdin, ...unknown } = inputs;
  const [name] = Object.keys(unknown);
  if (name !== undefined) return invalid(`execute_code takes code, language and stdin, not "${name}"`);
  if (typeof code !== 'string' || code === '') return invalid('code must be a string that is not empty');
  if (!isLanguage(language)) return invalid('language must be javascript, python or shell');
  if (stdin !== undefined && typeof stdin !== 'string') return invalid('stdin must be a string');
  const { file, name: main } = LANGUAGES[language];
  return {
    file,
    args: [main],
    chosen_by: 'nobody',
    literal: 1,
    stdin,
    env: {},
    tty: false,
    output: 'text',
    writes: true,
    network: false,
    declared_env: [],
    tools_hash: null,
    extension_id: null,
    files: { [main]: code },
  };
};
