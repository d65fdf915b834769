import { InvalidArgumentError } from 'commander';

/** `team=search`, as often as needed. */
export const parseLabel = (text: string, before: Record<string, string> = {}): Record<string, string> => {
  const equals = text.indexOf('=');
  if (equals < 1) throw new InvalidArgumentError('Expected key=value, like team=search.');
  return { ...before, [text.slice(0, equals)]: text.slice(equals + 1) };
};

/** For a search: `team=search`, or the name alone. The gateway writes the pair with a colon. */
export const parseLabelQuery = (text: string, before: string[] = []): string[] => {
  if (text === '' || text.startsWith('='))
    throw new InvalidArgumentError('Expected key=value like team=search, or a key like team.');
  return [...before, text.replace('=', ':')];
};
