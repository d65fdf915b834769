import { InvalidArgumentError } from 'commander';

/** Filters compare whole ids. A wildcard would match nothing, which looks as if there were nothing. */
export const parseToolId = (text: string): string => {
  if (text.includes('*')) throw new InvalidArgumentError('Expected the id of one tool, without wildcards.');
  return text;
};
